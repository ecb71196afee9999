"""What the guard and its audit keep: the audit's bucket, the table, the topic, and the keys."""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

import pytest

from agent_image.contract import Regime
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from tests.cost_model.golden import close, holding, line, monthly, priced, under


@pytest.mark.parametrize(
    ("kilobytes", "objects", "months", "storage", "first", "requests"),
    [
        ("6.6", "1", 12, "1.7372", "0.0724", "5"),  # 6.2943 GB a month at 0.023
        ("6.6", "3", 1, "0.1448", "0.0724", "15"),
        ("0", "0", 12, "0", "0", "0"),
    ],
)
def test_the_audit_keeps_every_line_and_puts_objects(
    article: Scenario,
    prices: PriceBook,
    *,
    kilobytes: str,
    objects: str,
    months: int,
    storage: str,
    first: str,
    requests: str,
) -> None:
    """Nothing expires it, so a month is named; each object is one request."""
    stated = {"audit_kb_per_session": Decimal(kilobytes), "audit_objects_per_session": Decimal(objects)}
    scenario = under(holding(article, audit=True), **stated, archive_months=Decimal(months))
    result = priced(scenario, prices, Regime.ADDRESS)
    found = line(result, "audit_storage")

    assert found is not None
    assert close(found.monthly, storage, Decimal("0.00005"))
    assert close(found.first_month, first, Decimal("0.00005"))
    assert monthly(result, "audit_requests") == Decimal(requests)


def test_audit_lines_weigh_what_event_lines_weigh_until_somebody_says(article: Scenario, prices: PriceBook) -> None:
    """The one is a slim copy of the other, and the assumption is said."""
    events = MappingProxyType({Regime.ADDRESS: Decimal("5.8")})
    result = priced(under(holding(article, audit=True), event_kb_per_session=events), prices, Regime.ADDRESS)

    assert close(monthly(result, "audit_storage"), "1.5266", Decimal("0.00005"))
    assert monthly(result, "audit_requests") is None
    assert any("weigh what event lines weigh" in text for text in result.assumptions)


@pytest.mark.parametrize(
    ("writes", "reads", "kilobytes", "months", "usd"),
    [
        (216, 4, 76, 1, ("135", "0.5", "18.1198", "9.0599")),  # 72.4792 GB at 0.25
        (20, 3, 2, 3, ("12.5", "0.375", "1.4305", "0.2384")),
        (0, 0, 0, 1, ("0", "0", "0", "0")),
    ],
)
def test_the_guard_s_records_are_written_read_and_kept(
    article: Scenario,
    prices: PriceBook,
    *,
    writes: int,
    reads: int,
    kilobytes: int,
    months: int,
    usd: tuple[str, str, str, str],
) -> None:
    """Request units of a million sessions, and the GB that they leave until the records expire."""
    keys = ("table_writes_per_session", "table_reads_per_session", "table_kb_per_session", "table_months")
    stated = dict(zip(keys, map(Decimal, (writes, reads, kilobytes, months)), strict=True))
    result = priced(under(holding(article, table=True), **stated), prices, Regime.ADDRESS)
    stored = line(result, "table_storage")

    assert monthly(result, "table_writes") == Decimal(usd[0])
    assert monthly(result, "table_reads") == Decimal(usd[1])
    assert stored is not None
    assert close(stored.monthly, usd[2], Decimal("0.00005"))
    assert close(stored.first_month, usd[3], Decimal("0.00005"))


@pytest.mark.parametrize(
    ("piece", "keys"),
    [
        ("audit", ("audit_requests",)),
        ("table", ("table_writes", "table_reads", "table_storage")),
        ("topic", ("alerts",)),
        ("encrypted_by_key", ("kms_requests",)),
    ],
)
def test_what_is_there_and_nobody_counted_depends_on_usage(
    article: Scenario, prices: PriceBook, piece: str, keys: tuple[str, ...]
) -> None:
    """Its line stands without an amount; what is not there has none."""
    there, not_there = (priced(holding(article, **{piece: on}), prices, Regime.ADDRESS) for on in (True, False))

    assert [each.key for each in there.unknown] == list(keys)
    assert not any(line(not_there, key) for key in keys)


@pytest.mark.parametrize(("alerts", "usd"), [(1_000_000, "0.5"), (2_000, "0.001"), (0, "0")])
def test_alerts_cost_by_what_the_topic_takes(article: Scenario, prices: PriceBook, alerts: int, usd: str) -> None:
    """Fifty cents for a million."""
    scenario = under(holding(article, topic=True), alerts=Decimal(alerts))

    assert monthly(priced(scenario, prices, Regime.ADDRESS), "alerts") == Decimal(usd)


@pytest.mark.parametrize(
    ("keys", "requests", "usd"), [(1, 10_000, ("1", "0.03")), (3, 0, ("3", "0")), (2, 1_000_000, ("2", "3"))]
)
def test_keys_cost_a_dollar_and_by_their_requests(
    article: Scenario, prices: PriceBook, keys: int, requests: int, usd: tuple[str, str]
) -> None:
    """A key that belongs to the deployment by the month; requests to any key."""
    scenario = under(holding(article, kms_keys=keys, encrypted_by_key=True), kms_requests=Decimal(requests))
    result = priced(scenario, prices, Regime.ADDRESS)

    assert (monthly(result, "kms_keys"), monthly(result, "kms_requests")) == tuple(map(Decimal, usd))
