"""Meter the spans that X-Ray indexes as trace summaries, beyond the share that is free."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter
from cost_model.scenario import Scenario


def _indexed_share(scenario: Scenario) -> Decimal | None:
    percentage = scenario.deployment.indexing_percentage
    return None if percentage is None else percentage / 100


def _assumptions(scenario: Scenario) -> tuple[str, ...]:
    if scenario.deployment.indexing_percentage is not None:
        return ()
    return ("the indexed share of spans is not stated, so its price is unknown: state it with --indexing",)


INDEXING: Final = Meter(
    key="indexing",
    label="Span indexing",
    price="spans_indexed",
    quantity=lambda scenario: scenario.spans,
    share=_indexed_share,
    assumes=_assumptions,
)
