"""Reproduce what stands beside the table of published figures: what was printed, left out, and how queries weigh."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType

import pytest

from agent_image.contract import Regime, Streams
from cost_model.estimate import NOT_PRICED
from cost_model.prices import PriceBook
from cost_model.query_classes import Dashboard, QueryClass
from cost_model.scenario import Scenario
from cost_model.tiers import Tier
from cost_model.workload import RuntimeUse, Tokens
from tests.cost_model.golden import close, holding, monthly, priced, under

METADATA, ADDRESS, CONTENT = Regime.METADATA, Regime.ADDRESS, Regime.CONTENT
REGIMES = (METADATA, ADDRESS, CONTENT)
# Prices of a way that no meter takes: infracost's golden files of 2026-08-21, and third-party tables for Athena.
FIREHOSE_GB, CONVERSION_GB, ATHENA_TB = Decimal("0.035"), Decimal("0.021"), Decimal(5)
WIDGET = Dashboard("widget", Decimal(1), Decimal(60), Decimal(30), Decimal(720))
FULL = QueryClass("full scan", Decimal(30), Decimal(30), indexed=False)
LOOK_UP = QueryClass("open one session", Decimal(470), Decimal(30), indexed=True, skip_ratio=Decimal(1))


def known(amount: Decimal | None) -> Decimal:
    """Return an amount that is there."""
    assert amount is not None
    return amount


def added(
    scenario: Scenario, changed: Scenario, prices: PriceBook, regime: Regime, *, masking: bool = False
) -> Decimal:
    """Return what a change adds to the total."""
    before, after = (priced(each, prices, regime, masking=masking) for each in (scenario, changed))
    return known(after.total) - known(before.total)


# --- section 5 --------------------------------------------------------------------------------------------------------


def test_section_5_what_the_article_prints(article: Scenario, prices: PriceBook) -> None:
    """Indexing at ten million sessions, B for a quarter of C, a few dollars below 50,000 sessions."""
    ten_million = under(article, sessions=Decimal(10_000_000))
    whole, part = (priced(ten_million, prices, ADDRESS, indexing_percentage=Decimal(percent)) for percent in (100, 5))
    content, address = (priced(article, prices, regime) for regime in (CONTENT, ADDRESS))
    small = priced(under(article, sessions=Decimal(50_000)), prices, ADDRESS)

    assert close(monthly(whole, "indexing"), "59.40")
    assert close(monthly(part, "indexing"), "2.40")
    assert close(part.total, "551.72")
    assert close(known(monthly(part, "queries")) / known(part.total) * 100, "86.4", Decimal("0.05"))
    assert close(known(address.total) / known(content.total) * 100, "25.4", Decimal("0.05"))
    assert known(small.total) < 4


@pytest.mark.parametrize("regime", REGIMES)
def test_section_5_scan_is_seven_times_ingestion_in_every_regime(
    article: Scenario, prices: PriceBook, regime: Regime
) -> None:
    """The article says it of C; it is a ratio of two prices and a number of queries."""
    result = priced(article, prices, regime)

    assert close(known(monthly(result, "queries")) / known(monthly(result, "span_ingestion")), "7.14")


@pytest.mark.parametrize(
    ("read", "written", "agent", "share"),
    [
        ("0.25", "0", "3000", "7.98"),
        ("3", "0", "36000", "0.665"),
        ("0.25", "1.25", "4500", "5.32"),
        ("1", "5", "18000", "1.33"),
        ("3", "15", "54000", "0.44"),
    ],
)
def test_section_5_content_is_a_share_of_inference(
    article: Scenario, prices: PriceBook, *, read: str, written: str, agent: str, share: str
) -> None:
    """12,000 million tokens in and 1,200 million out; the article counts those in alone."""
    tokens = Tokens(None, Decimal(12_000), Decimal(1_200), Decimal(read), Decimal(written))
    result = priced(under(article, tokens=tokens), prices, CONTENT)

    assert result.scale_total == Decimal(agent)
    assert close(known(result.total) / known(result.scale_total) * 100, share)


def test_section_5_spans_of_6_kb_cost_2_26_times_not_triple(article: Scenario, prices: PriceBook) -> None:
    """Sizes grow 2.4 times, and the indexing line does not move."""
    larger = under(article, kb_per_session=MappingProxyType({ADDRESS: Decimal(48)}))
    small, large = (priced(scenario, prices, ADDRESS) for scenario in (article, larger))

    assert close(large.total, "137.78")
    assert close(known(large.total) / known(small.total), "2.26")


# --- section 6 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("regime", REGIMES)
def test_section_6_other_output_by_the_kb(article: Scenario, prices: PriceBook, regime: Regime) -> None:
    """Ingestion 0.48, storage 0.03 and masking 0.11 for a KB, and 2.38 more where queries do not leave it out."""
    query = known_query(article)
    filtered = under(article, queries=(replace(query, streams=Streams.SPANS),))
    noisy, noisy_filtered = (under(each, stdout_kb_per_session=Decimal(1)) for each in (article, filtered))
    result = priced(noisy, prices, regime, masking=True)

    assert close(monthly(result, "stdout_ingestion"), "0.48")
    assert close(added(filtered, noisy_filtered, prices, regime, masking=True), "0.62")
    assert close(added(article, noisy, prices, regime, masking=True), "3.00")


def known_query(scenario: Scenario) -> QueryClass:
    """Return the one class of the article's queries."""
    (query,) = scenario.workload.queries or ()
    return query


@pytest.mark.parametrize(("regime", "more"), [(METADATA, "0"), (ADDRESS, "0"), (CONTENT, "10.79")])
def test_section_6_split_telemetry(article: Scenario, prices: PriceBook, regime: Regime, more: str) -> None:
    """Ingestion of C grows from 28.37 to 39.16."""
    assert close(added(article, under(article, split_telemetry=True), prices, regime), more)


@pytest.mark.parametrize(("series", "usd"), [(40, "12"), (30, "9"), (400, "120")])
def test_section_6_metrics(article: Scenario, prices: PriceBook, series: int, usd: str) -> None:
    """40 series 12, or 9 after the ten free ones, which are not taken off; 400 series 120."""
    assert added(article, under(article, metric_series=Decimal(series)), prices, ADDRESS) == Decimal(usd)


@pytest.mark.parametrize(("percent", "usd"), [(100, "5.94"), (5, "0.24"), (1, "0")])
def test_section_6_indexing(article: Scenario, prices: PriceBook, percent: int, usd: str) -> None:
    """The command line of AWS turns on 100 per cent."""
    for regime in REGIMES:
        result = priced(article, prices, regime, indexing_percentage=Decimal(percent))
        assert close(monthly(result, "indexing"), usd)


@pytest.mark.parametrize(
    ("widget", "usd"),
    [
        (WIDGET, ("32.96", "68.66", "291.82")),
        (replace(WIDGET, refresh_minutes=Decimal(5), window_days=Decimal(1)), ("13.18", "27.47", "116.73")),
        (replace(WIDGET, refresh_minutes=Decimal(1)), ("1977.54", "4119.87", "17509.46")),
    ],
)
def test_section_6_widgets(article: Scenario, prices: PriceBook, widget: Dashboard, usd: tuple[str, str, str]) -> None:
    """An hourly one over 30 days; every five minutes over 24 hours; every minute over 30 days."""
    for regime, more in zip(REGIMES, usd, strict=True):
        assert close(added(article, under(article, dashboards=(widget,)), prices, regime), more)


def test_section_6_compressed_storage(article: Scenario, prices: PriceBook) -> None:
    """AWS's calculator stores 15 per cent of what comes in."""
    compressed = under(article, storage_compression=Decimal("0.15"))

    for regime, less in zip(REGIMES, ("-0.23", "-0.49", "-2.07"), strict=True):
        assert close(added(article, compressed, prices, regime), less)


@pytest.mark.parametrize(
    ("row", "quantity", "usd"),
    [
        ("contributor_insights_events", 7_000_000, "0.14"),  # of 8M spans, one million is free in an account
        ("live_tail", 60, "0.60"),
        ("kms_key", 1, "1.00"),
    ],
)
def test_section_6_by_the_row(prices: PriceBook, row: str, quantity: int, usd: str) -> None:
    """What no meter counts has its price all the same."""
    assert close(prices.row("us-east-1", row).charge(Decimal(quantity)), usd)


@pytest.mark.parametrize(("version", "usd"), [(1, "327.36"), (2, "495.28")])
def test_section_6_runtime(article: Scenario, prices: PriceBook, version: int, usd: str) -> None:
    """Ten seconds of vCPU and a minute of half a GB in each of a million sessions."""
    use = RuntimeUse(Decimal(version), Decimal(10), Decimal(60), Decimal("0.5"))

    assert close(priced(under(article, runtime=use), prices, ADDRESS).scale_total, usd)


@pytest.mark.parametrize(
    "what", ["Application Signals metrics", "field indexes", "StartTraceRetrieval", "Evaluations", "central account"]
)
def test_section_6_what_no_source_settles_is_listed_and_not_priced(what: str) -> None:
    """A price that is not known is not made up."""
    assert any(what in text for text in NOT_PRICED)


def test_section_3_spans_at_the_rate_of_logs(article: Scenario, prices: PriceBook) -> None:
    """No text states the rate of spans in the agent's own group: at 0.50 they would cost this much more."""
    row = prices.row("us-east-1", "span_ingestion")
    dearer = prices.own_first(PriceBook((replace(row, tiers=(Tier(Decimal("0.50")),)),)))

    for regime, more in zip(REGIMES, ("1.37", "2.86", "12.16"), strict=True):
        low, high = (known(priced(article, book, regime).total) for book in (prices, dearer))
        assert close(high - low, more)


# --- section 7 --------------------------------------------------------------------------------------------------------


def test_section_7_one_full_scan(article: Scenario, prices: PriceBook) -> None:
    """Of thirty days; and a tenth of the window costs a tenth."""
    for days, usd in ((30, ("0.0458", "0.0954", "0.4053")), (3, ("0.0046", "0.0095", "0.0405"))):
        query = QueryClass("once", Decimal(1), Decimal(days), indexed=False)
        for regime, expected in zip(REGIMES, usd, strict=True):
            result = priced(under(article, queries=(query,)), prices, regime)
            assert close(monthly(result, "queries"), expected, Decimal("0.00005"))


def test_section_7_scan_alone(article: Scenario, prices: PriceBook) -> None:
    """Of 470 look-ups that skip everything and 30 full scans; so indexed C is cheaper than unindexed B."""
    designed = under(article, queries=(LOOK_UP, FULL))
    for regime, usd in zip(REGIMES, ("1.37", "2.86", "12.16"), strict=True):
        assert close(monthly(priced(designed, prices, regime), "queries"), usd)

    assert known(priced(designed, prices, CONTENT).total) < known(priced(article, prices, ADDRESS).total)


def test_section_7_a_metric_filter_replaces_a_widget(article: Scenario, prices: PriceBook) -> None:
    """Five metrics for 1.50 against 68.66 of B."""
    plain, filtered = (priced(holding(article, metric_filters=count), prices, ADDRESS) for count in (0, 5))

    assert known(filtered.total) - known(plain.total) == Decimal("1.50")


@pytest.mark.parametrize(
    ("regime", "delivered", "athena", "tenth"),
    [
        (METADATA, "0.51", "22.35", "2.24"),
        (ADDRESS, "1.07", "46.57", "4.66"),
        (CONTENT, "4.54", "197.91", "19.79"),
    ],
)
def test_section_7_parquet_and_athena(
    article: Scenario, prices: PriceBook, *, regime: Regime, delivered: str, athena: str, tenth: str
) -> None:
    """It pays only if columns or partitions cut what the 500 queries read."""
    gb = known(priced(article, prices, regime).scenario.span_gb)
    scanned = gb * 500 / 1024 * ATHENA_TB

    assert close(gb * (FIREHOSE_GB + CONVERSION_GB), delivered)
    assert close(scanned, athena)
    assert close(scanned / 10, tenth)
    assert close(known(monthly(priced(article, prices, regime), "queries")) / scanned, "1.02")


def test_section_9_infracost_s_golden(prices: PriceBook) -> None:
    """1,000 GB in, 500 kept, 250 scanned."""
    volumes = {"log_ingestion": 1000, "log_storage": 500, "logs_insights_scan": 250}
    charged = [prices.row("us-east-1", row).charge(Decimal(gb)) for row, gb in volumes.items()]

    assert charged == [Decimal(500), Decimal(15), Decimal("1.25")]
