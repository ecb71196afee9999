"""Custom metrics."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agent_image.contract import Regime
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from tests.cost_model.golden import holding, line, monthly, priced, under


@pytest.mark.parametrize(
    ("filtered", "published", "usd"),
    [
        (0, 40, "12"),
        (0, 400, "120"),
        (5, None, "1.50"),
        (5, 40, "13.50"),
        (0, 10_000, "3000"),
        (0, 250_000, "27000"),
        (0, 1_000_000, "64500"),
        (0, 1_000_100, "64502"),
    ],
)
def test_series_go_through_their_tiers(
    article: Scenario, prices: PriceBook, *, filtered: int, published: int | None, usd: str
) -> None:
    """Those of metric filters and those that the agent publishes add up; a filter itself is free."""
    stated = None if published is None else Decimal(published)
    result = priced(under(holding(article, metric_filters=filtered), metric_series=stated), prices, Regime.ADDRESS)

    assert monthly(result, "metrics") == Decimal(usd)
    assert any("metric filters are free" in text for text in result.assumptions) == bool(filtered)


def test_without_any_there_is_no_line(article: Scenario, prices: PriceBook) -> None:
    """What nobody stated is named among what is not priced."""
    assert line(priced(article, prices, Regime.ADDRESS), "metrics") is None
