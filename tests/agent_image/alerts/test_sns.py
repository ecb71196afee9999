"""A topic gets a record for machines, a sentence for mail, and attributes to filter by."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from botocore.config import Config

from agent_image.alerts.sns import SUBJECT_LENGTH, Topic, TopicError, sns_client
from agent_image.guard.alerts import document
from agent_image.guard.findings import Severity
from tests.agent_image.guard.alarms import alert
from tests.loopback.aws import moto

CLIENT: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
    "config": Config(connect_timeout=5, read_timeout=5, retries={"total_max_attempts": 1}),
}


@dataclass(frozen=True)
class Subscribed:
    """Hold a topic, and a queue that takes all that it is told."""

    arn: str
    sns: Any
    sqs: Any
    queue: str

    def received(self) -> list[dict[str, Any]]:
        found = self.sqs.receive_message(QueueUrl=self.queue, MaxNumberOfMessages=10).get("Messages", [])
        return [json.loads(one["Body"]) for one in found]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with moto() as url:
        yield url


@pytest.fixture
def topic(server: str, request: pytest.FixtureRequest) -> Subscribed:
    sns, sqs = (boto3.client(name, endpoint_url=server, **CLIENT) for name in ("sns", "sqs"))
    name = request.node.name.replace("[", "-").replace("]", "")[:60]
    arn = sns.create_topic(Name=name)["TopicArn"]
    queue = sqs.create_queue(QueueName=name)["QueueUrl"]
    queue_arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=arn, Protocol="sqs", Endpoint=queue_arn)
    return Subscribed(arn, sns, sqs, queue)


def test_a_topic_is_told_the_record(topic: Subscribed) -> None:
    """What subscribers other than mail get, and what they filter by."""
    Topic(topic.arn, topic.sns, "prod").send(alert(severity=Severity.WARNING))

    (received,) = topic.received()
    assert json.loads(received["Message"]) == document(alert(severity=Severity.WARNING), "prod")
    assert received["Subject"] == "[warning] loop in prod: period 2, rounds 3"
    assert {name: one["Value"] for name, one in received["MessageAttributes"].items()} == {
        "kind": "loop",
        "severity": "warning",
        "page": "false",
    }


def test_a_long_subject_is_cut(topic: Subscribed) -> None:
    """SNS takes 100 characters, of ASCII."""
    Topic(topic.arn, topic.sns, "produção").send(alert(evidence={"x" * 100: "y" * 100}))

    (received,) = topic.received()
    assert len(received["Subject"]) == SUBJECT_LENGTH
    assert received["Subject"].startswith("[critical] loop in produ??o: ")


def test_a_topic_that_is_not_there_is_a_failure(topic: Subscribed) -> None:
    """By the names that every AWS failure has here."""
    with pytest.raises(TopicError) as raised:
        Topic(f"{topic.arn}-gone", topic.sns, "prod").send(alert())

    assert raised.value.code == "topic_not_found"
    assert raised.value.__cause__ is None


def test_a_server_that_is_not_there_is_a_failure() -> None:
    """The alert stays in the outbox."""
    client = boto3.client("sns", endpoint_url="http://127.0.0.1:9", **CLIENT)
    with pytest.raises(TopicError) as raised:
        Topic("arn:aws:sns:us-east-1:123456789012:t", client, "prod").send(alert())

    assert raised.value.code == "topic_unavailable"


def test_a_client_works_in_the_topics_region() -> None:
    """Wherever the agent is."""
    assert sns_client("arn:aws:sns:sa-east-1:123456789012:alerts").meta.region_name == "sa-east-1"


@pytest.mark.parametrize(
    "arn", ["", "alerts", "arn:aws:sqs:sa-east-1:123456789012:alerts", "arn:aws:sns:sa-east-1:1234:alerts"]
)
def test_what_is_no_topic_is_refused(arn: str) -> None:
    """With the value, and what is allowed."""
    with pytest.raises(ValueError, match="allowed: the ARN of an SNS topic"):
        sns_client(arn)
