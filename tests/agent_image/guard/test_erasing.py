"""Erasing holds a session as a run does, gives back what it found, and can be begun again wherever it broke off."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from agent_image.contract import Choice, EventName, Item
from agent_image.errors import BUSY, StoreError
from agent_image.guard.audit import RECOVERED
from agent_image.guard.checkpoint import SKEW
from agent_image.guard.erasing import ERASING, LEASE, SessionInUse
from agent_image.guard.records import Document
from agent_image.guard.session import CONVERSATION, MESSAGES
from agent_image.guard.store import session_key
from agent_image.guard.verdict import Stages, Verdict
from agent_image.guard.wording import Rewriting
from tests.agent_image.grounds import SESSION, Stage
from tests.agent_image.guard.erased import (
    MARK,
    RED_SEARCH,
    SEARCH,
    STORY,
    WORDS,
    BrokenOffError,
    Gone,
    Watched,
    erased,
    held_of,
    owned,
    read_after_approval,
    rewrite,
    waiting,
)
from tests.agent_image.guard.gate_grounds import Effects
from tests.agent_image.scripted import Calls, Says

SAID = f"{session_key(SESSION)}#{CONVERSATION}"


@pytest.mark.parametrize("story", [lambda: waiting(Effects()), read_after_approval])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 6))
def test_an_erasing_that_is_killed_at_a_write_is_begun_again_and_ends_the_same(
    story: Any,
    after: bool,  # noqa: FBT001 - a column of the table above
    at: int,
) -> None:
    """Whatever was written before, and without waiting for the lease of the one that died."""
    stage, checkpoint = story()
    keys = [SAID, f"{session_key(SESSION)}#batch", f"{Item.CHECKPOINT}{checkpoint}"]
    broken = Gone(stage.records, at, after)
    try:
        erased(broken, stage.clock)
    except BrokenOffError:
        assert broken.writes == at
    else:
        assert at > 4

    erased(stage.records, stage.clock)

    assert WORDS not in held_of(stage.records, *keys, session_key(SESSION))
    assert stage.guard.store.session(SESSION).session.owner is None


def test_what_people_decided_is_neither_read_nor_written() -> None:
    """The eraser's rights end before it."""
    stage, checkpoint = waiting(Effects())
    stage.decide(checkpoint, Choice.APPROVE)
    watched = Watched(stage.records)

    erased(watched, stage.clock)

    assert {key.partition("#")[0] for _, key in watched.touched} == {"session", "checkpoint"}


def test_where_nothing_is_to_change_nothing_is_written() -> None:
    """Not even a lease."""
    stage = Stage((Says("Hello."),))
    stage.ask()
    watched = Watched(stage.records)

    assert erased(watched, stage.clock).changed == 0
    assert watched.writes == 0


@pytest.mark.parametrize(
    ("until", "held"),
    [(LEASE, True), (timedelta(0), True), (timedelta(seconds=1) - SKEW, True), (-SKEW, False), (-2 * SKEW, False)],
)
def test_a_lease_counts_for_as_long_as_clocks_may_differ(until: timedelta, held: bool) -> None:  # noqa: FBT001 - a column
    """A person's machine whose clock is ahead tears nobody's run apart."""
    stage, _ = waiting(Effects())
    owned(stage, "run-9", until)

    if held:
        with pytest.raises(SessionInUse):
            erased(stage.records, stage.clock)
    else:
        assert erased(stage.records, stage.clock).changed == 2


def test_a_run_that_died_is_still_found_dead_by_the_next() -> None:
    """Its owner is given back: what it had reserved counts as spent, and the audit says that it never let go."""
    effects = Effects()
    stage, checkpoint = waiting(effects)
    owned(stage, "run-9", -2 * SKEW)
    fence = stage.guard.store.session(SESSION).session.fence

    erased(stage.records, stage.clock)

    session = stage.guard.store.session(SESSION).session
    assert (session.owner, session.fence) == ("run-9", fence + 1)
    assert not session.leased(stage.clock())
    assert not session.leased(stage.clock() - SKEW)
    stage.decide(checkpoint, Choice.APPROVE)
    assert stage.go_on(checkpoint)["status"] == "completed"
    begun = [one for one in stage.events if one["event"] == EventName.RUN_STARTED]
    assert begun[-1]["reasons"] == [RECOVERED]


def test_a_run_that_comes_in_between_keeps_the_session() -> None:
    """The words were found, and the session was taken before it could be held."""
    stage, _ = waiting(Effects())

    class Taken(Watched):
        def put(self, key: str, document: Document, **how: Any) -> None:
            owned(stage, "run-9", LEASE)
            super().put(key, document, **how)

    with pytest.raises(SessionInUse):
        erased(Taken(stage.records), stage.clock)

    assert stage.guard.store.session(SESSION).session.owner == "run-9"
    assert WORDS in held_of(stage.records, SAID)


def test_nobody_answers_while_the_words_are_taken_out() -> None:
    """A question meets a session that is busy, and afterwards one without the words."""
    effects = Effects()
    stage, _ = waiting(effects, turns=(*STORY[:2], Says("Once more.")))
    met: list[Any] = []

    class Asked(Watched):
        def put(self, key: str, document: Document, **how: Any) -> None:
            super().put(key, document, **how)
            if not met and key == session_key(SESSION):
                met.append(stage.ask())

    erased(Asked(stage.records), stage.clock)

    assert met[0]["error"]["code"] == BUSY
    assert stage.ask()["status"] == "suspended"
    assert WORDS not in held_of(stage.records, SAID)


def test_an_owner_that_erases_is_told_from_a_run_by_its_name() -> None:
    """Whoever erases after one that was killed takes over, and gives back what that one had found."""
    stage, _ = waiting(Effects())
    owned(stage, f"{ERASING}run-9", LEASE + SKEW)

    erased(stage.records, stage.clock)

    assert stage.guard.store.session(SESSION).session.owner == "run-9"


def test_what_an_approved_call_answered_that_a_stage_had_changed_is_found_too() -> None:
    """Its checkpoint's id is made from arguments that stand in no message; those hold the words, and are counted."""
    changes = Stages(before_tool=[lambda *_: Verdict(source="hook", arguments={"query": WORDS})])
    turns = (SEARCH, Says("So it is."), Calls("look", '{"at": "here"}', "call-9"), Says("Done."))
    stage = Stage(turns, settings=RED_SEARCH, stages=changes)
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    assert stage.go_on(checkpoint)["status"] == "completed"
    stage.ask("And here?")

    counted = erased(stage.records, stage.clock)

    case = stage.guard.store.case(checkpoint)
    assert case is not None
    assert WORDS not in str(case.checkpoint.result)
    assert MARK in str(case.checkpoint.result)
    assert counted.left >= 1


def test_words_in_arguments_are_counted_and_stay() -> None:
    """The call's id is made from them, and with it its checkpoint and its key."""
    use = {"toolUse": {"toolUseId": "t", "name": "pay", "input": {"to": [WORDS], "amount": 1}}}
    thought = {"reasoningContent": {"reasoningText": {"text": WORDS, "signature": "s"}}}
    rewriting = Rewriting(rewrite)
    message = {"role": "assistant", "content": [{"text": f"As said: {WORDS}"}, use, thought], "tracking_id": "m"}

    written = rewriting.message(message)

    assert written == {**message, "content": [{"text": f"As said: {MARK}"}, use, thought]}
    assert (rewriting.changed, rewriting.left) == (1, 2)


def test_results_are_written_again_whatever_their_form() -> None:
    """Texts, and the values of JSON; a key is no text, and a picture has none."""
    parts = [{"text": WORDS}, {"json": {WORDS: [WORDS, 1, None]}}, {"image": {"format": "png"}}, "odd"]
    rewriting = Rewriting(rewrite)

    written = rewriting.message({"content": [{"toolResult": {"toolUseId": "t", "content": parts}}]})

    (result,) = (block["toolResult"] for block in written["content"])
    assert result["content"] == [{"text": MARK}, {"json": {WORDS: [MARK, 1, None]}}, parts[2], "odd"]
    assert rewriting.changed == 2


@pytest.mark.parametrize("odd", [None, 7, "text", {}, {"content": None}, {"content": [None, 3, {"toolResult": 3}]}])
def test_what_has_not_the_form_of_a_message_stays(odd: Any) -> None:
    """A store may hold anything."""
    assert Rewriting(rewrite).message(odd) == odd


@pytest.mark.parametrize("text", ["{", '{"a":1}', "[" * 100_000])
def test_a_conversation_that_cannot_be_read_is_refused(text: str) -> None:
    """Nothing is written over it."""
    stage, _ = waiting(Effects())
    found = stage.records.get(SAID)
    assert found is not None
    stage.records.put(SAID, {**found.document, MESSAGES: text}, expected=found.version)

    with pytest.raises(StoreError, match="record_malformed"):
        erased(stage.records, stage.clock)


def test_the_numbering_of_what_was_read_stays() -> None:
    """Addresses are no words: an answer's citations still lead to their sources."""
    stage, _ = waiting(Effects())
    before = stage.conversations.load(SESSION).reading.addresses

    erased(stage.records, stage.clock)

    assert stage.conversations.load(SESSION).reading.addresses == before
