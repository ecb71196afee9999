"""Publish alerts to an SNS topic; its subscribers filter by what an alert says of itself."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import boto3
from botocore.config import Config

from agent_image.errors import AgentError
from agent_image.guard.alerts import Alert, document, sentence
from agent_image.retrieval.failure import AWS_ERRORS, aws_failure

SUBJECT_LENGTH: Final = 100
"""ASCII characters that a subject takes (Publish)."""
_ARN: Final = re.compile(r"arn:aws[a-z-]*:sns:(?P<region>[a-z0-9-]+):[0-9]{12}:[A-Za-z0-9_-]{1,256}")
_CONFIG: Final = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2})


class TopicError(AgentError):
    """Say that a topic did not take an alert; the code tells why."""


class Topic:
    """Publish alerts to one topic."""

    name = "sns"

    def __init__(self, arn: str, client: Any, environment: str) -> None:  # noqa: ANN401 - boto3 has no types
        """Take the topic, a boto3 client of SNS, and the environment's name."""
        self._arn = arn
        self._client = client
        self._environment = environment

    def send(self, alert: Alert) -> None:
        """Publish an alert: a sentence for who reads it by mail, and a JSON object for all else.

        Raises:
            TopicError: the topic did not take it.
        """
        record, text = document(alert, self._environment), sentence(alert, self._environment)
        shown = {"kind": record["alert"], "severity": record["severity"], "page": str(record["page"]).lower()}
        try:
            self._client.publish(
                TopicArn=self._arn,
                Subject=text.splitlines()[0].encode("ascii", "replace").decode()[:SUBJECT_LENGTH],
                Message=json.dumps({"default": json.dumps(record), "email": text}),
                MessageStructure="json",
                MessageAttributes={name: {"DataType": "String", "StringValue": value} for name, value in shown.items()},
            )
        except AWS_ERRORS as error:
            code = f"topic_{aws_failure(error)}"
            raise TopicError(code, "The topic did not take the alert.") from None


def sns_client(arn: str) -> Any:  # noqa: ANN401 - the same
    """Make a client for the Region of a topic, with timeouts that let a worker go on.

    Raises:
        ValueError: it is no topic's ARN.
    """
    if (found := _ARN.fullmatch(arn)) is None:
        message = f"alerts is {arn!r}; allowed: the ARN of an SNS topic"
        raise ValueError(message)
    return boto3.client("sns", region_name=found["region"], config=_CONFIG)
