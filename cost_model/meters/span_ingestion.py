"""Meter the bytes of spans that reach the trail's log group through X-Ray."""

from __future__ import annotations

from typing import Final

from cost_model.meters.meter import Meter

SPAN_INGESTION: Final = Meter(
    key="span_ingestion",
    label="Span ingestion",
    price="span_ingestion",
    quantity=lambda scenario: scenario.span_gb,
    assumes=lambda _: (
        "spans in the agent's own log group are charged at the span rate, not the log rate: AWS states no rate for it",
    ),
)
