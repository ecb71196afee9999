"""The whole path in an environment: found by SSM, kept in DynamoDB and S3, decided by an identity of STS."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from time import sleep
from typing import Any

import pytest

from agent_image.contract import (
    DECISION_OBJECT_PREFIX,
    DISCOVERY_PREFIX,
    SESSION_HEADER,
    STATE_OBJECT_PREFIX,
    Discovery,
    Item,
)
from agent_image.guard.audit_s3 import S3Outlet, parse_audit_place
from agent_image.guard.checkpoint import Checkpoint
from agent_image.guard.store import GuardStore
from agent_image.stores.dynamodb import DynamoRecords
from agent_image.stores.large import LargeState
from console.moments import now
from tests.agent_image.grounds import SESSION, Clock, Stage
from tests.agent_image.guard.gate_grounds import Effects, paying
from tests.agent_image.scripted import Says, Turn
from tests.console.approvals.cases import checkpoint
from tests.console.approvals.test_path import Answer, command
from tests.console.loopback import Asked, Scripted, document, serving
from tests.console.test_environment import ARN, credentials
from tests.loopback.aws import moto
from tests.loopback.table import client_at, make_bucket, make_table, unpackable

__all__ = ["credentials"]
NUMBERS = count()
LONG = unpackable(400_000)


@dataclass
class Cloud:
    """Hold an environment on loopback: its agent, its stores, and what was asked of the agent."""

    stage: Stage
    effects: Effects
    url: str
    bucket: str
    invoked: list[Asked]

    def approvals(self, *arguments: str) -> Answer:
        return command("approvals", *arguments, "--environment", "prod")

    def audit(self, *arguments: str) -> Answer:
        return command("audit", *arguments, "--environment", "prod")

    def keys(self, prefix: str) -> list[str]:
        listed = client_at(self.url, "s3").list_objects_v2(Bucket=self.bucket, Prefix=prefix)
        return [entry["Key"] for entry in listed.get("Contents", ())]

    def records(self) -> DynamoRecords:
        return self.stage.records  # type: ignore[return-value]


@pytest.fixture
def cloud(credentials: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    """Deploy an environment: one bucket for archive and audit is enough here."""
    del credentials
    # moto keeps what it holds for as long as its process lives.
    name = f"rastro-cloud-{next(NUMBERS)}"
    with moto() as url:
        make_table(url, name)
        make_bucket(url, name)
        records = DynamoRecords(name, client_at(url, "dynamodb"), LargeState(name, client_at(url, "s3")), pause=sleep)
        outlet = S3Outlet(parse_audit_place(f"s3://{name}/audit/"), client_at(url, "s3"), sleep)
        (clock := Clock()).now = now()
        effects = Effects()
        turns: list[Turn] = [paying(150), Says("done"), paying(20, "call-2", to=LONG), Says("done")]
        stage = Stage(turns, tools=[effects.pay()], records=records, outlet=outlet, clock=clock)
        discovery = {
            Discovery.REGION: "eu-central-1",
            Discovery.RUNTIME_ARN: ARN,
            Discovery.ENDPOINT: "live",
            Discovery.TABLE: name,
            Discovery.ARCHIVE: name,
            Discovery.AUDIT: name,
        }
        client_at(url, "ssm").put_parameter(
            Name=f"{DISCOVERY_PREFIX}prod", Value=json.dumps(discovery), Type="String", Overwrite=True
        )
        with serving(lambda asked: answered(stage, asked)) as (port, invoked):
            monkeypatch.setenv("AWS_ENDPOINT_URL", url)
            monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENTCORE", f"http://127.0.0.1:{port}")
            yield Cloud(stage, effects, url, name, invoked)


def answered(stage: Stage, asked: Asked) -> Scripted:
    """Let the agent go on, as its runtime would."""
    body, session = json.loads(asked.body), asked.headers[SESSION_HEADER]
    return document(stage.go_on(body["resume"], session))


def me() -> str:
    from console.identity import caller  # noqa: PLC0415 - read under the fixture's credentials

    return caller("eu-central-1")


def test_a_call_is_approved_in_an_environment_and_runs_once(cloud: Cloud) -> None:
    """Listed by the sparse index, decided in an item of its own, in the audit before, and resumed in its session."""
    waiting = cloud.stage.ask()["checkpoint_id"]

    listed = json.loads(cloud.approvals("list", "--json").stdout)["checkpoints"]
    approved = cloud.approvals("approve", waiting[:12], "--reason", "fine", "--resume", "--json")

    assert [one["checkpoint_id"] for one in listed] == [waiting]
    assert approved.returncode == 0, approved.stderr
    decided, answer = map(json.loads, approved.stdout.splitlines())
    assert (decided["decision"]["approver"], decided["decision"]["reason"]) == (me(), "fine")
    assert decided["resume"] == f"rastro approvals resume {waiting} --environment prod"
    assert answer["answer"] == "done"
    assert cloud.effects.done == [("pay", {"amount": 150, "to": "shop"})]
    (invoked,) = cloud.invoked
    assert (json.loads(invoked.body), invoked.headers[SESSION_HEADER]) == ({"resume": waiting}, SESSION)

    again = cloud.approvals("approve", waiting)
    assert again.returncode == 1
    assert f"{waiting} is done: {me()} approved it at" in again.stderr


def test_the_audit_in_s3_agrees_with_the_table(cloud: Cloud) -> None:
    """Decisions lie in objects of their own; what is cut off is found."""
    waiting = cloud.stage.ask()["checkpoint_id"]
    assert cloud.approvals("approve", waiting, "--resume").returncode == 0
    (decision,) = cloud.keys(f"{DECISION_OBJECT_PREFIX}{waiting}/")

    whole, tail = cloud.audit("verify"), cloud.audit("tail", "-n", "100", "--json")
    report = json.loads(cloud.audit("report", "--json").stdout)
    s3 = client_at(cloud.url, "s3")
    kept = s3.get_object(Bucket=cloud.bucket, Key=decision)["Body"].read()
    s3.delete_object(Bucket=cloud.bucket, Key=decision)
    cut = cloud.audit("verify")

    assert (whole.returncode, cut.returncode) == (0, 1)
    assert whole.stdout.startswith("the audit is whole: ")
    assert f"fault  cut             chain decision/{waiting}" in cut.stdout
    assert kept.decode().strip() in tail.stdout
    assert report["approvals"]["approval_rate"] == "1"


def test_a_call_too_long_for_the_table_is_shown_whole(cloud: Cloud) -> None:
    """Its arguments lie in the bucket; the approver sees the last letter."""
    first = cloud.stage.ask()["checkpoint_id"]
    assert cloud.approvals("approve", first, "--resume").returncode == 0
    waiting = cloud.stage.ask("more")["checkpoint_id"]

    shown = cloud.approvals("show", waiting[:8], "--json")

    assert cloud.keys(STATE_OBJECT_PREFIX)
    assert json.loads(shown.stdout)["arguments"] == {"amount": 20, "to": LONG}


def opened(cloud: Cloud, **changes: Any) -> Checkpoint:
    """Let the agent ask for something, a moment ago."""
    moment = now()
    changes = {"created_at": moment, "expires_at": moment.replace(year=moment.year + 1), **changes}
    asked = checkpoint(next(NUMBERS), due_at=changes["expires_at"], **changes)
    GuardStore(cloud.records()).open(asked)
    return asked


def test_nobody_approves_what_the_same_identity_asked_for(cloud: Cloud) -> None:
    """By the ARN's last part, whatever role it came by; rejecting it is nobody's gain."""
    mine = opened(cloud, requester=me().rpartition("/")[2])

    approved = cloud.approvals("approve", mine.id)
    rejected = cloud.approvals("reject", mine.id, "--reason", "my mistake")

    assert approved.returncode == 1
    assert "asked for this: somebody else has to approve it" in approved.stderr
    assert rejected.returncode == 0
    assert len(cloud.keys(f"{DECISION_OBJECT_PREFIX}{mine.id}/")) == 2


def test_a_bucket_that_takes_no_event_lets_nothing_be_decided(cloud: Cloud) -> None:
    """The decision's item is not there either."""
    asked = opened(cloud)
    s3 = client_at(cloud.url, "s3")
    for key in cloud.keys(""):
        s3.delete_object(Bucket=cloud.bucket, Key=key)
    s3.delete_bucket(Bucket=cloud.bucket)

    refused = cloud.approvals("approve", asked.id)

    assert refused.returncode == 1
    assert "(audit_" in refused.stderr
    assert cloud.records().get(f"{Item.DECISION}{asked.id}") is None


def test_the_agent_is_not_reached_and_the_decision_stands(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was decided is shown first; then what failed, and the command to try again."""
    asked = opened(cloud)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENTCORE", "http://127.0.0.1:9")

    approved = cloud.approvals("approve", asked.id, "--resume")

    assert approved.returncode == 1
    assert "decision    approved by " in approved.stdout
    assert f"resume  rastro approvals resume {asked.id} --environment prod\n" in approved.stdout
    assert f"invoking {ARN} failed: AWS was not reached" in approved.stderr
    assert cloud.records().get(f"{Item.DECISION}{asked.id}") is not None


def test_the_digest_key_is_not_asked_for(cloud: Cloud) -> None:
    """People may not read it: a key of this process joins with nothing, and nothing is said about it."""
    asked = opened(cloud)

    decided = cloud.approvals("edit", asked.id, "--arguments", '{"order_id": "1", "amount": 1}')

    assert (decided.returncode, decided.stderr) == (0, "")
    assert cloud.records().get(f"{Item.KEY}digest") is None


def test_which_tools_run_there_is_not_known_here(cloud: Cloud) -> None:
    """It says so, and what can be seen instead."""
    del cloud

    refused = command("tools", "--environment", "prod")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert "only its runtime knows" in refused.stderr
    assert "rastro audit report --environment prod" in refused.stderr
