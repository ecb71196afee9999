"""What a session spends is looked at after each step, in whole nano-dollars; unknown is not zero."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from agent_image.guard.budget import Amount, Limits, nano
from agent_image.guard.pace import Baseline
from agent_image.guard.watch import Anomaly, Finding, Observed, Remedy, Severity, WatchRules
from tests.agent_image.guard.steps import NOON, step, watched

CENT = nano(Decimal("0.01"))
SOFT = Amount(50 * CENT, 200_000, 25)
LIMITED = WatchRules(limits=Limits(soft=SOFT, hard=SOFT.times(4)))
PER_MINUTE = WatchRules(cost_per_minute_nano=10 * CENT)


def costing(*nanos: int | None, seconds: float = 600) -> list[Observed]:
    """Give steps that cost something, with a pause before each."""
    return [step(text=(n,), at=NOON + timedelta(seconds=seconds * n), cost_nano=one) for n, one in enumerate(nanos)]


def spending(*cents: int, steps: int = 1) -> list[Observed]:
    """Give steps after which a session has spent so much."""
    return [step(text=(n,), spent=Amount(one * CENT, 0, steps)) for n, one in enumerate(cents)]


def of(kind: Anomaly, found: list[tuple[Finding, ...]]) -> list[tuple[int, Remedy]]:
    return [(n, one.remedy) for n, findings in enumerate(found, 1) for one in findings if one.kind is kind]


def test_exactly_at_the_budget_nothing_is_over() -> None:
    """A nano-dollar more is."""
    assert of(Anomaly.COST, watched(spending(10, 50), LIMITED)[1]) == []
    _, found = watched([step(text=(1,), spent=Amount(50 * CENT + 1, 0, 1))], LIMITED)
    assert found[0] == (
        Finding(
            kind=Anomaly.COST,
            severity=Severity.WARNING,
            remedy=Remedy.NOTE,
            evidence={"nano_usd": 50 * CENT + 1, "limit_nano_usd": 50 * CENT},
        ),
    )


def test_each_budget_is_said_once() -> None:
    """A person may have granted another: then the next is said."""
    assert of(Anomaly.COST, watched(spending(49, 51, 60, 99, 101, 120), LIMITED)[1]) == [
        (2, Remedy.NOTE),
        (5, Remedy.NOTE),
    ]


def test_beyond_the_hard_limit_every_step_ends_the_run() -> None:
    """Whoever goes on is stopped again."""
    _, found = watched(spending(200, 201, 202), LIMITED)

    assert of(Anomaly.COST, found)[-2:] == [(2, Remedy.STOP), (3, Remedy.STOP)]
    assert [one.severity for one in found[-1] if one.kind is Anomaly.COST] == [Severity.CRITICAL]


def test_a_budget_of_nothing_is_passed_by_anything() -> None:
    """Nothing is a limit, not the lack of one."""
    rules = WatchRules(limits=Limits(soft=Amount(0, 1, 1), hard=Amount(CENT, 1, 1)))

    assert of(Anomaly.COST, watched(spending(0, 1, 1), rules)[1]) == [(2, Remedy.NOTE)]


def test_without_limits_no_sum_is_too_much() -> None:
    """The watch knows no limit of its own."""
    assert watched(spending(10**6))[1] == [()]


def test_more_than_a_minutes_share_within_a_minute_is_too_fast() -> None:
    """Said once, and again after it has been slower."""
    _, found = watched(costing(4 * CENT, 4 * CENT, 4 * CENT, 4 * CENT, seconds=10), PER_MINUTE)
    assert of(Anomaly.COST_RATE, found) == [(3, Remedy.NOTE)]
    assert found[2][0].evidence == {"minute_nano_usd": 12 * CENT}

    at_once = costing(4 * CENT, 4 * CENT, 4 * CENT, seconds=0.5)
    assert of(Anomaly.COST_RATE, watched(at_once, PER_MINUTE)[1]) == [(3, Remedy.NOTE)]

    twice = [*costing(11 * CENT, seconds=1), *costing(0, 0, 11 * CENT, seconds=120)]
    assert of(Anomaly.COST_RATE, watched(twice, PER_MINUTE)[1]) == [(1, Remedy.NOTE), (4, Remedy.NOTE)]


def test_the_same_spread_over_minutes_is_not() -> None:
    """Ten cents a minute are allowed."""
    assert of(Anomaly.COST_RATE, watched(costing(*[5 * CENT] * 20, seconds=30), PER_MINUTE)[1]) == []


def test_a_clock_that_jumps_loses_no_more_than_a_minute() -> None:
    """Backwards or forwards: what is a minute away is not of this minute."""
    jumps = [step(text=(n,), at=NOON + timedelta(hours=hours), cost_nano=9 * CENT) for n, hours in enumerate([2, 0, 3])]
    assert of(Anomaly.COST_RATE, watched(jumps, PER_MINUTE)[1]) == []

    back = [step(text=(n,), at=NOON - timedelta(seconds=20 * n), cost_nano=6 * CENT) for n in range(2)]
    assert of(Anomaly.COST_RATE, watched(back, PER_MINUTE)[1]) == [(2, Remedy.NOTE)]


def test_a_step_far_dearer_than_those_before_is_told() -> None:
    """Against the session's own baseline, once there is one."""
    usual = [CENT + n % 3 for n in range(8)]

    assert of(Anomaly.COST_STEP, watched(costing(*usual, 3 * CENT))[1]) == [(9, Remedy.NOTE)]
    assert of(Anomaly.COST_STEP, watched(costing(*usual[:7], 3 * CENT))[1]) == []
    assert of(Anomaly.COST_STEP, watched(costing(*usual, CENT + CENT // 2))[1]) == []


def test_steps_that_vary_widely_make_none_stand_out() -> None:
    """Twice the mean is nothing among such."""
    assert of(Anomaly.COST_STEP, watched(costing(*[1, 5 * CENT] * 10, 8 * CENT))[1]) == []


def test_a_step_of_unknown_cost_is_left_out() -> None:
    """As zeros, eight of them would make the next one stand out."""
    _, found = watched(costing(*[None] * 8, CENT))
    assert found[-1] == ()
    watch, _ = watched(costing(CENT, None, None))

    assert watch.pace.baseline == Baseline(1, CENT, CENT * CENT)


def test_limits_that_three_more_steps_would_pass_are_told_once() -> None:
    """Dollars, tokens or steps, at the pace so far."""
    hard = LIMITED.limits.hard if LIMITED.limits else Amount()
    for near in (
        Amount(hard.nano_usd, 0, 30),
        Amount(0, hard.tokens * 10 // 12, 10),
        Amount(0, 0, hard.steps - 2),
    ):
        steps = [step(text=(n,), spent=near) for n in range(2)]
        watch, found = watched(steps, LIMITED)
        assert of(Anomaly.BUDGET_PROJECTION, found) == [(1, Remedy.NOTE)]
        assert of(Anomaly.BUDGET_PROJECTION, watched(steps, LIMITED, watch.reset())[1]) == [(1, Remedy.NOTE)]


def test_limits_that_come_near_again_are_not_told_again() -> None:
    """Until a person has spoken."""
    near, far, again = Amount(199 * CENT, 0, 5), Amount(150 * CENT, 0, 90), Amount(199 * CENT, 0, 90)
    _, found = watched([step(text=(n,), spent=spent) for n, spent in enumerate([near, far, again])], LIMITED)

    assert of(Anomaly.BUDGET_PROJECTION, found) == [(1, Remedy.NOTE)]


def test_the_baseline_forgets_and_keeps_the_mean() -> None:
    """Older steps count half, again and again: sums and squares alike."""
    baseline = Baseline()
    for _ in range(1_000):
        baseline = baseline.with_step(CENT)

    assert baseline.steps <= 257
    assert baseline.total == baseline.steps * CENT
    assert baseline.squares == baseline.steps * CENT * CENT


def test_limits_that_three_more_steps_would_keep_are_not_told() -> None:
    """Nor is anything after fewer than three steps."""
    hard = SOFT.times(4)
    for far in (
        Amount(hard.nano_usd // 2, hard.tokens // 2, 10),
        Amount(hard.nano_usd // 2, 0, 2),
        Amount(hard.nano_usd * 2, 0, 10),  # that is passed already
        Amount(),
    ):
        assert of(Anomaly.BUDGET_PROJECTION, watched([step(text=(1,), spent=far)], LIMITED)[1]) == []


@given(st.lists(st.integers(0, 10**12), min_size=8, max_size=60), st.integers(0, 10**13))
def test_the_baseline_is_what_statistics_says(costs: list[int], more: int) -> None:
    """Whole numbers give the same answer as fractions."""
    baseline = Baseline()
    for cost in costs:
        baseline = baseline.with_step(cost)
    mean = Decimal(sum(costs)) / len(costs)
    variance = sum(((cost - mean) ** 2 for cost in costs), Decimal(0)) / len(costs)
    expected = more > 2 * mean and (more - mean) ** 2 > 16 * variance
    slack = abs((more - mean) ** 2 - 16 * variance) < 1

    assert slack or baseline.exceeded_by(more) == expected
