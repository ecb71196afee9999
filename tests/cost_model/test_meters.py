"""Check what single meters do beside the published figures."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType

import pytest

from agent_image.contract import Regime
from cost_model.deployment import LogClass
from cost_model.estimate import Estimate, estimate
from cost_model.meters.meter import Line
from cost_model.money import BYTES_PER_GB
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.workload import QueryClass
from tests.cost_model.conftest import TODAY

LOOK_UP = QueryClass("open one session", Decimal(100), Decimal(60), indexed=True)


def with_regime(scenario: Scenario, regime: Regime) -> Scenario:
    """Return the scenario under a regime."""
    return replace(scenario, deployment=replace(scenario.deployment, regime=regime))


def line_of(result: Estimate, key: str) -> Line:
    """Return one line of an estimate."""
    return next(line for line in result.lines if line.key == key)


def test_ingestion_moves_through_the_tiers(article: Scenario, prices: PriceBook) -> None:
    """Six hundred million sessions of content leave the first two tiers."""
    many = replace(article.workload, sessions=Decimal(600_000_000))
    scenario = with_regime(replace(article, workload=many), Regime.CONTENT)
    gb = scenario.span_gb

    assert gb is not None
    expected = 10_240 * Decimal("0.35") + 20_480 * Decimal("0.20") + (gb - 30_720) * Decimal("0.15")
    assert line_of(estimate(scenario, prices, TODAY), "span_ingestion").monthly == expected


def with_events(scenario: Scenario, kilobytes: int | None) -> Scenario:
    """Return the scenario in address, with so many KB of event lines in a session; None: nobody said."""
    sizes = MappingProxyType({} if kilobytes is None else {Regime.ADDRESS: Decimal(kilobytes)})
    return with_regime(
        replace(scenario, workload=replace(scenario.workload, event_kb_per_session=sizes)), Regime.ADDRESS
    )


@pytest.mark.parametrize(
    ("log_class", "usd"), [(LogClass.STANDARD, "0.50"), (LogClass.INFREQUENT_ACCESS, "0.25")], ids=str
)
def test_event_lines_come_in_at_the_rate_of_logs(
    article: Scenario, prices: PriceBook, *, log_class: LogClass, usd: str
) -> None:
    """Not at that of spans; by the class of their log group."""
    events = with_events(article, 4)
    scenario = replace(events, deployment=replace(events.deployment, log_class=log_class))
    (line,) = [line for line in estimate(scenario, prices, TODAY).lines if line.key == "event_ingestion"]

    assert line.quantity == scenario.event_gb == Decimal(4_000_000 * 1024) / BYTES_PER_GB
    assert line.monthly == (scenario.event_gb or 0) * Decimal(usd)


@pytest.mark.parametrize("key", ["storage", "masking", "queries"])
def test_event_lines_are_stored_masked_and_scanned_with_the_spans(
    article: Scenario, prices: PriceBook, *, key: str
) -> None:
    """They lie in one log group: twenty KB of lines beside as many of spans double what follows."""
    masked = replace(article, deployment=replace(article.deployment, masking=True))
    without, beside = (line_of(estimate(with_events(masked, kilobytes), prices, TODAY), key) for kilobytes in (0, 20))

    assert beside.monthly == 2 * (without.monthly or 0) > 0
    assert beside.first_month == 2 * (without.first_month or 0)


def test_event_lines_that_nobody_stated_are_not_free(article: Scenario, prices: PriceBook) -> None:
    """What depends on them depends on usage."""
    result = estimate(with_events(article, None), prices, TODAY)

    assert {line.key for line in result.unknown} == {"event_ingestion", "storage", "queries"}


def test_kept_for_ever_storage_has_no_steady_state(article: Scenario, prices: PriceBook) -> None:
    """A store that only grows has a first month and no month that stands for the others."""
    scenario = with_regime(article, Regime.ADDRESS)
    for_ever = replace(scenario, deployment=replace(scenario.deployment, retention_days=None))
    month = line_of(estimate(scenario, prices, TODAY), "storage")
    line = line_of(estimate(for_ever, prices, TODAY), "storage")

    assert line.monthly is None
    assert line.first_month == month.first_month


def test_long_retention_stores_more_and_first_months_stay_half(article: Scenario, prices: PriceBook) -> None:
    """Ninety days hold three months of spans, but the first month still averages half of one."""
    scenario = with_regime(article, Regime.ADDRESS)
    long = replace(scenario, deployment=replace(scenario.deployment, retention_days=Decimal(90)))
    line = line_of(estimate(long, prices, TODAY), "storage")

    assert line.quantity == 3 * (scenario.span_gb or 0)
    assert line.first_month == (scenario.span_gb or Decimal(0)) / 2 * Decimal("0.03")


@pytest.mark.parametrize(("days", "average"), [(1, "0.98333"), (7, "6.18333"), (30, "15"), (90, "15")])
def test_a_filling_store_averages_what_it_holds(article: Scenario, prices: PriceBook, days: int, average: str) -> None:
    """Over the first month a store that keeps r days holds r - r^2/60 days of data, and never more than 15."""
    scenario = with_regime(article, Regime.ADDRESS)
    short = replace(scenario, deployment=replace(scenario.deployment, retention_days=Decimal(days)))
    first = line_of(estimate(short, prices, TODAY), "storage").first_month

    assert first is not None
    assert scenario.span_gb is not None
    assert round(first / Decimal("0.03") / scenario.span_gb * 30, 5) == Decimal(average)


def test_infrequent_access_has_no_index(article: Scenario, prices: PriceBook) -> None:
    """Without a field index a look-up scans its whole window, whatever skip ratio is stated, and that is said."""
    workload = replace(article.workload, queries=(replace(LOOK_UP, skip_ratio=Decimal(1)),))
    scenario = with_regime(replace(article, workload=workload), Regime.ADDRESS)
    rare = replace(scenario, deployment=replace(scenario.deployment, log_class=LogClass.INFREQUENT_ACCESS))
    result = estimate(rare, prices, TODAY)

    assert line_of(estimate(scenario, prices, TODAY), "queries").quantity == 0
    assert line_of(result, "queries").quantity == 100 * (scenario.span_gb or 0)
    assert any("no field index" in text for text in result.assumptions)


def test_index_entries_end_before_long_windows(article: Scenario, prices: PriceBook) -> None:
    """A look-up over more than 30 days is flagged: the index does not reach so far."""
    workload = replace(article.workload, queries=(LOOK_UP,))
    result = estimate(with_regime(replace(article, workload=workload), Regime.ADDRESS), prices, TODAY)

    assert any("index entries live 30 days" in text for text in result.assumptions)


def test_query_classes_add_up(article: Scenario, prices: PriceBook) -> None:
    """The classes of queries are the parts of the line."""
    queries = (*(article.workload.queries or ()), LOOK_UP)
    workload = replace(article.workload, queries=queries)
    line = line_of(estimate(with_regime(replace(article, workload=workload), Regime.CONTENT), prices, TODAY), "queries")

    assert [part.label for part in line.parts] == ["full scan", "open one session"]
    assert line.monthly == sum((part.monthly or Decimal(0) for part in line.parts), Decimal(0))


def test_no_more_passages_are_new_than_were_returned(article: Scenario, prices: PriceBook) -> None:
    """A thousand sessions of ten passages store ten thousand at most, and the estimate says so."""
    workload = replace(article.workload, sessions=Decimal(1000))
    result = estimate(with_regime(replace(article, workload=workload), Regime.ARCHIVE), prices, TODAY)

    assert line_of(result, "archive_requests").quantity == 10_000
    assert any("no more distinct passages than sessions return" in text for text in result.assumptions)


def test_the_archive_fills_up_in_its_first_month(article: Scenario, prices: PriceBook) -> None:
    """Its storage averages half a month then, and its requests are those of any month."""
    result = estimate(with_regime(article, Regime.ARCHIVE), prices, TODAY)
    storage, requests = line_of(result, "archive_storage"), line_of(result, "archive_requests")

    assert storage.monthly is not None
    assert storage.first_month == storage.monthly / 24
    assert requests.first_month == requests.monthly


@pytest.mark.parametrize(
    ("stated", "month", "held"),
    [("12", "12", "12 months"), ("1", "1", "1 month"), ("30", "30", "30 months"), (None, "12 (assumed)", "12 months")],
)
def test_the_month_in_which_the_archive_is_priced_is_said(
    article: Scenario, prices: PriceBook, *, stated: str | None, month: str, held: str
) -> None:
    """Nothing expires passages, so the archive always names its month, and says where nobody stated it."""
    workload = replace(article.workload, archive_months=None if stated is None else Decimal(stated))
    scenario = replace(article, workload=workload)
    said = f"archive: nothing expires passages; priced in month {month}, when it holds {held} of distinct passages"

    assert said in estimate(with_regime(scenario, Regime.ARCHIVE), prices, TODAY).assumptions
    assert said not in estimate(with_regime(scenario, Regime.ADDRESS), prices, TODAY).assumptions


def test_indexing_that_nobody_stated_is_unknown(article: Scenario, prices: PriceBook) -> None:
    """Neither the service's default nor 100 per cent is taken for granted."""
    scenario = with_regime(article, Regime.ADDRESS)
    unknown = replace(scenario, deployment=replace(scenario.deployment, indexing_percentage=None))
    result = estimate(unknown, prices, TODAY)

    assert [line.key for line in result.unknown] == ["indexing"]
    assert any("state it with --indexing" in text for text in result.assumptions)
    assert not any("--indexing" in text for text in estimate(scenario, prices, TODAY).assumptions)
