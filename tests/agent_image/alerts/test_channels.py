"""Channels are what the settings name, and none where they name none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from agent_image.alerts.channels import channels_at, secret, secrets_client
from agent_image.alerts.webhook import WebhookError
from tests.agent_image.alerts.test_sns import CLIENT
from tests.agent_image.alerts.test_webhook import Receiver, receiving
from tests.agent_image.guard.alarms import alert
from tests.loopback.aws import moto

TOPIC = "arn:aws:sns:us-east-1:123456789012:alerts"
SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:hook-AbCdEf"  # noqa: S105 - where one would be


@pytest.fixture
def secrets() -> Iterator[Any]:
    with moto() as url:
        yield boto3.client("secretsmanager", endpoint_url=url, **CLIENT)


def test_without_settings_there_is_no_channel() -> None:
    """Events are written all the same."""
    assert channels_at("prod") == ()


def test_each_setting_is_a_channel() -> None:
    """Each with a name of its own, by which the outbox knows who took an alert."""
    both = channels_at("prod", webhook="https://hooks.example/x", topic=TOPIC)

    assert [one.name for one in both] == ["webhook", "sns"]
    assert [one.name for one in channels_at("prod", webhook_secret_arn=SECRET)] == ["webhook"]
    assert [one.name for one in channels_at("prod", topic=TOPIC)] == ["sns"]


def test_a_webhook_posts_for_its_environment() -> None:
    """The name is in the text."""
    with receiving(Receiver()) as receiver:
        (webhook,) = channels_at("staging", webhook=receiver.url)
        webhook.send(alert())

    assert "loop in staging" in json.dumps(receiver.posted[0][2])


def test_what_is_no_topic_is_refused_at_the_start() -> None:
    """Before the agent serves."""
    with pytest.raises(ValueError, match="SNS topic"):
        channels_at("prod", topic="alerts")


def test_the_secret_is_the_address(secrets: Any) -> None:
    """Read when it is asked for, each time."""
    arn = secrets.create_secret(Name="hook", SecretString="https://hooks.example/1")["ARN"]
    read = secret(arn, secrets)
    assert read() == "https://hooks.example/1"
    secrets.put_secret_value(SecretId=arn, SecretString="https://hooks.example/2")

    assert read() == "https://hooks.example/2"


def test_a_secret_that_cannot_be_read_is_a_failure(secrets: Any) -> None:
    """By its code."""
    binary = secrets.create_secret(Name="bytes", SecretBinary=b"\x00")["ARN"]
    for arn, code in ((SECRET, "webhook_secret_not_found"), (binary, "webhook_secret_empty")):
        with pytest.raises(WebhookError) as raised:
            secret(arn, secrets)()
        assert raised.value.code == code


def test_a_secret_is_read_in_its_own_region() -> None:
    """Wherever the agent is."""
    assert secrets_client(SECRET.replace("us-east-1", "sa-east-1")).meta.region_name == "sa-east-1"
