"""What agent, approver and auditor can really do to the guard's state, as IAM would answer them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import pytest

from agent_image.contract import Item
from tests.simulator.simulator import Holder, Request, Verdict
from tests.simulator.world import NEW, World
from tests.synthesis import Json, Synthesis

READS = ("GetItem", "BatchGetItem")
WRITES = (
    *("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"),
    *("PartiQLInsert", "PartiQLUpdate", "PartiQLDelete"),
)
WHOLE = ("Scan", "DeleteTable", "UpdateTable", "UpdateTimeToLive", "RestoreTableToPointInTime")


@pytest.fixture(scope="module")
def world(shipped: Synthesis) -> World:
    return World(shipped["agent-prod"])


def granted(holder: Holder, requests: Mapping[Any, Request]) -> set[Any]:
    """Pick what is allowed."""
    verdicts = holder.asks(requests.values())
    return {name for name, verdict in zip(requests, verdicts, strict=True) if verdict is Verdict.ALLOWED}


def verdicts(holder: Holder, requests: Iterable[Request]) -> set[Verdict]:
    return set(holder.asks(requests))


def every_item(world: World) -> dict[tuple[str, Item], Request]:
    return {(verb, item): world.on_items(verb, f"{item}1") for verb, item in product((*READS, *WRITES), Item)}


def test_the_agent_writes_its_own_items_and_never_a_decision(world: World) -> None:
    """Whatever verb it tries, on whichever item."""
    own = (Item.CHECKPOINT, Item.SESSION, Item.FINGERPRINT, Item.OUTBOX)

    assert granted(world.agent, every_item(world)) == {
        *product(READS, Item),
        *product(("PutItem", "UpdateItem"), own),
        ("PutItem", Item.KEY),
    }
    assert verdicts(world.agent, [world.on_items(verb, "decision#1") for verb in WRITES]) == {Verdict.FORBIDDEN}


def test_one_decision_among_other_items_is_refused_with_all_of_them(world: World) -> None:
    """A batch is one request: what is allowed in it does not carry the rest."""
    mixed = [world.on_items(verb, "checkpoint#1", "decision#1") for verb in WRITES]

    assert verdicts(world.agent, mixed) == {Verdict.FORBIDDEN}


@pytest.mark.parametrize("person", [None, "approver", "auditor", "reader", "eraser", "break-glass"])
def test_a_request_without_keys_is_refused(world: World, person: str | None) -> None:
    """A condition on all keys is true of none: a scan, a statement or a batch must not slip through it."""
    holder = world.agent if person is None else world.person(person)
    requests = [world.on_items(verb) for verb in (*READS, *WRITES, "Query", "Scan", "PartiQLSelect")]

    assert Verdict.ALLOWED not in verdicts(holder, requests)


@pytest.mark.parametrize("person", [None, "approver", "auditor", "reader", "eraser", "break-glass"])
def test_nobody_touches_the_table_as_a_whole(world: World, person: str | None) -> None:
    """No scan, no deletion, no restoring of what was."""
    holder = world.agent if person is None else world.person(person)

    assert verdicts(holder, [Request(f"dynamodb:{verb}", world.table) for verb in WHOLE]) == {Verdict.DENIED}


def test_what_waits_is_listed_by_agent_and_approver_each_in_its_queues(world: World) -> None:
    """The index knows items by their prefix; the table itself is never queried."""
    queues = {item: world.on_queue(item) for item in Item}

    assert granted(world.agent, queues) == {Item.CHECKPOINT, Item.OUTBOX}
    assert granted(world.person("approver"), queues) == {Item.CHECKPOINT}
    assert granted(world.person("auditor"), queues) == set()
    assert verdicts(world.agent, [world.on_items("Query", "checkpoint#1")]) == {Verdict.DENIED}


def test_the_agent_adds_to_the_audit_and_can_do_nothing_else_to_it(world: World) -> None:
    """It neither reads, nor writes over, nor deletes what is there, and what people decided it cannot forge."""
    event, decision = (
        world.thing("audit", f"audit/{place}/000000000001-run.jsonl") for place in ("s-1", "decisions/c")
    )
    erasure = world.thing("audit", "audit/erasures/f/000000000001-e.jsonl")
    others = [
        *(Request(f"s3:{verb}", event) for verb in ("PutObject", "GetObject", "DeleteObject", "DeleteObjectVersion")),
        *(Request(f"s3:{verb}", event) for verb in ("GetObjectVersion", "PutObjectRetention", "PutObjectAcl")),
    ]

    assert verdicts(world.agent, [Request("s3:PutObject", event, NEW)]) == {Verdict.ALLOWED}
    assert verdicts(world.agent, others) == {Verdict.DENIED}
    people_s = [Request("s3:PutObject", one, NEW) for one in (decision, erasure)]
    assert verdicts(world.agent, people_s) == {Verdict.FORBIDDEN}


def test_the_agent_reads_back_its_long_state_and_no_passage(world: World) -> None:
    """Both lie in one bucket."""
    passage, state = (world.thing("archive", f"{prefix}/f") for prefix in ("passages", "state"))

    assert verdicts(world.agent, [Request("s3:GetObject", state), Request("s3:PutObject", state)]) == {Verdict.ALLOWED}
    assert verdicts(world.agent, [Request("s3:PutObject", passage, NEW)]) == {Verdict.ALLOWED}
    assert verdicts(
        world.agent,
        [
            Request("s3:GetObject", passage),
            Request("s3:PutObject", passage),
            Request("s3:DeleteObject", passage),
            Request("s3:DeleteObject", state),
        ],
    ) == {Verdict.DENIED}


def test_an_approver_decides_and_changes_nothing_else(world: World) -> None:
    """It reads what waits and what was decided; it writes decisions, each with its event, never over another."""
    holder = world.person("approver")
    event = world.thing("audit", "audit/decisions/c/000000000001-e.jsonl")
    things = {
        "event": Request("s3:PutObject", event, NEW),
        "event over another": Request("s3:PutObject", event),
        "event read back": Request("s3:GetObject", event),
        "event of a session": Request("s3:PutObject", world.thing("audit", "audit/s-1/000000000001-run.jsonl"), NEW),
        "event deleted": Request("s3:DeleteObject", event),
        "long state": Request("s3:GetObject", world.thing("archive", "state/f")),
        "long state written": Request("s3:PutObject", world.thing("archive", "state/f"), NEW),
        "passage": Request("s3:GetObject", world.thing("archive", "passages/f")),
        "settings": Request("s3:GetObject", world.thing("audit", "settings/settings.json")),
    }

    assert granted(holder, every_item(world)) == {
        *product(READS, (Item.CHECKPOINT, Item.DECISION)),
        ("PutItem", Item.DECISION),
    }
    assert granted(holder, things) == {"event", "long state"}


def test_an_approver_resumes_through_the_live_endpoint_alone(world: World) -> None:
    """DEFAULT writes to a group that nothing masks."""
    call, endpoints = "bedrock-agentcore:InvokeAgentRuntime", f"{world.runtime}/runtime-endpoint"
    requests = [Request(call, f"{endpoints}/{name}") for name in ("live", "DEFAULT", "other")]

    assert world.person("approver").asks(requests) == [Verdict.ALLOWED, Verdict.FORBIDDEN, Verdict.DENIED]


def test_an_auditor_reads_the_audit_and_its_anchors_and_changes_nothing(world: World) -> None:
    """It needs where each chain ends and which event a decision names; nothing that it holds lets it write."""
    holder = world.person("auditor")
    verbs = ("PutObject", "DeleteObject", "DeleteObjectVersion", "PutObjectRetention", "BypassGovernanceRetention")
    event = world.thing("audit", "audit/s-1/000000000001-run.jsonl")
    bucket = event.partition("/")[0]
    things = {
        "audit": Request("s3:GetObject", event),
        "decisions": Request("s3:GetObject", world.thing("audit", "audit/decisions/c/000000000001-e.jsonl")),
        "list of the audit": Request("s3:ListBucket", bucket, {"s3:prefix": "audit/s-1/"}),
        "list of everything": Request("s3:ListBucket", bucket),
        "list of the settings": Request("s3:ListBucket", bucket, {"s3:prefix": "settings/"}),
        "settings": Request("s3:GetObject", world.thing("audit", "settings/settings.json")),
        "long state": Request("s3:GetObject", world.thing("archive", "state/f")),
        "passage": Request("s3:GetObject", world.thing("archive", "passages/f")),
        **{verb: Request(f"s3:{verb}", event, NEW if verb == "PutObject" else {}) for verb in verbs},
    }

    assert granted(holder, every_item(world)) == {*product(READS, (Item.SESSION, Item.DECISION))}
    assert granted(holder, things) == {"audit", "decisions", "list of the audit"}


def test_an_auditor_reads_no_conversation(world: World) -> None:
    """It lies beside its session's item, under the same prefix."""
    said = [world.on_items(verb, "session#s-1#conversation") for verb in READS]
    among_others = [world.on_items("BatchGetItem", "session#s-1", "session#s-1#conversation")]

    assert verdicts(world.person("auditor"), [*said, *among_others]) == {Verdict.FORBIDDEN}
    assert verdicts(world.person("break-glass"), said) == {Verdict.ALLOWED}


def without(document: Json, sid: str, part: str | None = None) -> Json:
    """Take a statement out of a policy, or one part of it."""
    changed = copy.deepcopy(document)
    statement = next(held for held in changed["Statement"] if held["Sid"] == sid)
    if part is None:
        changed["Statement"].remove(statement)
    else:
        del statement[part]
    return changed


def test_two_locks_keep_the_agent_from_deciding_and_each_holds_alone(world: World) -> None:
    """Take both away, and it decides: the simulator would have seen it."""
    document = world.agent.document
    no_denial = without(document, "NeverDecide")
    no_limit = without(document, "WriteOwnItems", "Condition")
    neither = without(no_limit, "NeverDecide")
    decide = [world.on_items("PutItem", "decision#1")]

    assert [Holder(world.account, held).asks(decide) for held in (document, no_denial, no_limit, neither)] == [
        [Verdict.FORBIDDEN],
        [Verdict.DENIED],
        [Verdict.FORBIDDEN],
        [Verdict.ALLOWED],
    ]
