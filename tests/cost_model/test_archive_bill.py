"""Say what the archive regime costs where queries go through the index, against content where they do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import pytest

from agent_image.contract import QuerySet, Regime
from cost_model.estimate import METERS, Estimate, estimate
from cost_model.prices import PriceBook
from cost_model.query_classes import QueryClass, query_set
from cost_model.render.document import Kind, Row, Section, Table
from cost_model.render.figures import money
from cost_model.render.markdown import render_markdown
from cost_model.scenario import Scenario
from cost_model.session_sizes import load_session_sizes
from tests.cost_model.conftest import TODAY
from tests.cost_model.golden import close, line, monthly

GOLDEN = Path(__file__).parent / "goldens" / "archive.md"
THROUGH_THE_INDEX = (
    QueryClass("open one session", Decimal(470), Decimal(30), indexed=True),
    QueryClass("full scan", Decimal(30), Decimal(30), indexed=False),
)
NONE: Mapping[Regime, Decimal] = MappingProxyType({})


def bill(article: Scenario, prices: PriceBook, regime: Regime, *, measured: bool = False) -> Estimate:
    """Price a million sessions: indexing free at 1 %, 470 of 500 queries by index, masking, ten passages a session."""
    workload = replace(article.workload, queries=THROUGH_THE_INDEX)
    if measured:
        workload = replace(workload, spans_per_session=None, kb_per_session=NONE, event_kb_per_session=NONE)
    deployment = replace(article.deployment, regime=regime, indexing_percentage=Decimal(1), masking=True)
    return estimate(Scenario(deployment, workload), prices, TODAY, load_session_sizes())


def bills(article: Scenario, prices: PriceBook) -> Mapping[str, Estimate]:
    """Price what the article does, and what its agent would cost under the archive; on our own sizes, too."""
    content = replace(article.deployment, regime=Regime.CONTENT)
    return {
        "the article's content": estimate(replace(article, deployment=content), prices, TODAY),
        "archive, the article's sizes": bill(article, prices, Regime.ARCHIVE),
        "archive, measured sizes": bill(article, prices, Regime.ARCHIVE, measured=True),
        "content, measured sizes": bill(article, prices, Regime.CONTENT, measured=True),
    }


def table(article: Scenario, prices: PriceBook) -> str:
    """Lay the bills side by side, as Markdown that a page can take over."""
    found = bills(article, prices)
    there = {each.key for one in found.values() for each in one.lines}
    labels = {meter.key: meter.label for meter in METERS if meter.key in there}
    rows = [Row((label, *(amount(one, key) for one in found.values()))) for key, label in labels.items()]
    total = Row(("Total", *(money(one.total or Decimal(0)) for one in found.values())), Kind.TOTAL)
    return render_markdown([Section("USD a month, 1,000,000 sessions", Table(("Line", *found), (*rows, total)))])


def amount(result: Estimate, key: str) -> str:
    """Show the amount of a line, or that there is none."""
    found = line(result, key)
    return "-" if found is None or found.monthly is None else money(found.monthly)


def test_archive_costs_under_20_against_239_40_of_content(article: Scenario, prices: PriceBook) -> None:
    """On the article's sizes, and so without event lines: spans, storage, masking, queries and the whole archive."""
    archive, content = (
        bills(article, prices)[name] for name in ("archive, the article's sizes", "the article's content")
    )
    print(f"archive {archive.total} against content {content.total}")  # noqa: T201 - the figure, for whoever asks

    assert {each.key: f"{each.monthly:.4f}" for each in archive.lines} == {
        "span_ingestion": "6.6757",
        "event_ingestion": "0.0000",
        "indexing": "0.0000",
        "storage": "0.5722",
        "masking": "2.2888",
        "queries": "7.3433",
        "archive_storage": "0.1842",
        "archive_requests": "1.0000",
        "archive_reads": "0.6250",
        "archive_writes": "0.1250",
        "archive_table": "0.0894",
    }
    assert archive.unknown == ()
    assert close(archive.total, "18.90")
    assert archive.total is not None
    assert archive.total < 20
    assert close(content.total, "239.40")


def test_archive_on_measured_sizes(article: Scenario, prices: PriceBook) -> None:
    """Our own sessions leave 18 spans instead of 8, and event lines beside them; content would cost twice as much."""
    archive, content = (bill(article, prices, regime, measured=True) for regime in (Regime.ARCHIVE, Regime.CONTENT))

    assert close(archive.total, "28.43")
    assert close(monthly(archive, "event_ingestion"), "2.77")
    assert content.total is not None
    assert archive.total is not None
    assert content.total > 1.9 * float(archive.total)


def test_the_bills_stand_side_by_side(article: Scenario, prices: PriceBook) -> None:
    """A page can take the table over; change the golden when a change of it is meant."""
    assert table(article, prices) == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "usd"), [(QuerySet.ARTICLE, "47.68"), (QuerySet.USUAL, "6.32")])
def test_how_people_ask_moves_the_bill_most(article: Scenario, prices: PriceBook, name: QuerySet, usd: str) -> None:
    """The same number of queries over the same trail."""
    base = bill(article, prices, Regime.ARCHIVE).scenario
    asked = replace(base, workload=replace(base.workload, queries=query_set(name)))
    result = estimate(asked, prices, TODAY)

    print(name, result.total)  # noqa: T201
    assert close(monthly(result, "queries"), usd)
