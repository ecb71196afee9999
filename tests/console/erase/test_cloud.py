"""The whole path in an environment: readers by Logs Insights, words out of DynamoDB and S3, events of an identity."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from time import sleep
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from agent_image.contract import (
    DISCOVERY_PREFIX,
    ERASURE_OBJECT_PREFIX,
    PASSAGE_OBJECT_PREFIX,
    STATE_OBJECT_PREFIX,
    Choice,
    Discovery,
    Regime,
    Span,
)
from agent_image.guard.store import session_key
from agent_image.retrieval.s3_store import S3Clients, S3PassageStore, S3Place
from agent_image.retrieval.store import State
from agent_image.stores.dynamodb import DynamoRecords
from agent_image.stores.large import LargeState
from agent_image.telemetry.shape import encoded
from console.moments import now
from tests.agent_image.grounds import RETURNS, SESSION, Clock, Stage
from tests.agent_image.guard.erased import STORY, WORDS, held_of
from tests.agent_image.guard.gate_grounds import Effects
from tests.console.approvals.test_cloud import me
from tests.console.approvals.test_path import Answer, command
from tests.console.test_environment import credentials
from tests.loopback.aws import moto
from tests.loopback.insights import Insights, querying
from tests.loopback.table import client_at, make_bucket, make_table, unpackable

__all__ = ["credentials"]
NUMBERS = count()
GROUP = "/aws/bedrock-agentcore/runtimes/rastro_prod-AbCdEf1234-live"
FORM = RETURNS.fingerprint
LONG = unpackable(400_000)


@dataclass
class Cloud:
    """Hold an environment whose agent was reading the passage, in a conversation too long for an item."""

    stage: Stage
    effects: Effects
    checkpoint: str
    url: str
    name: str
    archive: S3PassageStore
    regime: Regime

    def erase(self, *arguments: str) -> Answer:
        return command("erase", *arguments, "--environment", "prod", FORM.text)

    def objects(self, prefix: str) -> dict[str, str]:
        s3 = client_at(self.url, "s3")
        listed = s3.list_objects_v2(Bucket=self.name, Prefix=prefix).get("Contents", ())
        return {one["Key"]: s3.get_object(Bucket=self.name, Key=one["Key"])["Body"].read().decode() for one in listed}

    @property
    def kept(self) -> str:
        return held_of(self.stage.records, *(f"{session_key(SESSION)}{part}" for part in ("#conversation", "#batch")))


def line_of(span: ReadableSpan) -> str:
    """Write a span as it is stored: on AgentCore its session comes out of the baggage."""
    document = json.loads(encoded(span))
    document["attributes"][Span.SESSION] = SESSION
    return json.dumps(document)


@pytest.fixture(params=[Regime.ARCHIVE, Regime.CONTENT])
def cloud(credentials: None, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Cloud]:
    del credentials
    regime: Regime = request.param
    name = f"rastro-erase-{next(NUMBERS)}"
    with moto() as url, querying(Insights()) as insights:
        make_table(url, name)
        make_bucket(url, name)
        s3, dynamodb = client_at(url, "s3"), client_at(url, "dynamodb")
        records = DynamoRecords(name, dynamodb, LargeState(name, s3), pause=sleep)
        archive = S3PassageStore(S3Place(name, PASSAGE_OBJECT_PREFIX, name), S3Clients(s3, dynamodb))
        archive.put(FORM.text, WORDS.encode())
        (clock := Clock()).now = now()
        effects = Effects()
        stage = Stage(STORY, tools=[effects.pay()], records=records, clock=clock, regime=regime)
        checkpoint = stage.ask(LONG)["checkpoint_id"]
        insights.put_spans(GROUP, map(line_of, stage.spans))
        discovery: dict[str, Any] = {
            Discovery.REGION: "eu-central-1",
            Discovery.CAPTURE: regime,
            Discovery.LOG_GROUP: GROUP,
            Discovery.RETENTION_DAYS: 30,
            Discovery.DESTINATION: "cloudwatch",
            Discovery.TABLE: name,
            Discovery.ARCHIVE: name,
            Discovery.AUDIT: name,
        }
        client_at(url, "ssm").put_parameter(
            Name=f"{DISCOVERY_PREFIX}prod", Value=json.dumps(discovery), Type="String", Overwrite=True
        )
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        for variable, value in insights.variables().items():
            monkeypatch.setenv(variable, value)
        yield Cloud(stage, effects, checkpoint, url, name, archive, regime)


def test_a_passage_is_erased_in_an_environment(cloud: Cloud) -> None:
    """The object is empty, the item says so, the session reads without the words, and its approval still counts."""
    assert WORDS in cloud.kept
    before = cloud.objects(STATE_OBJECT_PREFIX)

    done = cloud.erase("--yes", "--json", "--reason", "by court order")

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(one["session_id"], one["fate"], one["copies"]) for one in found["sessions"]] == [(SESSION, "erased", 2)]
    assert found["scan"]["queries"] > 0
    assert cloud.objects(PASSAGE_OBJECT_PREFIX) == {f"{PASSAGE_OBJECT_PREFIX}{FORM.text}": ""}
    assert cloud.archive.known([FORM.text]) == {FORM.text: State.ERASED}
    assert WORDS not in cloud.kept
    assert before.keys() < cloud.objects(STATE_OBJECT_PREFIX).keys()
    events = [json.loads(line) for line in cloud.objects(f"{ERASURE_OBJECT_PREFIX}{FORM.text}/").values()]
    assert {one["code"] for one in events} == {"attempt", "done"}
    assert {one["approver"] for one in events} == {me()}
    cloud.stage.decide(cloud.checkpoint, Choice.APPROVE)
    assert cloud.stage.go_on(cloud.checkpoint)["status"] == "completed"
    assert len(cloud.effects.done) == 1


def test_what_is_not_reached_is_named(cloud: Cloud) -> None:
    """What lies behind in the bucket and in backups; and, where the trail holds words, until when."""
    done = cloud.erase("--yes", "--json")

    limits = {one["code"]: one["text"] for one in json.loads(done.stdout)["limits"]}
    assert {"index", "neighbours", "audit", "state", "backups", "copies"} <= {*limits}
    if cloud.regime is not Regime.CONTENT:
        assert "trail" not in limits
        return
    last = max(span.start_time or 0 for span in cloud.stage.spans if span.name.startswith("retrieval"))
    assert GROUP in limits["trail"]
    assert f"{datetime.fromtimestamp(last / 1e9, UTC) + timedelta(days=30):%Y-%m-%d}" in limits["trail"]
