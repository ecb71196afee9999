"""A tool that is declared to be polled may be asked the same again: not at once, and not for ever."""

from __future__ import annotations

from datetime import timedelta

from agent_image.guard.watch import Anomaly, Observed, PollRule, Remedy, WatchRules
from tests.agent_image.guard.steps import NOON, call, kinds, step, watched

RULES = WatchRules(polls={"status": PollRule(min_interval_seconds=10, unchanged=6)})


def polls(count: int, seconds: float, tool: str = "status") -> list[Observed]:
    return [step(call(tool, {}, "running"), at=NOON + timedelta(seconds=seconds * n)) for n in range(count)]


def test_a_poll_that_waits_is_no_loop() -> None:
    """Nothing new is what a poll expects."""
    assert kinds(watched(polls(5, 10), RULES)[1]) == set()


def test_a_poll_that_does_not_wait_is_a_loop() -> None:
    """Sooner than the interval it is a call like any other."""
    assert kinds(watched(polls(4, 9.9), RULES)[1]) == {Anomaly.LOOP}


def test_a_tool_that_nobody_declared_is_a_loop_however_long_it_waits() -> None:
    """Only a declared poll may find nothing new."""
    assert kinds(watched(polls(3, 3600, tool="read"), RULES)[1]) == {Anomaly.LOOP}


def test_a_poll_ends_when_nothing_new_came_too_often() -> None:
    """The same ladder, from the sixth equal answer on."""
    watch, found = watched(polls(6, 60), RULES)
    assert [one.kind for one in found[-1]] == [Anomaly.POLL]
    assert found[-1][0].evidence == {"tool": "status", "unchanged": 6, "rung": 1}
    assert watch.verdict(call("status").fingerprint) is Remedy.BLOCK

    _, found = watched(polls(8, 60), RULES)
    assert [one.remedy for findings in found for one in findings] == [Remedy.NUDGE, Remedy.BLOCK, Remedy.STOP]


def test_an_answer_that_changed_begins_the_count_anew() -> None:
    """Progress, as anywhere."""
    steps = [
        step(call("status", {}, n // 5), at=NOON + timedelta(minutes=n))  # five times each answer
        for n in range(30)
    ]

    assert kinds(watched(steps, RULES)[1]) == set()


def test_a_wait_between_polls_is_no_loop() -> None:
    """Poll, sleep, poll, sleep: the poll sets each round apart."""
    steps = [
        step(call(tool, {}, "same"), at=NOON + timedelta(seconds=10 * n))
        for n in range(5)
        for tool in ("status", "sleep")
    ]

    assert kinds(watched(steps, RULES)[1]) == set()


def test_a_poll_that_fails_again_and_again_is_a_loop() -> None:
    """Waiting does not mend a broken tool."""
    steps = [step(call("status", {}, n, is_error=True), at=NOON + timedelta(minutes=n)) for n in range(4)]
    _, found = watched(steps, RULES)

    assert [one.remedy for findings in found for one in findings if one.kind is Anomaly.LOOP] == [
        Remedy.NUDGE,
        Remedy.STOP,
    ]


def test_a_clock_that_goes_backwards_counts_as_no_wait() -> None:
    """Time that cannot be told was not waited."""
    steps = [step(call("status", {}, "running"), at=NOON - timedelta(minutes=n)) for n in range(4)]

    assert kinds(watched(steps, RULES)[1]) == {Anomaly.LOOP}
