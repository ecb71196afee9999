"""Reproduce the published figures under their own assumptions, each to half of its last digit."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from agent_image.contract import Regime
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.workload import QueryClass
from tests.cost_model.golden import close, monthly, priced, under

METADATA, ADDRESS, CONTENT = Regime.METADATA, Regime.ADDRESS, Regime.CONTENT


GOLDENS = [
    # sessions, regime, indexing, GB, ingestion, storage, scan, indexing, total, scan share in per cent
    (50_000, METADATA, 100, "0.4578", "0.1602", "0.0137", "1.1444", "0.2970", "1.62", "70.8"),
    (50_000, ADDRESS, 100, "0.9537", "0.3338", "0.0286", "2.3842", "0.2970", "3.04", "78.3"),
    (50_000, CONTENT, 100, "4.0531", "1.4186", "0.1216", "10.1328", "0.2970", "11.97", "84.7"),
    (1_000_000, METADATA, 100, "9.1553", "3.2043", "0.2747", "22.8882", "5.9400", "32.31", "70.8"),
    (1_000_000, ADDRESS, 100, "19.0735", "6.6757", "0.5722", "47.6837", "5.9400", "60.87", "78.3"),
    (1_000_000, CONTENT, 100, "81.0623", "28.3718", "2.4319", "202.6558", "5.9400", "239.40", "84.7"),
    (10_000_000, METADATA, 100, "91.5527", "32.0435", "2.7466", "228.8818", "59.4000", "323.07", "70.8"),
    (10_000_000, ADDRESS, 100, "190.7349", "66.7572", "5.7220", "476.8372", "59.4000", "608.72", "78.3"),
    (10_000_000, CONTENT, 100, "810.6232", "283.7181", "24.3187", "2026.5579", "59.4000", "2393.99", "84.7"),
    (10_000_000, ADDRESS, 5, "190.7349", "66.7572", "5.7220", "476.8372", "2.4000", "551.72", "86.4"),
]


@pytest.mark.parametrize(
    ("sessions", "regime", "percent", "gb", "ingestion", "storage", "scan", "index", "total", "share"), GOLDENS
)
def test_section_5_every_published_figure_comes_out(
    article: Scenario,
    prices: PriceBook,
    *,
    sessions: int,
    regime: Regime,
    percent: int,
    gb: str,
    ingestion: str,
    storage: str,
    scan: str,
    index: str,
    total: str,
    share: str,
) -> None:
    """Each line, total and scan share of the published table comes out under its assumptions."""
    scenario = under(article, sessions=Decimal(sessions))
    result = priced(scenario, prices, regime, indexing_percentage=Decimal(percent))
    digits = Decimal("0.00005")
    scanned = monthly(result, "queries")

    assert close(result.scenario.span_gb, gb, digits)
    assert close(monthly(result, "span_ingestion"), ingestion, digits)
    assert close(monthly(result, "storage"), storage, digits)
    assert close(scanned, scan, digits)
    assert close(monthly(result, "indexing"), index, digits)
    assert close(result.total, total)
    assert scanned is not None
    assert result.total is not None
    assert close(scanned / result.total * 100, share, Decimal("0.05"))


@pytest.mark.parametrize(
    ("percent", "metadata", "address", "content"),
    [("5", "26.61", "55.17", "233.70"), ("1", "26.37", "54.93", "233.46"), ("0.5", "26.37", "54.93", "233.46")],
)
def test_section_5_indexing_is_free_up_to_one_per_cent(
    article: Scenario, prices: PriceBook, *, percent: str, metadata: str, address: str, content: str
) -> None:
    """Indexing costs what exceeds the free share, and the line stays when nothing does."""
    for regime, total in ((METADATA, metadata), (ADDRESS, address), (CONTENT, content)):
        result = priced(article, prices, regime, indexing_percentage=Decimal(percent))

        assert close(result.total, total)
        assert monthly(result, "indexing") is not None


@pytest.mark.parametrize(("regime", "first_month"), [(METADATA, "20.73"), (ADDRESS, "36.74"), (CONTENT, "136.86")])
def test_section_6_first_month_fills_the_store(
    article: Scenario, prices: PriceBook, regime: Regime, first_month: str
) -> None:
    """In the first month storage and scans see half of what they see later."""
    assert close(priced(article, prices, regime).first_month, first_month)


@pytest.mark.parametrize(("regime", "masking"), [(METADATA, "1.10"), (ADDRESS, "2.29"), (CONTENT, "9.73")])
def test_section_6_masking_adds_its_scan(article: Scenario, prices: PriceBook, regime: Regime, masking: str) -> None:
    """Masking costs 34.3 per cent of ingestion on top, and has no line when it is off."""
    without, with_masking = (priced(article, prices, regime, masking=on) for on in (False, True))
    ingestion = monthly(without, "span_ingestion")
    scanned = monthly(with_masking, "masking")

    assert close(scanned, masking)
    assert with_masking.total == sum((line.monthly for line in with_masking.lines if line.monthly), Decimal(0))
    assert scanned is not None
    assert ingestion is not None
    assert close(scanned / ingestion * 100, "34.3", Decimal("0.05"))
    assert "masking" not in {line.key for line in without.lines}


@pytest.mark.parametrize(
    ("window", "metadata", "address", "content"),
    [(1, "10.18", "14.78", "43.50"), (7, "14.76", "24.31", "84.03"), (90, "32.31", "60.87", "239.40")],
)
def test_section_6_scan_follows_the_window_up_to_retention(
    article: Scenario, prices: PriceBook, *, window: int, metadata: str, address: str, content: str
) -> None:
    """A shorter window scans less; one longer than retention scans what is kept."""
    for regime, total in ((METADATA, metadata), (ADDRESS, address), (CONTENT, content)):
        query = replace((article.workload.queries or ())[0], window_days=Decimal(window))

        assert close(priced(under(article, queries=(query,)), prices, regime).total, total)


@pytest.mark.parametrize(
    ("skip", "metadata", "address", "content"),
    [(Decimal(1), "10.79", "16.05", "48.90"), (None, "12.94", "20.53", "67.95")],
)
def test_section_7_indexed_queries_skip(
    article: Scenario, prices: PriceBook, *, skip: Decimal | None, metadata: str, address: str, content: str
) -> None:
    """Of 500 queries, 470 through the index scan nothing at skip ratio 1, and a tenth where it is left out."""
    classes = (
        QueryClass("open one session", Decimal(470), Decimal(30), indexed=True, skip_ratio=skip),
        QueryClass("full scan", Decimal(30), Decimal(30), indexed=False),
    )
    for regime, total in ((METADATA, metadata), (ADDRESS, address), (CONTENT, content)):
        assert close(priced(under(article, queries=classes), prices, regime).total, total)


@pytest.mark.parametrize(
    ("window", "indexed", "skip", "month"),
    [
        (90, True, "0.9", "100.135803223"),  # 19.0735 GB * 500 * 0.005 * (0.1 + 2)
        (90, True, "1", "95.367431641"),
        (90, True, None, "100.135803223"),
        (45, True, "0.9", "28.610229492"),
        (30, True, "0.9", "4.768371582"),
        (90, False, "0.9", "14.305114746"),
        (90, False, "0", "143.051147461"),
    ],
)
def test_an_index_skips_within_its_last_thirty_days(
    article: Scenario, prices: PriceBook, *, window: int, indexed: bool, skip: str | None, month: str
) -> None:
    """Kept 90 days, an indexed look-up reads whole what is older than its index entries; in month one nothing is."""
    ratio = None if skip is None else Decimal(skip)
    query = QueryClass("open one session", Decimal(500), Decimal(window), indexed=indexed, skip_ratio=ratio)
    result = priced(under(article, queries=(query,)), prices, ADDRESS, retention_days=Decimal(90))
    (line,) = [line for line in result.lines if line.key == "queries"]
    unskipped = 1 - (Decimal("0.9") if ratio is None else ratio)

    assert close(line.monthly, month, Decimal("0.0000000005"))
    assert close(line.first_month, str(Decimal("23.841857910156") * unskipped), Decimal("0.0000000005"))


def test_archive_costs_little_more_than_address(article: Scenario, prices: PriceBook) -> None:
    """The archive adds at most a tenth to address: ten passages a session, 200,000 distinct ones a month."""
    address, archive = (priced(article, prices, regime) for regime in (ADDRESS, Regime.ARCHIVE))
    added = {line.key: line.monthly for line in archive.lines if line.key.startswith("archive_")}

    assert archive.total is not None
    assert address.total is not None
    assert archive.total <= address.total * Decimal("1.10")
    assert archive.total == address.total + sum((amount or Decimal(0) for amount in added.values()), Decimal(0))
    assert added["archive_requests"] == 1
    assert added["archive_reads"] == Decimal("0.625")
    assert added["archive_writes"] == Decimal("0.125")
    assert close(added["archive_storage"], "0.18")
    assert close(added["archive_table"], "0.09")
