"""Meter the bytes of event lines: what the runtime writes of standard output into the trail's log group."""

from __future__ import annotations

from typing import Final

from cost_model.meters.log_ingestion import by_class

EVENT_INGESTION: Final = by_class(
    "event_ingestion",
    "Event line ingestion",
    lambda scenario: scenario.event_gb,
    assumes=lambda _: ("event lines on standard output are charged at the log rate",),
)
