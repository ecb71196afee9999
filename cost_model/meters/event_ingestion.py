"""Meter the bytes of event lines: what the runtime writes of standard output into the trail's log group."""

from __future__ import annotations

from typing import Final

from cost_model.deployment import LogClass
from cost_model.meters.meter import Meter


def _ingestion(log_class: LogClass, price: str) -> Meter:
    return Meter(
        key="event_ingestion",
        label="Event line ingestion",
        price=price,
        quantity=lambda scenario: scenario.event_gb,
        applies=lambda scenario: scenario.deployment.log_class is log_class,
        assumes=lambda _: ("event lines on standard output are charged at the log rate",),
    )


EVENT_INGESTION: Final = (
    _ingestion(LogClass.STANDARD, "log_ingestion"),
    _ingestion(LogClass.INFREQUENT_ACCESS, "log_ingestion_infrequent_access"),
)
