"""A process that stands still past its lease and then goes on takes no effect any more, and records nothing."""

from __future__ import annotations

from typing import Any

import pytest

from agent_image.contract import Item
from agent_image.guard.checkpoint import State
from tests.crash.child import Do
from tests.crash.findings import conversation_faults, messages_of, verified
from tests.crash.strikes import Boundary, Side, Strike
from tests.crash.wishes import QUESTION, WISH
from tests.crash.world import Running, World


def stalled(world: World, at: Boundary, side: Side) -> tuple[Running, str]:
    """Stop a process where it carries out what was approved, and let its lease pass."""
    checkpoint: str = world.run(Do.ASK, WISH)["checkpoint_id"]
    world.run(Do.DECIDE, checkpoint)
    owner = world.start(Do.RESUME, checkpoint, strike=Strike(at, side, stop=True))
    owner.ready()
    owner.stopped()
    world.outlive_the_lease()
    return owner, checkpoint


def kept(world: World, checkpoint: str) -> dict[str, Any]:
    """Give all that a stale owner could write over: control state, conversation, batch, checkpoint, anchor."""
    keys = [f"{Item.SESSION}{world.session}{part}" for part in ("", "#conversation", "#batch")]
    with world.opened() as records:
        return {key: records.get(key) for key in (*keys, f"{Item.CHECKPOINT}{checkpoint}")}


def awoken(owner: Running) -> str:
    owner.go_on()
    code: str = owner.answer()["error"]["code"]
    return code


def doubted(world: World, checkpoint: str, how: Do) -> None:
    world.run(how, checkpoint)
    assert world.case(checkpoint).state(world.now) is State.IN_DOUBT


HOW = pytest.mark.parametrize("how", [Do.RESUME, Do.SWEEP])


@HOW
def test_an_owner_that_stalled_before_its_effect_has_none(world: World, how: Do) -> None:
    """Another took the session; the ledger refuses the old token, and the store the old owner's writes."""
    has_none(world, Boundary.EFFECT, Side.BEFORE, how)


@HOW
@pytest.mark.parametrize("at", [Boundary.CLAIM, Boundary.INTENT])
def test_so_it_is_wherever_it_stalled(laptop: World, at: Boundary, how: Do) -> None:
    """Right after its claim, and right after it said in the audit what it was going to do."""
    has_none(laptop, at, Side.AFTER, how)


def has_none(world: World, at: Boundary, side: Side, how: Do) -> None:
    owner, checkpoint = stalled(world, at, side)
    doubted(world, checkpoint, how)
    if how is Do.SWEEP:
        # A sweep takes no session; the next question does.
        assert world.run(Do.ASK, QUESTION)["state"] == State.IN_DOUBT
    before = kept(world, checkpoint)

    assert awoken(owner) == "lease_lost"

    assert world.refunds() == []
    assert {one["outcome"] for one in world.attempts() if one["tool"] == "refund"} <= {"stale_fence"}
    assert kept(world, checkpoint) == before
    ended(world, checkpoint, State.FAILED)


@HOW
def test_an_owner_that_stalled_after_its_effect_records_nothing(world: World, how: Do) -> None:
    """The effect is there, once; a person finds it, and says so."""
    owner, checkpoint = stalled(world, Boundary.EFFECT, Side.AFTER)
    doubted(world, checkpoint, how)
    if how is Do.SWEEP:
        assert world.run(Do.ASK, QUESTION)["state"] == State.IN_DOUBT
    before = kept(world, checkpoint)

    assert awoken(owner) == "lease_lost"

    assert kept(world, checkpoint) == before
    assert [entry["key"] for entry in world.refunds()] == [checkpoint]
    ended(world, checkpoint, State.DONE)


def test_a_sweep_alone_keeps_a_stalled_owner_from_its_effect(world: World) -> None:
    """Nobody has taken the session, so its owner may let it go; what it had claimed is nobody's any more."""
    owner, checkpoint = stalled(world, Boundary.EFFECT, Side.BEFORE)
    doubted(world, checkpoint, Do.SWEEP)

    assert awoken(owner) == "lease_lost"

    assert world.refunds() == []
    assert world.case(checkpoint).state(world.now) is State.IN_DOUBT
    ended(world, checkpoint, State.FAILED)


def test_an_owner_that_only_stalled_goes_on(world: World) -> None:
    """Nobody took the session meanwhile, so it is still its own, whatever the time says."""
    owner, checkpoint = stalled(world, Boundary.EFFECT, Side.BEFORE)

    owner.go_on()

    assert owner.answer()["status"] == "completed"
    assert len(world.refunds()) == 1
    assert world.case(checkpoint).state(world.now) is State.DONE


def ended(world: World, checkpoint: str, state: State) -> None:
    """Let a person look into the ledger and say what is there; then all is as after any other run."""
    took_effect = any(entry["key"] == checkpoint for entry in world.refunds())
    world.run(Do.RESOLVE, checkpoint, took_effect=took_effect)
    world.outlive_the_lease()

    assert world.run(Do.RESUME, checkpoint)["status"] == "completed"

    assert world.case(checkpoint).state(world.now) is state
    assert world.cases() == []
    assert world.run(Do.ASK, QUESTION)["status"] == "completed"
    assert list(conversation_faults(messages_of(world))) == []
    assert verified(world).faults == ()
    assert len(world.refunds()) == (1 if state is State.DONE else 0)
