"""Whoever erases is told what stays, and only what may."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from console.erase.erasing import Fate, Found, Outcome, Plan
from console.erase.limits import Trail, limits
from console.erase.readers import Readers, readers_in
from console.erase.showing import document, outcome_card, plan_card
from console.erase.target import Target, sessions_of, target_of
from console.errors import BadInputError
from console.trace.record import Material, Note
from tests.agent_image.grounds import RETURNS

FORM = RETURNS.fingerprint
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
EVIL = "s\x1b[2J\n9"
SESSIONS = (
    Found("s1", Fate.ERASED, copies=2, left=1),
    Found("s2", Fate.IN_USE, copies=1),
    Found("s3", Fate.FAILED, why="unavailable"),
    Found("s4", Fate.NOT_LOCATED),
    Found(EVIL, Fate.CLEAN),
)
PLAN = Plan(FORM.text, None, forged=True, words=None, sessions=SESSIONS)
NOTHING = Plan(FORM.text, None, forged=False, words=None, sessions=())


def told(plan: Plan, readers: Readers, trail: Trail, *, in_aws: bool = True) -> dict[str, str]:
    return {limit.code: limit.text for limit in limits(plan, readers, trail, in_aws=in_aws)}


def test_the_trail_is_named_where_it_holds_words() -> None:
    """By the regime, or by a span that was found; until the last one expires."""
    found, none = Readers(words=2, words_at=NOON), Readers()

    assert "trail" not in told(NOTHING, none, Trail("/g"))
    assert told(NOTHING, found, Trail("/g", retention=timedelta(days=30)))["trail"].endswith(
        "the last that was found expires on 2026-03-02"
    )
    assert told(NOTHING, none, Trail("/g", content=True, retention=timedelta(days=7)))["trail"].endswith(
        "they expire 7 days after they were written"
    )
    assert told(NOTHING, found, Trail("spans.jsonl"), in_aws=False)["trail"].endswith("nothing there expires by itself")


def test_what_lies_elsewhere_and_what_was_left_is_named() -> None:
    """Counted, where it can be."""
    found = told(PLAN, Readers(), Trail("/g", elsewhere="https://otel.example.com"))

    assert found["destination"].startswith("spans go to https://otel.example.com:")
    assert found["arguments"].startswith("1 of a call's arguments")
    assert found["not_located"].startswith("1 of the sessions")
    assert {"arguments", "not_located", "destination"} & told(NOTHING, Readers(), Trail("/g")).keys() == set()


def test_backups_are_aws_s_and_the_disk_is_the_laptop_s() -> None:
    """Nobody is told of what is not there."""
    assert {"state", "backups"} <= told(NOTHING, Readers(), Trail("/g")).keys()
    assert {"state", "backups"} & told(NOTHING, Readers(), Trail("/g"), in_aws=False).keys() == set()
    assert "disk" in told(NOTHING, Readers(), Trail("/g"), in_aws=False)


def test_an_outcome_that_is_not_whole_says_how_to_go_on() -> None:
    """With the very command; what a trail calls a session begins no line of its own."""
    outcome = Outcome(PLAN, "throttled", "abc", "audit_full")
    card = outcome_card(outcome, limits(PLAN, Readers(), Trail("/g"), in_aws=True), Readers(), " --environment prod")

    assert card.commands == (("again", f"rastro erase {FORM.text} --environment prod"),)
    assert len(card.warnings) == 3
    assert card.rows[0].lines == ("failed (throttled)",)
    assert card.rows[1].lines[:4] == (
        "s1: erased, 2 copies, 1 that stay",
        "s2: left: a run works on it, 1 copy",
        "s3: failed (unavailable)",
        "s4: was reading it, and no copy was found",
    )
    assert not outcome.done
    whole = Outcome(NOTHING, "", "abc")
    assert whole.done
    assert outcome_card(whole, (), Readers(), "").commands == ()


def test_an_outcome_says_what_was_not_read() -> None:
    """Whoever said yes beforehand has seen no plan: more sessions may have been reading the passage."""
    notes = (Note("partial", "not all was read", partial=True), Note("n", "good to know"))

    card = outcome_card(Outcome(NOTHING, "", "abc"), (), Readers(notes=notes), "")

    assert card.warnings == ("not all was read",)
    assert card.badge != "erased"
    assert [what for what, _ in card.commands] == ["again"]


def test_a_plan_warns_of_what_is_not_whole() -> None:
    """Of a trail that was not read to its end, and of other words in the passage's place."""
    notes = (Note("partial", "not all was read", partial=True), Note("n", "good to know"))
    many = Plan(FORM.text, None, forged=True, words=None, sessions=SESSIONS * 20)

    card = plan_card(many, (), notes)

    assert card.warnings == (
        "the archive holds other words under this fingerprint; they go as well",
        "not all was read",
    )
    assert card.rows[1].lines[-1] == "and 50 more; --json lists them"
    assert len(document(many, (), notes, {})["sessions"]) == 100


def test_an_empty_trail_has_no_readers() -> None:
    """And says what it has to say."""
    note = Note("code", "text")

    assert readers_in(Material(notes=(note,)), FORM.text) == Readers(notes=(note,))


@pytest.mark.parametrize(
    ("named", "length"),
    [(FORM.text, None), (f" {FORM.text}\n", None), (str(FORM), FORM.length), (f"s3://a#b/c.md#{FORM}", FORM.length)],
)
def test_a_passage_is_named_in_one_of_three_ways(named: str, length: int | None) -> None:
    """By its fingerprint, with its length, by its address."""
    assert target_of(named) == Target(FORM.text, length)


@pytest.mark.parametrize("named", ["", "x", f"{FORM.text}.", f"{FORM.text}.x", FORM.text[:-1] + "!", "s3://kb/a.md"])
def test_what_names_none_is_refused(named: str) -> None:
    """With what is allowed."""
    with pytest.raises(BadInputError, match="allowed: a fingerprint of 24 characters"):
        target_of(named)


def test_sessions_are_named_by_what_can_be_an_id() -> None:
    """Each once; every fault is told at once."""
    assert sessions_of(["a", " a ", "b"]) == ("a", "b")
    with pytest.raises(BadInputError) as refused:
        sessions_of(["", "a", "x" * 257, "\x1b"])
    assert str(refused.value).count("--session is") == 3
