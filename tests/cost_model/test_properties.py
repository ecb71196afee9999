"""State laws that hold for every workload."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import KB_PER_SESSION_REGIMES, Regime
from cost_model.deployment import Deployment
from cost_model.estimate import Estimate, estimate
from cost_model.prices import load_prices
from cost_model.scenario import Scenario
from cost_model.workload import QueryClass, Workload
from tests.cost_model.conftest import TODAY

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
)
sizes = st.dictionaries(st.sampled_from(KB_PER_SESSION_REGIMES), volumes).map(MappingProxyType)
workloads = st.builds(
    Workload,
    sessions=maybe,
    spans_per_session=maybe,
    passages_per_session=maybe,
    distinct_passages=maybe,
    passage_kb=maybe,
    archive_months=maybe,
    kb_per_session=sizes,
    event_kb_per_session=sizes,
    queries=st.none() | st.lists(query_classes, max_size=3).map(tuple),
)
deployments = st.builds(
    Deployment,
    region=st.just("us-east-1"),
    regime=st.none() | st.sampled_from(Regime),
    indexing_percentage=st.none() | st.decimals(0, 100, places=2),
    retention_days=st.none() | st.integers(1, 3653).map(Decimal),
    masking=st.booleans(),
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

    assert result.total == (sum(known, Decimal(0)) if known else None)
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
    """Without sessions and sizes nothing that depends on them has an amount but what costs nothing in any case."""
    nothing = Workload(queries=None)
    result = priced(replace(scenario, workload=nothing))
    free = {"indexing"}  # at 1 % or less it is free whatever the traffic

    assert all(line.monthly is None for line in result.lines if line.key not in free)
    assert all(line.first_month is None for line in result.lines if line.key not in free)
