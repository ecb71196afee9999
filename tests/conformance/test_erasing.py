"""A passage is erased from what a session keeps, in every store, and nothing that was asked or approved comes loose."""

from __future__ import annotations

import pytest

from agent_image.contract import Choice
from agent_image.guard.erasing import LEASE, ErasingStore, SessionInUse
from agent_image.guard.records import Records
from agent_image.guard.store import checkpoint_key, session_key
from tests.agent_image.grounds import REFUNDS, RETURNS, SESSION, Clock
from tests.agent_image.guard.erased import MARK, WORDS, erased, held_of, read_after_approval, rewrite, waiting
from tests.agent_image.guard.gate_grounds import Effects

PARTS = (f"{session_key(SESSION)}#conversation", f"{session_key(SESSION)}#batch")


def test_an_approval_that_waits_is_carried_out_once_after_the_words_are_gone(records: Records) -> None:
    """They leave the conversation and what a restart would replay; the call is still the one that was asked about."""
    effects = Effects()
    stage, checkpoint = waiting(effects, records)
    assert all(WORDS in held_of(records, part) for part in PARTS)

    found = erased(records, stage.clock)
    again = erased(records, stage.clock)

    assert (found.changed, found.left) == (2, 0)
    assert (again.changed, again.left) == (0, 0)
    assert WORDS not in held_of(records, *PARTS, session_key(SESSION), checkpoint_key(checkpoint))
    assert all(REFUNDS.text in held_of(records, part) for part in PARTS)
    stage.decide(checkpoint, Choice.APPROVE)
    assert stage.go_on(checkpoint)["status"] == "completed"
    assert len(effects.done) == 1
    read = str(stage.model.seen[-1])
    assert MARK in read
    assert WORDS not in read


def test_a_result_that_is_kept_with_its_checkpoint_loses_them_too(records: Records) -> None:
    """A person let the tool run, and its answer would be replayed ever after."""
    stage, checkpoint = read_after_approval(records)
    assert WORDS in held_of(records, checkpoint_key(checkpoint))

    erased(records, stage.clock)

    assert WORDS not in held_of(records, checkpoint_key(checkpoint), *PARTS)
    case = stage.people.case(checkpoint)
    assert case is not None
    assert case.checkpoint.genuine
    assert case.decision is not None


def test_a_session_that_a_run_works_on_is_left_as_it_is(records: Records) -> None:
    """Nothing of it is torn: neither its parts nor its lease."""
    stage, _ = waiting(Effects(), records)
    held = stage.guard.store.session(SESSION)
    taken = held.session.taken("run-9", stage.clock(), LEASE)
    stage.guard.store.put_session(taken, held.version, stage.clock())
    before = held_of(records, *PARTS, session_key(SESSION))

    with pytest.raises(SessionInUse):
        erased(records, stage.clock)

    assert held_of(records, *PARTS, session_key(SESSION)) == before


def test_what_a_session_keeps_is_told_before_anything_is_done(records: Records) -> None:
    """What its model was reading, each text that could change, and whether anybody works on it."""
    stage, _ = waiting(Effects(), records)

    kept = ErasingStore(records).look(SESSION, stage.clock())
    unknown = ErasingStore(records).look("session-" + "9" * 32, stage.clock())

    assert (kept.known, kept.in_use) == (True, False)
    assert kept.addresses == tuple(f"{one.uri}#{one.fingerprint}" for one in (RETURNS, REFUNDS))
    assert sum(rewrite(text) != text for text in kept.texts) == 2
    assert (unknown.known, unknown.in_use, unknown.addresses, unknown.texts) == (False, False, (), ())


def test_a_session_that_nobody_knows_stays_unknown(records: Records) -> None:
    """To look for it must not make it: its audit would seem to have lost its end."""
    erased(records, Clock())

    assert records.get(session_key(SESSION)) is None
