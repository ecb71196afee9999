"""The image's own contents guard it: what a person approved runs once, in another process if need be, or not at all."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from agent_image.contract import Choice, Field
from agent_image.guard.audit_lines import Line, read_file
from agent_image.guard.checkpoint import Decision, State
from agent_image.guard.people import PeopleStore
from agent_image.guard.verify import verify
from agent_image.guard_of import now
from agent_image.stores.by_url import records_at
from agent_image.stores.dynamodb import DynamoRecords
from console.audit.anchors import heads, named_in
from tests.e2e.image import Agent, Image, local
from tests.loopback.aws import moto
from tests.loopback.relay import Relay, relaying
from tests.loopback.table import REGION, VARIABLES, client_at, make_bucket, make_table

QUESTION = "refund order 5501 by 150"
BROKEN: dict[str, Any] = {
    "budget_usd": -1,
    "limit_steps": 1,
    "approval_minutes": "soon",
    "lease_secondz": 60,
    "webhook": "http://example.com/hook",
    "tools": {"refund_order": {"zone": "green", "level": 1}, "open_ticket": {"price_usd": "much"}},
}
FAULTS = (
    "guard.budget_usd is -1",
    "guard.limit_steps is 1",
    "guard.approval_minutes is 'soon'",
    "guard.lease_secondz",
    "guard.webhook",
    "guard.tools.open_ticket.price_usd is 'much'",
)


@contextmanager
def people_of(folder: Path) -> Iterator[PeopleStore]:
    """Open the people's side of a laptop's store, from this process."""
    records = records_at(f"sqlite:///{folder}/guard.db", None)
    with closing(records):
        yield PeopleStore(records)


def decide(folder: Path, checkpoint_id: str, choice: Choice = Choice.APPROVE) -> None:
    """Decide as a person."""
    with people_of(folder) as people:
        people.decide(Decision(checkpoint_id=checkpoint_id, choice=choice, approver="somebody-else", at=now()))


def state_of(folder: Path, checkpoint_id: str) -> State | None:
    """Tell what the store says of a checkpoint."""
    with people_of(folder) as people:
        case = people.case(checkpoint_id)
    return None if case is None else case.state(now())


def effects(folder: Path) -> list[Mapping[str, Any]]:
    """List the refunds that were paid."""
    file = folder / "ledger.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return [entry for line in lines if (entry := json.loads(line))["kind"] == "refund"]


def audit(folder: Path) -> list[Line]:
    """Read the audit, and see that it verifies."""
    lines = list(read_file(folder / "audit.jsonl"))
    records = records_at(f"sqlite:///{folder}/guard.db", None)
    with closing(records):
        found = verify(lines, heads(records, named_in(lines).sessions))
    assert found.findings == ()
    return lines


def asked(agent: Agent) -> str:
    """Ask for a refund, and give the checkpoint that waits."""
    document = agent.post({"prompt": QUESTION}).json()
    assert document["status"] == "suspended"
    assert document["arguments"] == {"order_id": "5501", "amount": 150}
    return str(document["checkpoint_id"])


def test_what_a_person_approves_runs_once_in_another_process(image: Image, tmp_path: Path) -> None:
    """The process that asked is gone; a third one finds the action done, and says so."""
    with image.running(local(image, tmp_path)) as agent:
        checkpoint = asked(agent)
    assert effects(tmp_path) == []
    decide(tmp_path, checkpoint)
    with image.running(local(image, tmp_path)) as agent:
        resumed = agent.post({"resume": checkpoint}).json()
        again = agent.post({"resume": checkpoint}).json()
    with image.running(local(image, tmp_path)) as agent:
        later = agent.post({"resume": checkpoint}).json()

    (paid,) = effects(tmp_path)
    assert resumed["status"] == "completed"
    assert "150" in resumed["answer"]
    assert again["error"]["code"] == later["error"]["code"] == "already_resumed"
    assert (paid["order_id"], paid["amount"], paid["key"]) == ("5501", "150.00", checkpoint)
    decisions = [line.text(Field.DECISION) for line in audit(tmp_path) if line.text(Field.EVENT) == "tool_call"]
    assert decisions == ["approved"]


def test_what_a_person_rejects_never_runs(image: Image, tmp_path: Path) -> None:
    """In whatever process the session goes on."""
    with image.running(local(image, tmp_path)) as agent:
        checkpoint = asked(agent)
    decide(tmp_path, checkpoint, Choice.REJECT)
    with image.running(local(image, tmp_path)) as agent:
        resumed = agent.post({"resume": checkpoint}).json()

    assert resumed["status"] == "completed"
    assert effects(tmp_path) == []
    assert state_of(tmp_path, checkpoint) is State.REJECTED


def test_sigterm_while_a_checkpoint_waits_loses_nothing(image: Image, tmp_path: Path) -> None:
    """Nothing is held open for a person: the process ends at once, and the question stands, with its whole trail."""
    with image.running(local(image, tmp_path)) as agent:
        checkpoint = asked(agent)
        status = agent.end()

    assert status in {0, -15}
    assert state_of(tmp_path, checkpoint) is State.PENDING
    names = [line.text(Field.EVENT) for line in audit(tmp_path)]
    assert names == ["run_started", "llm_call", "gate", "run_ended"]
    slim = [json.loads(line) for line in agent.printed["stdout"].splitlines() if line.startswith('{"event":')]
    assert [line["event"] for line in slim] == names
    assert "5501" not in agent.printed["stdout"]
    assert "5501" not in agent.printed["stderr"]


def test_faulty_settings_of_the_guard_end_the_process_with_every_fault(image: Image, tmp_path: Path) -> None:
    """All of them at once, each by its key, and nothing is served."""
    with (
        pytest.raises(AssertionError, match="its status is 2") as failed,
        image.running(local(image, tmp_path, guard=BROKEN)),
    ):
        pass

    assert [fault for fault in FAULTS if fault not in str(failed.value)] == []
    assert "example.com" not in str(failed.value), "an address may hold a secret"
    assert "Traceback" not in str(failed.value)


def test_a_policy_that_loosens_without_a_reason_ends_the_process(image: Image, tmp_path: Path) -> None:
    """So does one for a tool that is not there."""
    tools = {"refund_order": {"zone": "green"}, "refund_ordr": {"zone": "red"}}
    with (
        pytest.raises(AssertionError, match="its status is 2") as failed,
        image.running(local(image, tmp_path, guard={"tools": tools})),
    ):
        pass

    assert "guard.tools.refund_order.zone loosens what the code says (red)" in str(failed.value)
    assert "guard.tools.refund_ordr is no tool of this agent" in str(failed.value)


@pytest.mark.parametrize("store", ["postgresql://nobody@127.0.0.1:{port}/none", "dynamodb://none"])
def test_a_store_that_is_down_at_the_start_fails_each_answer_and_no_start(
    image: Image, tmp_path: Path, store: str
) -> None:
    """The process answers /ping, says what is wrong by a code, and does nothing that it could not keep."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        settings = local(image, tmp_path, store=store.format(port=port), region=REGION)
        with image.running(settings, {**VARIABLES, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}) as agent:
            answer = agent.post({"prompt": QUESTION})

    assert answer.json()["error"]["code"] == "unavailable"
    assert effects(tmp_path) == []
    assert "Traceback" not in agent.printed["stderr"]


def test_a_store_that_goes_down_stops_everything_until_it_is_back(image: Image, tmp_path: Path) -> None:
    """While it is down an approved refund is not paid; afterwards it is paid, once."""
    name = f"guard-{uuid4().hex}"
    with moto() as aws, relaying(aws) as table:
        make_table(aws, name)
        make_bucket(aws, name)
        variables = {**VARIABLES, "AWS_ENDPOINT_URL": aws, "AWS_ENDPOINT_URL_DYNAMODB": table.url}
        settings = local(image, tmp_path, store=f"dynamodb://{name}", region=REGION)
        with image.running(settings, variables) as agent:
            checkpoint = asked(agent)
            _approve(aws, name, checkpoint)
            down = [_while_down(table, agent, body) for body in ({"resume": checkpoint}, {"prompt": QUESTION})]
            assert effects(tmp_path) == []
            resumed = agent.post({"resume": checkpoint}).json()

    assert down == ["unavailable", "unavailable"]
    assert resumed["status"] == "completed"
    assert [entry["key"] for entry in effects(tmp_path)] == [checkpoint]


def _while_down(table: Relay, agent: Agent, body: Mapping[str, Any]) -> str:
    table.down = True
    try:
        return str(agent.post(body).json()["error"]["code"])
    finally:
        table.down = False


def _approve(aws: str, table: str, checkpoint_id: str) -> None:
    """Decide behind the agent's back, past what goes down."""
    people = PeopleStore(DynamoRecords(table, client_at(aws, "dynamodb"), None, pause=lambda _: None))
    people.decide(Decision(checkpoint_id=checkpoint_id, choice=Choice.APPROVE, approver="somebody-else", at=now()))
