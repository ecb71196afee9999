"""Say what is wrong with a world after a round; an empty list is what every round must leave."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from agent_image.contract import Choice, EventName, Field, Item
from agent_image.guard.audit_lines import read_file
from agent_image.guard.checkpoint import Case, State
from agent_image.guard.session import Session
from agent_image.guard.signs import Verification
from agent_image.guard.store import GuardStore
from agent_image.guard.verify import verify
from tests.crash.child import Do
from tests.crash.points import Phase
from tests.crash.rounds import Round
from tests.crash.wishes import AMOUNT, LOOK_UP, QUESTION
from tests.crash.world import World

CLOSED = {State.DONE, State.FAILED, State.REJECTED, State.EXPIRED, State.CANCELLED}


def neglected(world: World) -> list[str]:
    """Leave alone for days what nobody has looked into: it stays in doubt, in sight, and people are told."""
    cases = world.cases()
    if not cases:
        return []
    found = []
    answer = world.run(Do.ASK, QUESTION)
    if answer.get("state") != State.IN_DOUBT:
        found.append(f"the session does not say what it waits for: {answer}")
    world.turn(days=3)
    world.run(Do.SWEEP)
    return [*found, *_stuck(world, cases)]


def faults(world: World, played: Round) -> list[str]:
    """Ask the session something else, sweep beyond every deadline, and look at all that is there."""
    found = []
    answer = world.run(Do.ASK, QUESTION)
    if answer["status"] != "completed":
        found.append(f"the session answers no other question: {answer}")
    world.turn(days=3)
    world.run(Do.SWEEP)
    cases = [world.case(checkpoint) for checkpoint in sorted(played.checkpoints)]
    found += _stuck(world, cases)
    found += _effects(world, cases)
    found += _calls(world, played)
    found += _conversation(world)
    found += _session(world)
    found += _audit(world)
    return found


def _stuck(world: World, cases: list[Case]) -> Iterator[str]:
    alerted = _alerted(world)
    waiting = {case.checkpoint.id for case in world.cases()}
    for case in cases:
        state, checkpoint = case.state(world.now), case.checkpoint.id
        if state in CLOSED:
            if checkpoint in waiting and case.resolution is None:
                yield f"{state} waits for somebody"
        elif state is not State.IN_DOUBT:
            yield f"stuck: {state}"
        elif checkpoint not in waiting:
            yield "in doubt, and nobody sees it"
        elif ("in_doubt", checkpoint) not in alerted:
            yield "in doubt, and nobody was told"


def _alerted(world: World) -> set[tuple[str, str]]:
    with world.opened() as records:
        entries = records.due(Item.OUTBOX, before=None, limit=1_000)
    alerts = [entry.document["alert"] for entry in entries]
    return {(alert["kind"], alert["evidence"].get("checkpoint_id", "")) for alert in alerts}


def _effects(world: World, cases: list[Case]) -> Iterator[str]:
    attempts = world.attempts()
    booked = Counter(one["key"] for one in attempts if one["tool"] == "refund" and one["outcome"] == "booked")
    amounts = {entry["key"]: entry["amount"] for entry in world.refunds()}
    approved = {
        case.checkpoint.id: case
        for case in cases
        if case.decision is not None and case.decision.choice in {Choice.APPROVE, Choice.EDIT}
    }
    for key, runs in booked.items():
        if key not in approved:
            yield "an effect that nobody approved"
        if runs > 1:
            yield f"one approval ran {runs} times"
    for case in cases:
        key, state = case.checkpoint.id, case.state(world.now)
        if state is State.DONE and key not in amounts:
            yield "done without an effect"
        if state in CLOSED - {State.DONE} and key in amounts:
            yield f"{state}, and yet an effect"
    yield from _amounts(approved, amounts)


def _calls(world: World, played: Round) -> Iterator[str]:
    """Look at what needs no approval: the green call, and the yellow one."""
    tickets = Counter(entry["key"] for entry in world.ledger.effects() if entry["kind"] == "ticket")
    if max(tickets.values(), default=0) > 1:
        yield "one ticket twice"
    reads = Counter(one["key"] for one in world.attempts() if one["tool"] == LOOK_UP)
    if not reads:
        yield "the green call never ran"
    # Killed in the middle of an answer, a process may have read what it could not keep.
    if played.point.phase is not Phase.ASK and max(reads.values(), default=0) > 1:
        yield "a green call whose result was kept ran again"


def _amounts(approved: dict[str, Case], amounts: dict[str, str]) -> Iterator[str]:
    for key, case in approved.items():
        wanted = case.effective.get("amount", AMOUNT)
        if key in amounts and amounts[key] != f"{wanted}.00":
            yield f"{amounts[key]} went back in the place of {wanted}"


def _conversation(world: World) -> Iterator[str]:
    messages = messages_of(world)
    yield from conversation_faults(messages)
    if not messages or messages[-1]["role"] != "assistant":
        yield "the conversation ends without an answer"


def messages_of(world: World) -> list[dict[str, Any]]:
    with world.opened() as records:
        document, _ = GuardStore(records).part(world.session, "conversation")
    messages: list[dict[str, Any]] = json.loads(document.get("messages", "[]"))
    return messages


def conversation_faults(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Hold a conversation to what every provider asks of one."""
    roles = [message["role"] for message in messages]
    if roles != [("user", "assistant")[number % 2] for number in range(len(roles))]:
        yield f"roles do not take turns: {roles}"
    for number, message in enumerate(messages):
        uses = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]
        after = messages[number + 1]["content"] if number + 1 < len(messages) else []
        results = [block["toolResult"]["toolUseId"] for block in after if "toolResult" in block]
        if sorted(uses) != sorted(results):
            yield f"calls {uses} have results {results}"


def session_of(world: World) -> Session:
    with world.opened() as records:
        return GuardStore(records).session(world.session).session


def _session(world: World) -> Iterator[str]:
    session = session_of(world)
    if session.owner is not None:
        yield "somebody still holds the session"
    if session.pending:
        yield "the session waits for something"
    if session.budget.reserved:
        yield "something is still set aside"


def verified(world: World) -> Verification:
    return verify(read_file(world.folder / "audit.jsonl"), {world.session: session_of(world).head})


def anchored_intents(world: World) -> set[str]:
    """Follow the audit from the head that the store holds; give the checkpoints of the calls that were let through."""
    lines = {line.text(Field.HASH): line for line in read_file(world.folder / "audit.jsonl")}
    found, line = set(), lines.get(session_of(world).head.hash)
    while line is not None:
        if line.text(Field.EVENT) == EventName.TOOL_CALL:
            found.add(line.text(Field.CHECKPOINT_ID))
        line = lines.get(line.text(Field.PREV))
    return found


def _audit(world: World) -> Iterator[str]:
    verification = verified(world)
    unsaid = {entry["key"] for entry in world.refunds()} - anchored_intents(world)
    if unsaid:
        yield "an effect whose intent is not anchored"
    yield from (f"audit: {finding.sign} of run {finding.run} at {finding.seq}" for finding in verification.faults)
