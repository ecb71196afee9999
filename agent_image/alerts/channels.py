"""Open the channels that the settings name: a webhook's address, the secret that holds it, a topic; or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import boto3
from botocore.config import Config

from agent_image.alerts.sns import Topic, sns_client
from agent_image.alerts.webhook import Webhook, WebhookError
from agent_image.guard.alerts import Channel
from agent_image.retrieval.failure import AWS_ERRORS, aws_failure

_CONFIG: Final = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2})


def channels_at(
    environment: str,
    *,
    webhook: str | None = None,
    webhook_secret_arn: str | None = None,
    topic: str | None = None,
) -> tuple[Channel, ...]:
    """Open the channels of an environment; a secret is read when the first alert goes out.

    Raises:
        ValueError: the topic is none.
    """
    channels: list[Channel] = []
    if webhook is not None:
        channels.append(Webhook(lambda: webhook, environment))
    elif webhook_secret_arn is not None:
        channels.append(Webhook(secret(webhook_secret_arn, secrets_client(webhook_secret_arn)), environment))
    if topic is not None:
        channels.append(Topic(topic, sns_client(topic), environment))
    return tuple(channels)


def secret(arn: str, client: Any) -> Callable[[], str]:  # noqa: ANN401 - boto3 has no types
    """Give the way to a secret's text."""

    def read() -> str:
        try:
            return str(client.get_secret_value(SecretId=arn)["SecretString"])
        except KeyError:
            raise WebhookError("webhook_secret_empty", "The webhook's secret holds no text.") from None
        except AWS_ERRORS as error:
            code = f"webhook_secret_{aws_failure(error)}"
            raise WebhookError(code, "The webhook's secret cannot be read.") from None

    return read


def secrets_client(arn: str) -> Any:  # noqa: ANN401 - the same
    """Make a client for the Region of a secret."""
    return boto3.client("secretsmanager", region_name=arn.split(":")[3], config=_CONFIG)
