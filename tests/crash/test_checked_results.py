"""A check hides what a tool answers: whenever its process dies, the model reads none of it, and nothing runs twice."""

from __future__ import annotations

import json

import pytest

from agent_image.contract import Choice
from agent_image.guard.checkpoint import State
from agent_image.guard.sayings import UNCHECKED
from tests.crash.child import WITHHELD, Do
from tests.crash.findings import conversation_faults, messages_of
from tests.crash.strikes import Boundary, Side, Strike
from tests.crash.wishes import WISH
from tests.crash.world import Killed, World

RESUMED = [
    *(Strike(Boundary.RECORD, side, nth) for nth in (1, 2) for side in Side),
    *(Strike(Boundary.CHECK, side) for side in Side),
    *(Strike(Boundary.RESULTS, side) for side in Side),
]
ASKED = [*(Strike(Boundary.CHECK, side) for side in Side), *(Strike(Boundary.ENDED, side, 2) for side in Side)]


def named(strike: Strike) -> str:
    return f"{strike.side} {strike.at} {strike.nth}"


@pytest.mark.parametrize("strike", RESUMED, ids=named)
def test_a_red_call_whose_process_dies_around_its_check(laptop: World, strike: Strike) -> None:
    """Only one that dies before anything is recorded leaves a doubt; after that, a resume goes on, showing nothing."""
    checkpoint = laptop.run(Do.ASK, WISH, withheld=True)["checkpoint_id"]
    laptop.run(Do.DECIDE, checkpoint, choice=Choice.APPROVE)

    with pytest.raises(Killed):
        laptop.run(Do.RESUME, checkpoint, withheld=True, strike=strike)
    laptop.outlive_the_lease()
    answer = laptop.run(Do.RESUME, checkpoint, withheld=True)

    unrecorded = strike == Strike(Boundary.RECORD, Side.BEFORE, 1)
    assert answer["status"] == ("suspended" if unrecorded else "completed")
    assert laptop.case(checkpoint).state(laptop.now) is (State.IN_DOUBT if unrecorded else State.DONE)
    assert len(laptop.refunds()) == 1
    if not unrecorded:
        read = told(laptop)["use-3"]
        assert (WITHHELD in read) is not (UNCHECKED in read)
        assert "150" not in read
        assert list(conversation_faults(messages_of(laptop))) == []


@pytest.mark.parametrize("strike", ASKED, ids=named)
def test_a_yellow_call_whose_process_dies_around_its_check(laptop: World, strike: Strike) -> None:
    """Neither another question nor a resume repeats it, or shows what it answered."""
    with pytest.raises(Killed):
        laptop.run(Do.ASK, WISH, withheld=True, strike=strike)
    laptop.outlive_the_lease()
    laptop.run(Do.ASK, "What now?", withheld=True)
    for case in laptop.cases():
        laptop.run(Do.DECIDE, case.checkpoint.id, choice=Choice.REJECT)
        laptop.run(Do.RESUME, case.checkpoint.id, withheld=True)

    tickets = [entry for entry in laptop.ledger.effects() if entry["kind"] == "ticket"]
    assert len(tickets) == 1
    assert all(entry["key"] not in text for entry in tickets for text in told(laptop).values())
    assert list(conversation_faults(messages_of(laptop))) == []


def told(world: World) -> dict[str, str]:
    """Give what the model reads of each call."""
    blocks = [block for message in messages_of(world) for block in message["content"]]
    results = [block["toolResult"] for block in blocks if "toolResult" in block]
    return {result["toolUseId"]: json.dumps(result["content"]) for result in results}
