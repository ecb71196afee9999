"""Streaks are true streaks, rates are per tool, and a refused call that comes back changed is seen."""

from __future__ import annotations

import pytest

from agent_image.guard.watch import Anomaly, Finding, Observed, Remedy, Seen, Severity, Watch, WatchRules
from tests.agent_image.guard.steps import call, kinds, step, watched

RULES = WatchRules(blocked_streak=2, error_streak=5)


def steps(marks: str) -> list[Observed]:
    """Give a step for each mark, each with another call: b is refused, h held by the watch, e fails, and o succeeds."""
    return [
        step(call("pay", {"n": n}, n, is_error=mark == "e", refused=mark == "b", held=mark == "h"))
        for n, mark in enumerate(marks)
    ]


def batch(marks: str) -> Observed:
    return step(*(one for single in steps(marks) for one in single.calls))


def of(kind: Anomaly, found: list[tuple[Finding, ...]]) -> list[tuple[int, Remedy]]:
    """Name the steps, from 1, at which something was found, and its remedy."""
    return [(n, one.remedy) for n, findings in enumerate(found, 1) for one in findings if one.kind is kind]


@pytest.mark.parametrize("marks", ["bob", "bobobob", "beb", "b", "obo"])
def test_refused_calls_with_another_between_are_no_streak(marks: str) -> None:
    """Two of the last three are not consecutive; a call that ran and failed ran."""
    assert of(Anomaly.BLOCKED_STREAK, watched(steps(marks), RULES)[1]) == []


def test_two_refused_calls_in_a_row_are_told_and_four_end_the_run() -> None:
    """Once at each length."""
    _, found = watched(steps("bbbbb"), RULES)

    assert of(Anomaly.BLOCKED_STREAK, found) == [(2, Remedy.NUDGE), (4, Remedy.STOP), (5, Remedy.STOP)]
    assert [one for one in found[1] if one.kind is Anomaly.BLOCKED_STREAK] == [
        Finding(kind=Anomaly.BLOCKED_STREAK, severity=Severity.WARNING, remedy=Remedy.NUDGE, evidence={"calls": 2})
    ]
    assert [one.severity for one in found[3] if one.kind is Anomaly.BLOCKED_STREAK] == [Severity.CRITICAL]


def test_a_streak_is_told_again_after_it_was_broken() -> None:
    """Each streak is one."""
    assert of(Anomaly.BLOCKED_STREAK, watched(steps("bbobb"), RULES)[1]) == [(2, Remedy.NUDGE), (5, Remedy.NUDGE)]


def test_what_the_watch_held_says_nothing_of_intent() -> None:
    """A loop is no attack: it neither counts nor breaks a streak."""
    assert of(Anomaly.BLOCKED_STREAK, watched(steps("hhhh"), RULES)[1]) == []
    assert of(Anomaly.BLOCKED_STREAK, watched(steps("bhb"), RULES)[1]) == [(3, Remedy.NUDGE)]


def test_a_person_who_speaks_does_not_end_a_streak_of_refusals() -> None:
    """Every rejection is a person who speaks: there would be no streak."""
    watch, _ = watched(steps("b"), RULES)
    _, found = watched(steps("b"), RULES, watch.reset())

    assert of(Anomaly.BLOCKED_STREAK, found) == [(1, Remedy.NUDGE)]


def test_no_step_ends_the_run_before_the_model_was_told() -> None:
    """Four refusals in one message are told once; the next one ends the run. A new streak is told anew."""
    _, found = watched([batch("bbbb"), batch("b")], RULES)
    assert of(Anomaly.BLOCKED_STREAK, found) == [(1, Remedy.NUDGE), (2, Remedy.STOP)]

    _, found = watched([batch("bb"), batch("obbbb")], RULES)
    assert of(Anomaly.BLOCKED_STREAK, found) == [(1, Remedy.NUDGE), (2, Remedy.NUDGE)]


def test_a_streak_within_one_message_is_one() -> None:
    """Calls count, in their order, not steps."""
    _, found = watched([batch("bbo"), batch("bob")], RULES)

    assert of(Anomaly.BLOCKED_STREAK, found) == [(1, Remedy.NUDGE)]


def test_five_failures_in_a_row_are_told_and_ten_end_the_run() -> None:
    """Whatever the calls were."""
    _, found = watched(steps("e" * 10), RULES)

    assert of(Anomaly.ERROR_STREAK, found) == [(5, Remedy.NUDGE), (10, Remedy.STOP)]


def test_a_success_ends_a_streak_of_errors_and_a_refusal_does_not() -> None:
    """A call that did not run tells nothing of the tools."""
    assert of(Anomaly.ERROR_STREAK, watched(steps("eeeeoeeee"), RULES)[1]) == []
    assert of(Anomaly.ERROR_STREAK, watched(steps("eebehee"), RULES)[1]) == [(7, Remedy.NUDGE)]
    assert of(Anomaly.ERROR_STREAK, watched(steps("bbbbbbbbbb"), RULES)[1]) == []


def test_a_person_who_speaks_ends_a_streak_of_errors() -> None:
    """The next question may have nothing to do with the broken tool."""
    watch, _ = watched(steps("eeee"), RULES)

    assert of(Anomaly.ERROR_STREAK, watched(steps("e"), RULES, watch.reset())[1]) == []


def test_a_refused_call_that_comes_back_with_other_arguments_is_seen() -> None:
    """Whether it is refused again, or small enough to pass."""
    refused = call("refund", {"amount": 1000}, refused=True)
    for again in (call("refund", {"amount": 999}, refused=True), call("refund", {"amount": 99})):
        watch, found = watched([step(refused), step(call("read", {}, "x"))], RULES)
        assert of(Anomaly.EDITED_RETRY, found) == []
        assert watch.retries("refund", again.fingerprint)
        _, found = watched([step(again)], RULES, watch)
        assert [one for one in found[0] if one.kind is Anomaly.EDITED_RETRY] == [
            Finding(
                kind=Anomaly.EDITED_RETRY, severity=Severity.WARNING, remedy=Remedy.NOTE, evidence={"tool": "refund"}
            )
        ]


def test_the_same_call_again_or_another_tool_is_no_edited_retry() -> None:
    """The first is a loop, the second another plan."""
    refused = call("refund", {"amount": 1000}, refused=True)
    watch, found = watched([step(refused), step(refused), step(call("open_ticket", {"amount": 1}))], RULES)

    assert of(Anomaly.EDITED_RETRY, found) == []
    assert not watch.retries("refund", refused.fingerprint)


def test_a_refusal_is_forgotten_when_the_tool_has_run_again() -> None:
    """Somebody let it: what follows is no retry of what was refused."""
    sequence = [
        call("refund", {"amount": 1000}, refused=True),
        call("refund", {"amount": 50}),
        call("refund", {"amount": 60}),
    ]
    watch, found = watched([step(one) for one in sequence], RULES)

    assert of(Anomaly.EDITED_RETRY, found) == [(2, Remedy.NOTE)]
    assert not watch.retries("refund", call("refund", {"amount": 70}).fingerprint)


def test_a_refusal_outlives_a_reset() -> None:
    """The rejection itself is a person who speaks."""
    watch, _ = watched([step(call("refund", {"amount": 1000}, refused=True))], RULES)

    assert watch.reset().retries("refund", call("refund", {"amount": 1}).fingerprint)


def outcomes(tool: str, marks: str) -> list[Seen]:
    return [call(tool, {"n": n}, n, is_error=mark == "e") for n, mark in enumerate(marks)]


def test_a_tool_half_of_whose_calls_fail_is_told_once() -> None:
    """From six calls on; per tool; once until it has been better."""
    _, found = watched([step(one) for one in outcomes("pay", "oeoeoeoe")], RULES)
    assert of(Anomaly.TOOL_ERROR_RATE, found) == [(6, Remedy.NOTE)]
    assert [dict(one.evidence) for one in found[5]] == [{"tool": "pay", "failed": 3, "calls": 6}]

    _, found = watched([step(one) for one in outcomes("pay", "oooeee" + "oooooooooo" + "eoeoeoeoe")], RULES)
    assert [n for n, _ in of(Anomaly.TOOL_ERROR_RATE, found)] == [6, 25]


def test_errors_of_several_tools_do_not_add_up() -> None:
    """Three failed calls each say nothing of any."""
    calls = [one for tool in ("a", "b", "c", "d") for one in outcomes(tool, "eoeo")]

    assert of(Anomaly.TOOL_ERROR_RATE, watched([step(one) for one in calls], RULES)[1]) == []


def test_refused_and_held_calls_are_no_errors_of_a_tool() -> None:
    """They come back as errors, and never ran."""
    assert Anomaly.TOOL_ERROR_RATE not in kinds(watched(steps("bh" * 10), RULES)[1])


def test_what_is_remembered_has_a_bound() -> None:
    """However many tools there are, and however many calls are refused."""
    calls = [
        call(f"tool-{n}", {"m": m}, refused=refused) for n in range(100) for m in range(3) for refused in (False, True)
    ]
    conduct = watched([step(one) for one in calls], RULES)[0].conduct

    assert len(conduct.outcomes) == 16
    assert len(conduct.refusals) == 8
    assert conduct.retries("tool-99", "another")


def test_an_empty_watch_has_refused_nothing() -> None:
    """Nothing is a retry of nothing."""
    assert not Watch().retries("refund", "x")
