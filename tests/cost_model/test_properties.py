"""State laws that hold for every workload."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import KB_PER_SESSION_REGIMES, USAGE, Quantity, Regime, Streams
from cost_model.deployment import Deployment, LogClass
from cost_model.estimate import Estimate, estimate
from cost_model.pieces import COUNTS, FLAGS, Pieces
from cost_model.prices import load_prices
from cost_model.query_classes import Dashboard, QueryClass
from cost_model.scenario import Scenario
from cost_model.workload import RuntimeUse, Workload
from tests.cost_model.conftest import TODAY
from tests.cost_model.golden import under

PRICES = load_prices()

volumes = st.decimals(0, 10**9, places=2)
shares = st.decimals(0, 1, places=3)
maybe = st.none() | volumes
query_classes = st.builds(
    QueryClass,
    name=st.text(min_size=1),
    runs_per_month=st.decimals(0, 10**5, places=1),
    window_days=st.decimals(0, 400, places=1),
    indexed=st.booleans(),
    skip_ratio=st.none() | shares,
    streams=st.sampled_from(Streams),
)
sizes = st.dictionaries(st.sampled_from(KB_PER_SESSION_REGIMES), volumes).map(MappingProxyType)
dashboards = st.builds(
    Dashboard,
    name=st.text(min_size=1),
    widgets=st.integers(0, 500).map(Decimal),
    refresh_minutes=st.decimals("0.1", 43_200, places=1),
    window_days=st.decimals(0, 400, places=1),
    hours_open_per_month=st.decimals(0, 10**5, places=1),
    indexed=st.booleans(),
    skip_ratio=st.none() | shares,
    streams=st.sampled_from(Streams),
)
workloads = st.builds(
    Workload,
    **{quantity.key: maybe for quantity in USAGE if quantity.key not in {"storage_compression", "table_months"}},
    storage_compression=st.none() | st.decimals("0.01", 1, places=3),
    table_months=st.none() | st.decimals(1, 1200, places=1),
    kb_per_session=sizes,
    event_kb_per_session=sizes,
    split_telemetry=st.booleans(),
    queries=st.none() | st.lists(query_classes, max_size=3).map(tuple),
    dashboards=st.lists(dashboards, max_size=2).map(tuple),
    runtime=st.none() | st.builds(RuntimeUse, *4 * (maybe,)),
)
pieces = st.builds(
    Pieces,
    **{count.key: st.integers(0, 10**6).map(Decimal) for count in COUNTS},
    **{flag: st.booleans() for flag in FLAGS},
)
deployments = st.builds(
    Deployment,
    region=st.just("us-east-1"),
    regime=st.none() | st.sampled_from(Regime),
    indexing_percentage=st.none() | st.decimals(0, 100, places=2),
    retention_days=st.none() | st.integers(1, 3653).map(Decimal),
    masking=st.booleans(),
    log_class=st.sampled_from(LogClass),
    pieces=pieces,
)
scenarios = st.builds(Scenario, deployment=deployments, workload=workloads)


def priced(scenario: Scenario) -> Estimate:
    """Price a scenario with the shipped prices."""
    return estimate(scenario, PRICES, TODAY)


@given(scenarios)
def test_total_is_the_sum_of_the_known_lines(scenario: Scenario) -> None:
    """The exact total is the sum of the exact lines, and the rest is listed as unknown."""
    result = priced(scenario)
    known = [line.monthly for line in result.lines if line.monthly is not None]

    exact = [line.row.charge(line.quantity) for line in result.lines if line.quantity is not None]

    assert result.total == (sum(known, Decimal(0)) if known else None)
    assert exact == known
    assert len(known) + len(result.unknown) == len(result.lines)


@given(scenarios, st.decimals(1, 1000, places=2))
def test_more_sessions_never_cost_less(scenario: Scenario, factor: Decimal) -> None:
    """Every line grows, or stays, with the sessions."""
    sessions = scenario.workload.sessions or Decimal(1)
    few = replace(scenario.workload, sessions=sessions)
    many = replace(scenario.workload, sessions=sessions * factor)
    pairs = zip(
        priced(replace(scenario, workload=few)).lines, priced(replace(scenario, workload=many)).lines, strict=True
    )

    for less, more in pairs:
        assert (less.monthly is None) == (more.monthly is None)
        assert less.monthly is None or more.monthly is None or less.monthly <= more.monthly


@given(scenarios)
def test_first_month_never_costs_more_than_a_steady_one(scenario: Scenario) -> None:
    """A store that fills is at most as full as a full one, once the archive holds a month or more."""
    months = max(scenario.workload.archive_months or Decimal(12), Decimal(1))
    settled = replace(scenario, workload=replace(scenario.workload, archive_months=months))

    for line in priced(settled).lines:
        assert line.monthly is None or line.first_month is None or line.first_month <= line.monthly


@given(workloads, deployments)
def test_archive_leaves_the_bytes_of_address(workload: Workload, deployment: Deployment) -> None:
    """The archive's spans and event lines weigh what those of address weigh, whatever the workload."""
    archive, address = (
        Scenario(replace(deployment, regime=regime), workload) for regime in (Regime.ARCHIVE, Regime.ADDRESS)
    )

    assert (archive.span_gb, archive.event_gb) == (address.span_gb, address.event_gb)


@given(st.sampled_from([row for row in PRICES.rows if len(row.tiers) > 1]), st.decimals(0, 1, places=9), st.data())
def test_tiers_are_continuous(row: object, step: Decimal, data: st.DataObject) -> None:
    """Around a bound a little more costs a little more: no part is charged twice, and none left out."""
    multi = next(each for each in PRICES.rows if each == row)
    bound = data.draw(st.sampled_from([tier.up_to for tier in multi.tiers if tier.up_to]))
    before, after = multi.charge(bound - step), multi.charge(bound + step)

    assert 0 <= after - before <= 2 * step * multi.tiers[0].usd


@given(scenarios)
def test_unknown_usage_is_never_free(scenario: Scenario) -> None:
    """Without usage nothing that depends on it has an amount but what costs nothing in any case."""
    nothing = Workload(queries=None)
    result = priced(replace(scenario, workload=nothing))
    # At 1 % or less indexing is free whatever the traffic; what is charged by the piece does not depend on traffic.
    fixed = {"indexing", "dashboards", "metrics", "alarms", "alarms_high_resolution", "alarms_composite", "kms_keys"}

    assert all(line.monthly is None for line in (*result.lines, *result.scale) if line.key not in fixed)
    assert all(line.first_month is None for line in (*result.lines, *result.scale) if line.key not in fixed)


VOLUMES = [quantity for quantity in USAGE if quantity.key != "storage_compression"]


@given(scenarios, st.sampled_from(VOLUMES), st.decimals(1, 1000, places=2))
def test_more_of_any_volume_never_costs_less(scenario: Scenario, volume: Quantity, factor: Decimal) -> None:
    """Each number of `[usage]` moves the total up, or not at all."""
    stated = getattr(scenario.workload, volume.key) or Decimal(1)
    less, more = (priced(under(scenario, **{volume.key: amount})) for amount in (stated, stated * factor))

    assert len(less.lines) == len(more.lines)
    assert less.total is None or more.total is None or less.total <= more.total
    assert less.scale_total is None or more.scale_total is None or less.scale_total <= more.scale_total


@given(scenarios, st.sampled_from(COUNTS), st.integers(0, 1000))
def test_more_pieces_never_cost_less(scenario: Scenario, count: Quantity, more: int) -> None:
    """An alarm, a dashboard, a key: each one adds."""
    held = scenario.deployment.pieces
    grown: Any = {count.key: getattr(held, count.key) + more}
    few, many = (
        priced(scenario),
        priced(replace(scenario, deployment=replace(scenario.deployment, pieces=replace(held, **grown)))),
    )

    assert few.total is None or many.total is None or few.total <= many.total


GRADUATED = {row.id for row in PRICES.rows if len(row.tiers) > 1}
BY_SESSION = {
    *("event_ingestion", "stdout_ingestion", "split_ingestion", "indexing", "storage", "masking", "queries"),
    *("dashboard_queries", "audit_storage", "audit_requests", "table_writes", "table_reads", "table_storage"),
    *("archive_reads", "runtime_vcpu", "runtime_memory"),
}


@given(scenarios, st.integers(1, 1000).map(Decimal))
def test_k_times_the_sessions_cost_k_times_as_much(scenario: Scenario, factor: Decimal) -> None:
    """Where a meter counts sessions and its price has no tiers; all else is fixed, or counted by the month."""
    sessions = scenario.workload.sessions or Decimal(1)
    once, times = (
        {
            line.key: line
            for result in [priced(replace(scenario, workload=replace(scenario.workload, sessions=number)))]
            for line in (*result.lines, *result.scale)
        }
        for number in (sessions, sessions * factor)
    )

    for key in BY_SESSION & once.keys():
        before, after = once[key].monthly, times[key].monthly
        assert once[key].row.id not in GRADUATED
        assert (before is None) == (after is None)
        if before is not None and after is not None:
            assert abs(after - before * factor) <= after * Decimal("1e-20")
