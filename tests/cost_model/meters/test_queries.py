"""What classes of queries scan: which streams, which window, how much the index skips."""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

import pytest

from agent_image.contract import QuerySet, Regime, Streams
from cost_model.prices import PriceBook
from cost_model.query_classes import QueryClass, joined, query_set
from cost_model.scenario import Scenario
from cost_model.workload import read_workload
from tests.cost_model.golden import line, priced, under

FIVE_KB = MappingProxyType({Regime.ADDRESS: Decimal(5)})


@pytest.mark.parametrize(
    ("streams", "runs", "window", "indexed", "skip", "gb"),
    [
        (Streams.ALL, 1, 30, False, None, "24.795532"),  # 20 KB of spans, 5 of event lines, 1 of other output
        (Streams.SPANS, 1, 30, False, None, "19.073486"),
        (Streams.ALL, 10, 3, False, None, "24.795532"),
        (Streams.SPANS, 1, 30, True, None, "1.907349"),
        (Streams.SPANS, 1, 30, True, "0.5", "9.536743"),
        (Streams.SPANS, 0, 30, False, None, "0"),
    ],
)
def test_a_class_scans_its_streams(
    article: Scenario,
    prices: PriceBook,
    *,
    streams: Streams,
    runs: int,
    window: int,
    indexed: bool,
    skip: str | None,
    gb: str,
) -> None:
    """Filtered by format or stream it reads spans alone; else all that the log group holds."""
    ratio = None if skip is None else Decimal(skip)
    query = QueryClass("q", Decimal(runs), Decimal(window), indexed, ratio, streams)
    scenario = under(article, queries=(query,), event_kb_per_session=FIVE_KB, stdout_kb_per_session=Decimal(1))
    found = line(priced(scenario, prices, Regime.ADDRESS), "queries")

    assert found is not None
    assert found.quantity is not None
    assert round(found.quantity, 6) == Decimal(gb)
    assert found.monthly == found.quantity * Decimal("0.005")


def test_the_set_of_the_article_is_the_article_s(article: Scenario) -> None:
    """It can be named instead of being written down."""
    assert query_set(QuerySet.ARTICLE) == article.workload.queries


def test_the_usual_set_is_as_many_queries_most_through_the_index() -> None:
    """Five hundred, 470 of which look something up."""
    usual = query_set(QuerySet.USUAL)

    assert sum(query.runs_per_month for query in usual) == 500
    assert sum(query.runs_per_month for query in usual if query.indexed) == 470


def test_a_set_that_somebody_chose_is_said(article: Scenario, prices: PriceBook) -> None:
    """Nobody counted its queries."""
    workload = read_workload({"sessions": 1, "query_set": "usual"}, "dev.toml")
    result = priced(Scenario(article.deployment, workload), prices, Regime.ADDRESS)

    assert workload.queries == query_set(QuerySet.USUAL)
    assert any("the set 'usual'" in text for text in result.assumptions)
    assert not any("the set" in text for text in priced(article, prices, Regime.ADDRESS).assumptions)


def test_own_classes_stand_beside_the_set_and_in_for_their_namesakes() -> None:
    """A person who has counted one class need not count the others."""
    own = (
        QueryClass("weekly review", Decimal(8), Decimal(7), indexed=False),
        QueryClass("x", *2 * (Decimal(1),), indexed=True),
    )
    both = joined(own, query_set(QuerySet.USUAL))

    assert len(both) == len(query_set(QuerySet.USUAL)) + 1
    assert [query.runs_per_month for query in both if query.name == "weekly review"] == [8]
