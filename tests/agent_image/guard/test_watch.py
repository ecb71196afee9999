"""The watch of a session is small, survives the store, and says what is worst."""

from __future__ import annotations

import json
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from agent_image.guard.budget import Amount, Limits
from agent_image.guard.codec import decode, encode
from agent_image.guard.watch import (
    Anomaly,
    Finding,
    Observed,
    PollRule,
    Remedy,
    Severity,
    Watch,
    WatchRules,
    sketch,
    strongest,
)
from tests.agent_image.guard.steps import NOON, call, kinds, step, watched

RULES = WatchRules(
    polls={f"poll-{n}": PollRule(unchanged=3) for n in range(20)},
    limits=Limits(soft=Amount(10**9, 10**6, 100), hard=Amount(10**10, 10**7, 1000)),
    cost_per_minute_nano=10**8,
)


def size(watch: Watch) -> int:
    return len(json.dumps(encode(watch)))


def busy_step(number: int) -> Observed:
    """Give a step that no detector has seen, as large as steps get: many calls of many tools, some of them refused."""
    calls = [
        call(
            f"{'poll' if number % 3 else 'tool'}-{(number + n) % 50}",
            {"n": number, "m": n},
            number,
            is_error=number % 7 == 0,
            refused=number % 11 == 0,
            held=number % 13 == 0,
        )
        for n in range(1 + number % 40)
    ]
    at, spent = NOON + timedelta(seconds=number), Amount(number * 10**6, number * 100, number)
    if number % 5 == 0:
        return step(at=at, text=sketch(f"{number} {number**9}"), cost_nano=number, spent=spent)
    return step(*calls, at=at, cost_nano=number * 10**5, spent=spent)


def test_memory_is_flat() -> None:
    """Steps that are all new, and as wide as they get: after a few hundred the watch grows no more."""
    watch, largest = Watch(), [0, 0]
    for number in range(6_000):
        watch, _ = watch.observed(busy_step(number), RULES)
        if number >= 1_000:
            largest[number >= 3_500] = max(largest[number >= 3_500], size(watch))

    assert largest[1] < largest[0] * 1.02
    assert largest[1] < 60_000


def test_memory_is_flat_over_many_loops() -> None:
    """Each of them leaves a ladder, the last few are kept."""
    sizes = []
    watch = Watch()
    for number in range(600):
        watch, found = watch.observed(step(call("read", {"n": number // 3})), RULES)
        assert bool(found) == (number % 3 == 2)
        sizes.append(size(watch))

    assert max(sizes[300:]) <= max(sizes[:300]) + 10


def test_memory_is_flat_however_wide_a_step_is() -> None:
    """What is digested covers all calls, what is kept some of them."""

    def wide(calls: int) -> int:
        watch, _ = watched([step(*(call("read", {"n": n, "m": m}) for n in range(calls))) for m in range(12)])
        return size(watch)

    assert wide(500) == wide(50)


def test_memory_is_flat_over_100_000_steps() -> None:
    """What grows is the digits of what was spent."""
    often, seldom = call("read", {"path": "a"}), call("read", {"path": "b"})
    watch, sizes = Watch(), []
    for number in range(100_000):
        one = step(
            often if number % 4 else seldom,
            at=NOON + timedelta(seconds=number),
            cost_nano=10**6,
            spent=Amount(number * 10**6, number, number),
        )
        watch, _ = watch.observed(one, RULES)
        if number in {999, 99_999}:
            sizes.append(size(watch))

    assert sizes[1] - sizes[0] < 60


@given(st.lists(st.integers(0, 300), max_size=40))
def test_a_watch_survives_the_store(numbers: list[int]) -> None:
    """Read back from its JSON it is the same, and goes on the same."""
    watch, _ = watched([busy_step(number) for number in numbers], RULES)
    read = decode(Watch, json.loads(json.dumps(encode(watch))))

    assert read == watch
    assert read.observed(busy_step(7), RULES) == watch.observed(busy_step(7), RULES)


def test_a_loop_is_found_over_restarts() -> None:
    """Each step in a process of its own."""
    document = encode(Watch())
    found = []
    for _ in range(3):
        watch, findings = decode(Watch, document).observed(step(call("read", {"path": "a"})), RULES)
        document = json.loads(json.dumps(encode(watch)))
        found.append(findings)

    assert kinds(found) == {Anomaly.LOOP}
    assert decode(Watch, document).verdict(call("read", {"path": "a"}).fingerprint) is Remedy.BLOCK


def test_a_new_session_has_an_empty_watch() -> None:
    """Its record holds nothing yet."""
    assert decode(Watch, {}) == Watch()


def test_a_watch_holds_no_text() -> None:
    """What is remembered of arguments, results and answers is digests."""
    marked = step(call("read", {"path": "marker-a"}, "marker-b"), text=sketch("marker-c"))
    watch, found = watched([marked, marked, marked, step(text=sketch("marker-d"))])

    assert kinds(found) == {Anomaly.LOOP}
    assert "marker" not in json.dumps(encode(watch)) + str(found)


def test_one_step_may_show_several_anomalies() -> None:
    """Each detector looks at every step."""
    refused = step(call("pay", refused=True))
    _, found = watched([refused] * 4)

    assert {one.kind for one in found[3]} == {Anomaly.LOOP, Anomaly.BLOCKED_STREAK}


def test_the_strongest_remedy_wins() -> None:
    """The order is that of the ladder, not of the alphabet; the first of equals."""

    def finding(remedy: Remedy, kind: Anomaly = Anomaly.LOOP) -> Finding:
        return Finding(kind=kind, severity=Severity.INFO, remedy=remedy)

    ladder = [finding(remedy) for remedy in (Remedy.NUDGE, Remedy.STOP, Remedy.NOTE, Remedy.BLOCK)]
    assert strongest(ladder) == finding(Remedy.STOP)
    assert strongest(ladder[:1] + ladder[3:]) == finding(Remedy.BLOCK)
    assert strongest([finding(Remedy.NOTE, Anomaly.COST), finding(Remedy.NOTE)]) == finding(Remedy.NOTE, Anomaly.COST)
    assert strongest([]) is None
