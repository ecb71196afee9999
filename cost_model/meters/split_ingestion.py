"""Meter the content that split telemetry takes out of spans: log records of the same group, charged as logs."""

from __future__ import annotations

from typing import Final

from cost_model.meters.log_ingestion import by_class

SPLIT_INGESTION: Final = by_class(
    "split_ingestion",
    "Split content ingestion",
    lambda scenario: scenario.split_gb,
    applies=lambda scenario: scenario.splits,
    assumes=lambda _: ("split telemetry: what content leaves beyond metadata arrives as log records, at the log rate",),
)
