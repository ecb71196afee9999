"""Alarms."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agent_image.contract import Regime
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from tests.cost_model.golden import holding, line, monthly, priced, under


@pytest.mark.parametrize(
    ("kind", "key", "count", "usd"),
    [
        ("alarm_metrics", "alarms", 1, "0.10"),
        ("alarm_metrics", "alarms", 25, "2.50"),
        ("high_resolution_alarm_metrics", "alarms_high_resolution", 5, "1.50"),
        ("composite_alarms", "alarms_composite", 3, "1.50"),
    ],
)
def test_alarms_cost_by_their_kind(
    article: Scenario, prices: PriceBook, *, kind: str, key: str, count: int, usd: str
) -> None:
    """By the metrics that they watch, composite ones each."""
    assert monthly(priced(holding(article, **{kind: count}), prices, Regime.ADDRESS), key) == Decimal(usd)


@pytest.mark.parametrize(("metrics", "usd"), [(None, None), (10, "2.00"), (0, "0")])
def test_an_alarm_on_a_query_of_metrics_costs_by_what_it_reads(
    article: Scenario, prices: PriceBook, metrics: int | None, usd: str | None
) -> None:
    """How many metrics that is stands in no stack: it depends on usage until somebody states it."""
    stated = None if metrics is None else Decimal(metrics)
    scenario = under(holding(article, insights_alarms=2), insights_alarm_metrics=stated)
    found = monthly(priced(scenario, prices, Regime.ADDRESS), "alarms_insights")

    assert found == (None if usd is None else Decimal(usd))


def test_without_alarms_there_is_no_line(article: Scenario, prices: PriceBook) -> None:
    """None in the stacks is a fact."""
    result = priced(article, prices, Regime.ADDRESS)

    assert not any(line(result, key) for key in ("alarms", "alarms_high_resolution", "alarms_composite"))
