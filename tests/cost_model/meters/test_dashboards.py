"""Dashboards, and what their widgets scan."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agent_image.contract import Regime, Streams
from cost_model.prices import PriceBook
from cost_model.query_classes import Dashboard
from cost_model.scenario import Scenario
from tests.cost_model.golden import close, holding, line, monthly, priced, under


def dashboard(
    widgets: int = 1, refresh: int = 60, window: int = 30, hours: int = 720, *, indexed: bool = False
) -> Dashboard:
    """State a dashboard: by itself one widget that is always open and looks a month back every hour."""
    return Dashboard("d", Decimal(widgets), Decimal(refresh), Decimal(window), Decimal(hours), indexed=indexed)


@pytest.mark.parametrize(("count", "usd"), [(1, 3), (4, 12), (100, 300)])
def test_each_dashboard_costs_three_dollars(article: Scenario, prices: PriceBook, count: int, usd: int) -> None:
    """The three that an account has free are not taken off: others may use them up."""
    assert monthly(priced(holding(article, dashboards=count), prices, Regime.ADDRESS), "dashboards") == usd


@pytest.mark.parametrize(
    ("stated", "usd"),
    [
        (dashboard(), "68.66"),
        (dashboard(widgets=3), "205.99"),
        (dashboard(refresh=5, window=1), "27.47"),
        (dashboard(refresh=1), "4119.87"),
        (dashboard(hours=160), "15.26"),
        (dashboard(indexed=True), "6.87"),
        (dashboard(hours=0), "0"),
    ],
)
def test_each_refresh_of_each_widget_is_a_query(
    article: Scenario, prices: PriceBook, stated: Dashboard, usd: str
) -> None:
    """Widgets by refreshes by window, as long as it is open."""
    result = priced(under(article, dashboards=(stated,)), prices, Regime.ADDRESS)

    assert close(monthly(result, "dashboard_queries"), usd)
    assert any("each refresh of each widget" in text for text in result.assumptions)


def test_dashboards_are_the_parts_of_their_line(article: Scenario, prices: PriceBook) -> None:
    """Which one is the dear one can be told."""
    spans = Dashboard("spans", *4 * (Decimal(1),), streams=Streams.SPANS)
    found = line(priced(under(article, dashboards=(dashboard(), spans)), prices, Regime.ADDRESS), "dashboard_queries")

    assert found is not None
    assert [part.label for part in found.parts] == ["d", "spans"]
    assert found.monthly == sum((part.monthly or Decimal(0) for part in found.parts), Decimal(0))


def test_without_dashboards_there_is_no_line(article: Scenario, prices: PriceBook) -> None:
    """None in the stacks and none stated: nothing to print."""
    result = priced(article, prices, Regime.ADDRESS)

    assert (line(result, "dashboards"), line(result, "dashboard_queries")) == (None, None)


def test_log_widgets_of_the_stacks_that_nobody_stated_depend_on_usage(article: Scenario, prices: PriceBook) -> None:
    """They scan at each refresh: left out, the dearest line of a bill would be the one that is not there."""
    deployed = holding(article, dashboards=1, log_dashboards=True)
    found = line(priced(deployed, prices, Regime.ADDRESS), "dashboard_queries")

    assert found is not None
    assert (found.monthly, found.first_month) == (None, None)
    stated = priced(under(deployed, dashboards=(dashboard(),)), prices, Regime.ADDRESS)
    assert close(monthly(stated, "dashboard_queries"), "68.66")
