"""Reach the agent of a deployed environment, through its endpoint `live`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Final

import boto3
from botocore.config import Config
from urllib3 import HTTPResponse

from agent_image.contract import Discovery
from console.aws import told
from console.environment import Environment
from console.reply import EVENT_STREAM, Invoke, Reply

# An invocation is never sent twice: what an agent did must not be done again unasked.
_ONCE: Final = Config(connect_timeout=10, read_timeout=900, retries={"total_max_attempts": 1})
_READ_BYTES: Final = 65_536


def agent_of(environment: Environment) -> Invoke:
    """Find the agent of an environment.

    Raises:
        ConsoleError: the discovery document does not say where it is.
    """
    return partial(
        _invoke,
        environment.text(Discovery.RUNTIME_ARN),
        environment.text(Discovery.ENDPOINT),
        environment.text(Discovery.REGION),
    )


@contextmanager
def _invoke(runtime_arn: str, endpoint: str, region: str, body: bytes, session_id: str) -> Iterator[Reply]:
    attempt = f"invoking {runtime_arn} failed"
    with told(attempt):
        client = boto3.Session().client("bedrock-agentcore", region_name=region, config=_ONCE)
    with closing(client):
        with told(attempt):
            answer = client.invoke_agent_runtime(
                agentRuntimeArn=runtime_arn,
                qualifier=endpoint,
                runtimeSessionId=session_id,
                contentType="application/json",
                accept=EVENT_STREAM,
                payload=body,
            )
        with answer["response"] as stream:
            yield Reply(answer.get("statusCode", 200), answer.get("contentType", ""), _chunks(stream, attempt))


def _chunks(stream: HTTPResponse, attempt: str) -> Iterator[bytes]:
    with told(attempt):
        # At most one read of the socket each time: what is there is shown.
        yield from iter(partial(stream.read1, _READ_BYTES), b"")
