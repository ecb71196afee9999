"""A model that says nearly the same three times, and calls nothing, talks to itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.guard.monologue import READ, SKETCH_SIZE, near
from agent_image.guard.watch import Anomaly, Finding, Observed, Remedy, sketch
from tests.agent_image.guard.steps import call, kinds, step, watched

WAITING = "I am still looking for the order that you asked about, please bear with me for one more moment. Attempt {}."
PORTUGUESE = "Ainda estou à procura da encomenda que pediu, aguarde só mais um momento, por favor. Tentativa {}."
DIFFERENT = [
    "The order was shipped on Monday and will arrive within three working days.",
    "A refund takes up to ten days to reach your account once we have approved it.",
    "You can exchange the lamp in any of our shops if you bring the receipt.",
    "Gift cards never expire, and can be used for several purchases until they are empty.",
]


def texts(*said: str) -> list[Observed]:
    return [step(text=sketch(one)) for one in said]


def remedies(found: list[tuple[Finding, ...]]) -> list[Remedy]:
    return [one.remedy for findings in found for one in findings]


@pytest.mark.parametrize("text", [WAITING, PORTUGUESE, "考えています。もう少しお待ちください。{}"])
def test_three_near_equal_texts_are_a_monologue(text: str) -> None:
    """A counter, case and spaces make no new text."""
    _, found = watched(texts(text.format(1), text.upper().format(22), text.format(3).replace(" ", "  ")))

    assert [[one.kind for one in findings] for findings in found] == [[], [], [Anomaly.MONOLOGUE]]


def test_four_different_texts_are_none() -> None:
    """Steps that only write are not equal because they call nothing."""
    assert kinds(watched(texts(*DIFFERENT))[1]) == set()


def test_two_near_equal_texts_are_none() -> None:
    """Nor two, another one, and two more."""
    said = [WAITING.format(1), WAITING.format(2), DIFFERENT[0], WAITING.format(3), WAITING.format(4)]

    assert kinds(watched(texts(*said))[1]) == set()


def test_a_call_between_them_is_work() -> None:
    """A model that says the same while it works does not talk to itself."""
    steps = [one for n in range(6) for one in (*texts(WAITING.format(n)), step(call("read", {}, n)))]

    assert kinds(watched(steps)[1]) == set()


def test_the_model_is_told_once_and_then_stopped() -> None:
    """There is no call to hold."""
    assert remedies(watched(texts(*[WAITING.format(1)] * 5))[1]) == [Remedy.NUDGE, Remedy.STOP, Remedy.STOP]


def test_a_person_who_speaks_resets_it() -> None:
    """The same answer to a second question is an answer."""
    watch, _ = watched(texts(*[WAITING.format(1)] * 3))
    _, found = watched(texts(*[WAITING.format(1)] * 3), watch=watch.reset())

    assert remedies(found) == [Remedy.NUDGE]


def test_three_empty_texts_are_a_monologue() -> None:
    """Saying nothing is saying the same."""
    assert kinds(watched(texts("", " ", "\n"))[1]) == {Anomaly.MONOLOGUE}


def test_texts_that_differ_in_one_word_are_near_and_others_far() -> None:
    """Where the line is."""
    assert near(sketch(WAITING.format(1)), sketch(WAITING.format(1).replace("moment", "minute")))
    assert not any(near(sketch(one), sketch(other)) for one in DIFFERENT for other in DIFFERENT if one != other)
    shipped, refunded = (
        f"Your order {what} Is there anything else that I can do for you today?"
        for what in (
            "was shipped on Monday, and the parcel is in Lisbon.",
            "cannot be found. Which address did you give?",
        )
    )
    assert not near(sketch(shipped), sketch(refunded))  # what is polite is not what is said


def test_numbers_make_no_new_text() -> None:
    """Where the text is little else."""
    assert near(sketch("Step 1 of 12"), sketch("Step 23 of 123456"))
    assert not near(sketch("Step 1 of 12"), sketch("Stop. No way."))


@given(st.text(max_size=400), st.text(max_size=400))
def test_a_sketch_is_small_and_near_itself(one: str, other: str) -> None:
    """Any text has one, surrogates and all, and nearness has no direction."""
    assert len(sketch(one)) <= SKETCH_SIZE
    assert near(sketch(one), sketch(one))
    assert near(sketch(one), sketch(other)) == near(sketch(other), sketch(one))


def test_a_sketch_of_a_huge_text_reads_its_beginning() -> None:
    """No answer makes the detector slow."""
    beginning = "word " * (READ // 5)
    assert sketch(beginning + WAITING * 10_000) == sketch(beginning)
    assert len(sketch("".join(chr(n) for n in range(32, 50_000)))) == SKETCH_SIZE
