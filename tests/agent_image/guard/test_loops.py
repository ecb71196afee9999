"""A loop is the same calls with the same arguments and the same results, over and over, and nothing else."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.guard.watch import Anomaly, Finding, Observed, Remedy, Severity, Watch
from tests.agent_image.guard.steps import RULES, call, kinds, step, watched

LOOPING = {Anomaly.LOOP, Anomaly.POLL, Anomaly.MONOLOGUE}


def named(letters: str) -> list[Observed]:
    """Give a step for each letter: equal letters are equal calls with equal results."""
    return [step(call("read", {"path": letter})) for letter in letters]


def remedies(found: list[tuple[Finding, ...]]) -> list[list[Remedy]]:
    return [[finding.remedy for finding in findings if finding.kind is Anomaly.LOOP] for findings in found]


def test_reading_three_different_files_is_no_loop() -> None:
    """One tool's name three times over says nothing."""
    _, found = watched(step(call("read", {"path": path}, path)) for path in ["a", "b", "c", "d", "e"])

    assert kinds(found) == set()


def test_the_same_call_that_brings_back_something_new_is_no_loop() -> None:
    """A result that changes is progress."""
    _, found = watched(step(call("next_page", {}, page)) for page in range(20))

    assert kinds(found) == set()


@pytest.mark.parametrize("letters", ["AAA", "ABABAB", "ABCABCABC", "ABCDABCDABCD", "XYZAAA", "XABABAB"])
def test_three_rounds_of_a_circle_are_a_loop(letters: str) -> None:
    """Circles of one to four steps, wherever they begin; found by the step that closes the third round."""
    _, found = watched(named(letters))

    assert remedies(found) == [[]] * (len(letters) - 1) + [[Remedy.NUDGE]]


@pytest.mark.parametrize("letters", ["AA", "ABAB", "ABCABC", "ABABA", "AABAAB", "ABCDEABCDEABCDE", "ABBABBAB"])
def test_less_than_three_rounds_or_a_longer_circle_is_none(letters: str) -> None:
    """Trying a thing twice is no crime."""
    _, found = watched(named(letters))

    assert kinds(found) == set()


def test_a_loop_tells_its_period() -> None:
    """Evidence is codes and numbers."""
    _, found = watched(named("ABABAB"))

    assert found[-1] == (
        Finding(
            kind=Anomaly.LOOP,
            severity=Severity.INFO,
            remedy=Remedy.NUDGE,
            evidence={"period": 2, "rounds": 3, "rung": 1},
        ),
    )


def test_four_steps_that_only_write_are_no_loop_of_calls() -> None:
    """No call, no fingerprint: four empty steps do not equal one another."""
    _, found = watched(step(text=(number,)) for number in range(4))

    assert kinds(found) == set()


def test_a_text_between_equal_calls_does_not_hide_them() -> None:
    """A step that only writes neither is a loop nor ends one."""
    says = iter(range(100))
    mixed = [one for equal in named("AAA") for one in (equal, step(text=(next(says),)))]
    _, found = watched(mixed)

    assert kinds(found) == {Anomaly.LOOP}


def test_the_calls_of_a_step_count_together_in_any_order() -> None:
    """They run side by side: which ends first says nothing."""
    a, b = call("read", {"path": "a"}), call("read", {"path": "b"})

    _, found = watched([step(a, b), step(b, a), step(a, b)])
    assert kinds(found) == {Anomaly.LOOP}

    _, found = watched([step(a, b), step(a), step(a, b), step(b)])
    assert kinds(found) == set()


def test_a_step_does_not_equal_another_whose_calls_swapped_results() -> None:
    """Each result belongs to its call."""
    steps = [
        step(call("read", {"path": "a"}, first), call("read", {"path": "b"}, second))
        for first, second in [("x", "y"), ("y", "x"), ("x", "y")]
    ]
    _, found = watched(steps)

    assert kinds(found) == set()


def test_the_remedy_goes_up_the_ladder() -> None:
    """Told, held, ended: in each of the three steps that insist."""
    watch, found = watched(named("AAA"))
    a, b = call("read", {"path": "A"}), call("read", {"path": "B"})
    assert watch.verdict(a.fingerprint) is Remedy.BLOCK
    assert watch.verdict(b.fingerprint) is None

    held = call("read", {"path": "A"}, held=True)
    watch, blocked = watched([step(held)], watch=watch)
    assert watch.verdict(a.fingerprint) is Remedy.STOP
    _, stopped = watched([step(held)], watch=watch)

    assert remedies([*found, *blocked, *stopped]) == [[], [], [Remedy.NUDGE], [Remedy.BLOCK], [Remedy.STOP]]
    assert [one.severity for findings in [*blocked, *stopped] for one in findings] == [
        Severity.WARNING,
        Severity.CRITICAL,
    ]


def test_the_ladder_is_climbed_although_nobody_holds_the_calls() -> None:
    """Whoever only looks after each step still ends at STOP."""
    _, found = watched(named("AAAAA"))

    assert remedies(found) == [[], [], [Remedy.NUDGE], [Remedy.BLOCK], [Remedy.STOP]]


def test_no_call_is_held_before_the_model_was_told() -> None:
    """Two equal steps are no loop yet."""
    watch, _ = watched(named("AA"))

    assert watch.verdict(call("read", {"path": "A"}).fingerprint) is None


def test_each_call_of_a_circle_is_held() -> None:
    """ABABAB holds A and B, and lets C pass."""
    watch, _ = watched(named("ABABAB"))
    verdicts = [watch.verdict(call("read", {"path": letter}).fingerprint) for letter in "ABC"]

    assert verdicts == [Remedy.BLOCK, Remedy.BLOCK, None]


def test_progress_frees_what_was_held() -> None:
    """After another step the same call may tell something new."""
    watch, _ = watched(named("AAAB"))

    assert watch.verdict(call("read", {"path": "A"}).fingerprint) is None


def test_a_loop_that_comes_back_is_met_where_its_ladder_was_left() -> None:
    """Each rung once: the model has been told already."""
    _, found = watched(named("AAABAAACAAA"))

    assert [one for one in remedies(found) if one] == [[Remedy.NUDGE], [Remedy.BLOCK], [Remedy.STOP]]


def test_a_circle_is_the_same_wherever_it_begins() -> None:
    """ABABAB and BABABA share a ladder."""
    _, found = watched(named("ABABABCBABABA"))

    assert [one for one in remedies(found) if one] == [[Remedy.NUDGE], [Remedy.BLOCK]]


def test_a_held_call_beside_a_new_one_is_progress_until_the_ladder_ends() -> None:
    """A step that tries something else goes on; one that insists on what ends the run does not."""
    held, new = call("read", {"path": "A"}, held=True), call("read", {"path": "B"})
    watch, found = watched([*named("AAA"), step(held, new)])
    assert remedies(found)[-1] == []
    assert watch.verdict(held.fingerprint) is None

    _, found = watched([*named("AAA"), step(held), step(new, held)])
    assert remedies(found)[-1] == [Remedy.STOP]


def test_a_person_who_speaks_resets_the_ladder() -> None:
    """A user may ask for the same again."""
    watch, _ = watched(named("AAAA"))
    watch = watch.reset()
    _, found = watched(named("AAA"), watch=watch)

    assert remedies(found) == [[], [], [Remedy.NUDGE]]


def test_a_call_that_fails_four_times_ends_the_run() -> None:
    """Told at the third failure, ended at the fourth, however the errors are worded."""
    watch, found = watched(step(call("pay", {}, f"error {n}", is_error=True)) for n in range(3))
    assert remedies(found) == [[], [], [Remedy.NUDGE]]
    assert watch.verdict(call("pay").fingerprint) is None  # it may be tried once more

    watch, found = watched([step(call("pay", {}, "error 3", is_error=True))], watch=watch)
    assert remedies(found) == [[Remedy.STOP]]
    assert watch.verdict(call("pay").fingerprint) is Remedy.STOP


def test_failures_of_different_calls_are_no_loop() -> None:
    """Trying other arguments is what a model should do."""
    _, found = watched(step(call("pay", {"n": n}, "denied", is_error=True)) for n in range(4))

    assert Anomaly.LOOP not in kinds(found)


def test_a_call_that_succeeds_at_last_is_no_loop() -> None:
    """Three failures and a success are what retries are for."""
    watch, found = watched(
        [*(step(call("pay", is_error=True)) for _ in range(3)), step(call("pay", {}, "paid")), step(call("pay", {}, 2))]
    )

    assert remedies(found)[3:] == [[], []]
    assert watch.verdict(call("pay").fingerprint) is None


def test_a_step_of_which_one_call_succeeded_did_not_fail() -> None:
    """The failing rule is for steps that brought back nothing."""
    steps = [step(call("pay", {}, n, is_error=True), call("read", {}, n)) for n in range(4)]

    assert Anomaly.LOOP not in kinds(watched(steps)[1])


def test_the_172_equal_calls_of_a_tool_that_hid_its_error_end_at_the_fifth() -> None:
    """The tool says "success" each time: what comes back is the same nevertheless."""
    ended = None
    watch = Watch()
    for number in range(1, 173):
        verdict = watch.verdict(call("write_file", {"path": "a"}).fingerprint)
        if verdict is Remedy.STOP:
            ended = number
            break
        held = verdict is Remedy.BLOCK
        watch, _ = watch.observed(step(call("write_file", {"path": "a"}, "", held=held)), RULES)

    assert ended == 5


def test_the_172_equal_failing_calls_end_at_the_fourth() -> None:
    """An error that is said ends it earlier."""
    found = watched(step(call("write_file", {"path": "a"}, "denied", is_error=True)) for _ in range(172))[1]
    first_stop = next(n for n, one in enumerate(remedies(found), 1) if Remedy.STOP in one)

    assert first_stop == 4


def test_the_220_calls_whose_counter_alone_changed_are_equal() -> None:
    """An argument that the tool declared volatile does not count; one that it did not declare does."""
    declared = (step(call("think", {"thought": "x", "number": n}, volatile=["number"])) for n in range(220))
    undeclared = (step(call("think", {"thought": "x", "number": n})) for n in range(220))

    assert remedies(watched(islice(declared, 5))[1])[-1] == [Remedy.STOP]
    assert kinds(watched(undeclared)[1]) == set()


LETTERS = st.integers(0, 3)


@given(st.lists(LETTERS, max_size=60))
def test_new_observations_are_never_a_loop(letters: list[int]) -> None:
    """Whatever is called, in whatever order: as long as something new comes back, it is progress."""
    steps = [step(call("read", {"path": letter}, number)) for number, letter in enumerate(letters)]
    watch, found = watched(steps)

    assert not kinds(found) & LOOPING
    assert all(watch.verdict(one.calls[0].fingerprint) is None for one in steps)


@given(st.lists(LETTERS, max_size=30), st.lists(LETTERS, min_size=1, max_size=4))
def test_three_rounds_are_always_a_loop(before: list[int], circle: list[int]) -> None:
    """Whatever came before, and whatever the circle is made of."""
    steps = [step(call("read", {"path": letter})) for letter in [*before, *circle * 3]]
    watch, found = watched(steps)

    assert Anomaly.LOOP in {finding.kind for finding in found[-1]}
    assert watch.verdict(steps[-1].calls[0].fingerprint) in {Remedy.BLOCK, Remedy.STOP}


@given(st.lists(LETTERS, max_size=40))
def test_what_is_found_is_what_the_definition_says(letters: list[int]) -> None:
    """A loop is found exactly where the last 3p steps are three equal rounds, for a p from 1 to 4."""
    _, found = watched(step(call("read", {"path": letter})) for letter in letters)
    for end, findings in enumerate(found, 1):
        tail = [letters[max(0, end - 3 * p) : end] for p in range(1, 5)]
        expected = any(len(one) == 3 * p and one == one[:p] * 3 for p, one in enumerate(tail, 1))

        assert (Anomaly.LOOP in {finding.kind for finding in findings}) == expected
