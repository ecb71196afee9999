"""What a session spends is counted to the last nano-dollar, and no limit gives way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.errors import StoreError
from agent_image.guard.budget import Amount, Budget, Limits, Over, nano
from agent_image.guard.codec import decode, encode

LIMITS = Limits(soft=Amount(nano(Decimal("0.50")), 1_000, 5), hard=Amount(nano(Decimal("2.00")), 4_000, 20))
AMOUNTS = st.builds(Amount, st.integers(0, 10**15), st.integers(0, 10**7), st.integers(0, 3))
SMALL = st.builds(Amount, st.integers(0, nano(Decimal("0.2"))), st.integers(0, 400), st.integers(0, 2))


def spent(amounts: Iterable[Amount]) -> Budget:
    budget = Budget()
    for n, amount in enumerate(amounts):
        budget = budget.reserve(f"step {n}", amount).settle(f"step {n}", amount)
    return budget


def within(amount: Amount, limit: Amount) -> bool:
    return amount.nano_usd <= limit.nano_usd and amount.tokens <= limit.tokens and amount.steps <= limit.steps


@given(st.lists(st.tuples(AMOUNTS, AMOUNTS)))
def test_the_steps_add_up_to_the_total(steps: list[tuple[Amount, Amount]]) -> None:
    """What was set aside leaves no trace; what was used is there to the last nano-dollar, as whole numbers."""
    budget = Budget()
    for n, (estimate, actual) in enumerate(steps):
        budget = budget.reserve(f"step {n}", estimate).settle(f"step {n}", actual)

    assert budget.spent == Amount(
        sum(actual.nano_usd for _, actual in steps),
        sum(actual.tokens for _, actual in steps),
        sum(actual.steps for _, actual in steps),
    )
    assert budget.committed == budget.spent
    assert budget.spent.usd * 10**9 == budget.spent.nano_usd


@given(st.lists(AMOUNTS, max_size=6), st.permutations(range(6)))
def test_calls_may_end_in_any_order(amounts: list[Amount], order: list[int]) -> None:
    """Calls that run side by side end as they like."""
    budget = Budget()
    for n, amount in enumerate(amounts):
        budget = budget.reserve(str(n), amount)
    for n in order:
        if n < len(amounts):
            budget = budget.settle(str(n), amounts[n])

    assert budget == spent(amounts)


@dataclass
class Cell:
    """Hold a budget that changes by compare-and-set, as a store does."""

    budget: Budget
    version: int = 0

    def put(self, budget: Budget, expected: int) -> bool:
        if self.version != expected:
            return False
        self.budget, self.version = budget, self.version + 1
        return True


@given(st.lists(SMALL, min_size=1, max_size=12), st.data())
def test_parallel_reservations_never_pass_a_limit(wanted: list[Amount], data: st.DataObject) -> None:
    """However reads and writes interleave, what is spent and set aside stays within, and each refusal was right."""
    cell = Cell(Budget())
    seen: dict[int, tuple[Budget, int]] = {}
    reserved: dict[int, Amount] = {}
    waiting = set(range(len(wanted)))
    while waiting:
        worker = data.draw(st.sampled_from(sorted(waiting)))
        if worker not in seen:
            seen[worker] = (cell.budget, cell.version)
            continue
        read, version = seen.pop(worker)
        if read.asks(LIMITS, wanted[worker]):
            assert not within(read.committed + wanted[worker], LIMITS.soft)
            waiting.remove(worker)
        elif cell.put(read.reserve(str(worker), wanted[worker]), version):
            reserved[worker] = wanted[worker]
            waiting.remove(worker)
        assert within(cell.budget.committed, LIMITS.soft)

    assert cell.budget.committed == sum(reserved.values(), start=Amount())


@given(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=20))
def test_a_session_overshoots_by_what_its_last_call_was_wrong_about(calls: list[tuple[Amount, Amount]]) -> None:
    """One call after the other: once the limit is passed, no further call is let in."""
    budget = Budget()
    for n, (estimate, actual) in enumerate(calls):
        if budget.asks(LIMITS, estimate):
            continue
        assert within(budget.spent, LIMITS.soft)
        budget = budget.reserve(str(n), estimate).settle(str(n), actual)
        error = Amount(
            max(0, actual.nano_usd - estimate.nano_usd),
            max(0, actual.tokens - estimate.tokens),
            max(0, actual.steps - estimate.steps),
        )
        assert within(budget.spent, LIMITS.soft + error)


@pytest.mark.parametrize(
    ("more", "over"),
    [
        (Amount(nano_usd=1), Over.USD),
        (Amount(tokens=1), Over.TOKENS),
        (Amount(steps=1), Over.STEPS),
    ],
)
def test_exactly_at_a_limit_nothing_is_left(more: Amount, over: Over) -> None:
    """The limit itself may be reached; one nano-dollar, token or step beyond it asks, and at the hard limit stops."""
    assert Budget().asks(LIMITS, LIMITS.soft) == ()
    assert Budget(spent=LIMITS.soft).asks(LIMITS, Amount()) == ()
    assert Budget(spent=LIMITS.soft).asks(LIMITS, more) == (over,)
    assert Budget().stops(LIMITS, LIMITS.hard) == ()
    assert Budget(spent=LIMITS.hard).stops(LIMITS, more) == (over,)


@pytest.mark.parametrize("more", [Amount(nano_usd=1), Amount(tokens=1), Amount(steps=1)])
def test_a_limit_of_zero_is_zero(more: Amount) -> None:
    """Nothing left does not mean no limit."""
    nothing = Limits(Amount(), Amount())

    assert Budget().asks(nothing, more)
    assert Budget().stops(nothing, more)


def test_a_call_that_costs_more_than_is_left_asks() -> None:
    """$100 at $0.499 of $0.50: what counts is where the call would lead, not what was spent before it."""
    budget = spent([Amount(nano_usd=nano(Decimal("0.499")))])

    assert budget.asks(LIMITS, Amount(nano_usd=nano(Decimal(100)))) == (Over.USD,)
    assert budget.stops(LIMITS, Amount(nano_usd=nano(Decimal(100)))) == (Over.USD,)
    assert budget.asks(LIMITS, Amount(nano_usd=nano(Decimal("0.001")))) == ()


def test_every_limit_that_would_be_passed_is_named() -> None:
    """A person sees all reasons, not the first."""
    assert Budget(spent=LIMITS.soft).asks(LIMITS, Amount(1, 1, 1), priced=False) == tuple(Over)


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=12))
def test_a_grant_counts_once_for_each_checkpoint(approved: list[str]) -> None:
    """A resume that is repeated raises no limit again."""
    budget = Budget()
    for checkpoint in approved:
        budget = budget.grant(checkpoint, LIMITS)
    allowed = LIMITS.soft.times(1 + len(set(approved)))

    assert budget.asks(LIMITS, allowed) == ()
    assert budget.asks(LIMITS, allowed + Amount(nano_usd=1)) == (Over.USD,)


def test_a_grant_does_not_move_the_hard_limit() -> None:
    """Whatever people approve, there is an end."""
    budget = Budget()
    for n in range(10):
        budget = budget.grant(str(n), LIMITS)

    assert budget.asks(LIMITS, LIMITS.hard + Amount(steps=1)) == ()
    assert budget.stops(LIMITS, LIMITS.hard + Amount(steps=1)) == (Over.STEPS,)


def test_a_model_without_a_price_asks_until_a_person_lets_it() -> None:
    """And then for as many steps as the budget grants, not for ever."""
    step = Amount(steps=1)
    assert Budget().asks(LIMITS, step, priced=False) == (Over.UNPRICED,)

    budget = Budget().grant("checkpoint", LIMITS)
    for _ in range(LIMITS.soft.steps):
        assert budget.asks(LIMITS, step, priced=False) == ()
        budget = budget.settle("model", step)

    assert budget.asks(LIMITS, step, priced=False) == (Over.UNPRICED,)
    assert budget.asks(LIMITS, step) == ()


@given(st.lists(AMOUNTS, max_size=5), st.lists(AMOUNTS, max_size=5))
def test_what_a_lost_run_set_aside_counts_as_spent(before: list[Amount], lost: list[Amount]) -> None:
    """It may have been used; recovering twice counts nothing twice."""
    budget = spent(before)
    for n, amount in enumerate(lost):
        budget = budget.reserve(f"lost {n}", amount)
    recovered = budget.recovered()

    assert recovered.spent == sum([*before, *lost], start=Amount())
    assert recovered.reserved == {}
    assert recovered.recovered() == recovered


@pytest.mark.parametrize("field", ["nano_usd", "tokens", "steps"])
def test_nobody_spends_less_than_nothing(field: str) -> None:
    """A negative sum cannot be made, nor read from a store: it would give back what was spent."""
    negative: dict[str, Any] = {field: -1}
    with pytest.raises(ValueError, match="less than nothing"):
        Amount(**negative)
    with pytest.raises(StoreError):
        decode(Budget, {"spent": negative})


@given(
    st.builds(
        Budget,
        spent=AMOUNTS,
        reserved=st.dictionaries(st.text(), AMOUNTS, max_size=3),
        grants=st.lists(st.text(), max_size=3).map(tuple),
        unpriced_steps=st.integers(0, 100),
    )
)
def test_a_budget_survives_the_store(budget: Budget) -> None:
    """A resume finds what was spent, set aside and granted."""
    assert decode(Budget, encode(budget)) == budget


@pytest.mark.parametrize(
    ("usd", "expected"),
    [("0", 0), ("3e-7", 300), ("0.0000000001", 1), ("0.0010000001", 1_000_001), ("1", 10**9)],
)
def test_nothing_that_costs_is_free(usd: str, expected: int) -> None:
    """0.0000003 dollars are 300 nano-dollars, not zero; a part of a nano-dollar counts as one."""
    assert nano(Decimal(usd)) == expected


@given(st.integers(0, 10**18))
def test_nano_dollars_are_exact_dollars(count: int) -> None:
    """Money goes through no float."""
    assert nano(Amount(nano_usd=count).usd) == count


@given(AMOUNTS, AMOUNTS)
def test_what_is_certain_is_spent_at_once(before: Amount, more: Amount) -> None:
    """A step that cannot turn out to be another needs no settling."""
    budget = Budget(spent=before).spend(more)

    assert budget.spent == before + more
    assert budget.reserved == {}


@given(AMOUNTS, AMOUNTS, st.integers(0, 10**6))
def test_steps_that_were_kept_elsewhere_count_once(spent: Amount, aside: Amount, steps: int) -> None:
    """Whatever else was spent or set aside stays as it is."""
    before = Budget(spent=spent).reserve("x", aside)
    after = before.at_least(steps)

    assert after.committed.steps == max(steps, before.committed.steps)
    assert after.at_least(steps) == after
    assert (after.reserved, after.spent.nano_usd, after.spent.tokens) == (before.reserved, spent.nano_usd, spent.tokens)
