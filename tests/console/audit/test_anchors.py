"""What the audit has to agree with is read from the store: heads of sessions, hashes of decisions."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from agent_image.contract import Choice, Item
from agent_image.guard.audit_lines import Line, line
from agent_image.guard.checkpoint import Decision, Resolution
from agent_image.guard.people import PeopleStore
from agent_image.guard.session import Head, Session
from agent_image.guard.store import GuardStore
from agent_image.stores.memory import MemoryRecords
from console.audit.anchors import decided, heads, named_in

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def lines(*records: object) -> list[Line]:
    return [line("audit.jsonl", number, json.dumps(one).encode()) for number, one in enumerate(records, 1)]


def test_sessions_and_checkpoints_are_gathered_from_the_lines() -> None:
    """What is no event names nothing."""
    named = named_in(
        [
            *lines({"attributes": {"session.id": "s1"}, "checkpoint_id": "c1"}, {"attributes": {}}, {"x": 1}, [1]),
            line("audit.jsonl", 9, b"torn"),
        ]
    )

    assert named.sessions == {"s1"}
    assert named.checkpoints == {"c1"}


def test_a_session_that_the_store_does_not_know_has_no_head() -> None:
    """An unknown one is not one whose chain is empty."""
    records = MemoryRecords()
    GuardStore(records).put_session(Session(id="s1", head=Head(4, "h4")), 0, NOON)

    assert heads(records, ["s1", "s2"]) == {"s1": Head(4, "h4")}


def test_a_checkpoint_has_the_hashes_of_what_people_said() -> None:
    """A decision, a resolution, both, or none."""
    people = PeopleStore(records := MemoryRecords())
    for checkpoint in ("c1", "c2"):
        people.decide(
            Decision(checkpoint_id=checkpoint, choice=Choice.REJECT, approver="a", at=NOON, event=f"d-{checkpoint}")
        )
    people.resolve(Resolution(checkpoint_id="c1", took_effect=True, approver="a", at=NOON, reason="r", event="r-c1"))

    assert decided(records, ["c1", "c2", "c3"]) == {"c1": {"d-c1", "r-c1"}, "c2": {"d-c2"}}


def test_nothing_but_anchors_is_read() -> None:
    """An auditor may read the items of sessions and decisions, and no others."""
    asked: list[str] = []

    class Watched(MemoryRecords):
        def get(self, key: str) -> None:
            asked.append(key)

    heads(Watched(), ["s1"])
    decided(Watched(), ["c1"])

    assert all(key.startswith((Item.SESSION, Item.DECISION)) for key in asked)
    assert len(asked) == 3
