"""Of many processes that resume one approved action at the same moment one carries it out, and the others are told."""

from __future__ import annotations

from agent_image.guard.checkpoint import State
from tests.crash.child import Do
from tests.crash.findings import conversation_faults, messages_of, verified
from tests.crash.wishes import QUESTION, WISH
from tests.crash.world import World, barrier

PROCESSES = 16


def test_sixteen_processes_resume_one_action(world: World) -> None:
    """One effect, one history; the others hear that it is at work, or done."""
    checkpoint: str = world.run(Do.ASK, WISH)["checkpoint_id"]
    world.run(Do.DECIDE, checkpoint)
    asked = len(messages_of(world))

    gate = barrier(PROCESSES)
    running = [world.start(Do.RESUME, checkpoint, gate=gate) for _ in range(PROCESSES)]
    answers = [one.answer() for one in running]

    completed = [answer for answer in answers if answer["status"] == "completed"]
    refused = {answer["error"]["code"] for answer in answers if answer["status"] != "completed"}
    assert len(completed) == 1
    assert refused <= {"busy", "already_resumed"}
    assert [entry["key"] for entry in world.refunds()] == [checkpoint]
    assert [one["outcome"] for one in world.attempts() if one["tool"] == "refund"] == ["booked"]
    assert world.case(checkpoint).state(world.now) is State.DONE
    # The results and the answer: what one run adds.
    messages = messages_of(world)
    assert len(messages) == asked + 2
    assert list(conversation_faults(messages)) == []
    assert world.run(Do.ASK, QUESTION)["status"] == "completed"
    assert verified(world).faults == ()
