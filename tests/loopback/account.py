"""Stand in for an AWS account: each question is answered by a script, in the protocol of its service."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote
from xml.sax.saxutils import escape

import requests

from tests.loopback.server import QuietHandler, serving

_PATIENCE_SECONDS = 30
_SERVICES = {"Logs_20140328": "logs", "AmazonSSM": "ssm", "GraniteServiceVersion20100801": "cloudwatch"}


@dataclass(frozen=True)
class Refused:
    """Refuse a question by an AWS error."""

    code: str = "AccessDeniedException"
    status: int = 400


@dataclass(frozen=True)
class Streamed:
    """Answer with bytes of a type of their own."""

    body: bytes
    content_type: str


Answer = Mapping[str, Any] | Refused | Streamed
Script = Callable[[Mapping[str, Any]], Answer]


@dataclass
class CloudAccount:
    """Hold what an account answers, by the right that a question takes (`logs:DescribeLogGroups`).

    Attributes:
        answers: the script; a question that is not in it is refused as denied.
        onward: a server that answers questions to IAM that are not in the script.
        asked: every question, with what was asked.
    """

    answers: dict[str, Answer | Script] = field(default_factory=dict)
    onward: str | None = None
    url: str = ""
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def answer(self, action: str, asked: Mapping[str, Any]) -> Answer:
        """Find the answer to a question."""
        self.asked.append((action, asked))
        found = self.answers.get(action, Refused())
        return found if isinstance(found, Mapping | Refused | Streamed) else found(asked)

    def actions(self) -> set[str]:
        """Name what was asked."""
        return {action for action, _ in self.asked}


@contextmanager
def answering(account: CloudAccount) -> Iterator[CloudAccount]:
    """Serve the account on loopback until the block ends."""

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body, path = self.body(), unquote(self.path)
            service, _, operation = self.headers.get("X-Amz-Target", "").partition(".")
            if operation:
                sent = _json(account.answer(f"{_SERVICES[service]}:{operation}", json.loads(body)))
            elif self.headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded"):
                sent = _query(account, body, {name: value for name, value in self.headers.items() if name != "Host"})
            else:
                sent = _json(account.answer(*_rest(path, body)))
            more = {} if sent.code is None else {"x-amzn-ErrorType": sent.code}
            self.answer(sent.body, status=sent.status, content_type=sent.content_type, **more)

        do_GET = do_POST

    with serving(Handler) as account.url:
        yield account


@dataclass(frozen=True)
class _Sent:
    body: bytes
    content_type: str
    status: int = 200
    code: str | None = None


def _json(answer: Answer) -> _Sent:
    match answer:
        case Refused(code, status):
            refusal = {"__type": code, "message": "secret words of AWS"}
            return _Sent(json.dumps(refusal).encode(), "application/x-amz-json-1.1", status, code)
        case Streamed(body, content_type):
            return _Sent(body, content_type)
    return _Sent(json.dumps(answer).encode(), "application/x-amz-json-1.1")


def _query(account: CloudAccount, body: bytes, headers: Mapping[str, str]) -> _Sent:
    """Answer in XML, as IAM and STS do."""
    asked = {key: values[0] for key, values in parse_qs(body.decode()).items()}
    operation = asked["Action"]
    action = f"{'sts' if operation == 'GetCallerIdentity' else 'iam'}:{operation}"
    if account.onward is not None and action not in account.answers:
        account.asked.append((action, asked))
        given = requests.post(account.onward, data=body, headers=headers, timeout=_PATIENCE_SECONDS)
        return _Sent(given.content, "text/xml", given.status_code)
    match account.answer(action, asked):
        case Refused(code, _):
            error = f"<Code>{code}</Code><Message>secret words of AWS</Message>"
            return _Sent(f"<ErrorResponse><Error>{error}</Error></ErrorResponse>".encode(), "text/xml", 403)
        case Streamed():
            raise AssertionError(action)
        case found:
            text = f"<{operation}Response><{operation}Result>{_xml(found)}</{operation}Result></{operation}Response>"
            return _Sent(text.encode(), "text/xml")


def _rest(path: str, body: bytes) -> tuple[str, Mapping[str, Any]]:
    """Name the question of a path, and what was asked."""
    if path.partition("?")[0].endswith("/invocations"):
        return "bedrock-agentcore:InvokeAgentRuntime", {"path": path, **json.loads(body)}
    if found := re.fullmatch(r"/runtimes/([^/]+)/runtime-endpoints/([^/]+)/", path):
        return "bedrock-agentcore:GetAgentRuntimeEndpoint", {"runtime": found[1], "endpoint": found[2]}
    if found := re.fullmatch(r"/runtimes/([^/]+)/", path):
        return "bedrock-agentcore:GetAgentRuntime", {"runtime": found[1]}
    return f"xray:{path.removeprefix('/')}", json.loads(body or b"{}")


def _xml(value: object) -> str:
    if isinstance(value, Mapping):
        return "".join(f"<{key}>{_xml(one)}</{key}>" for key, one in value.items())
    if isinstance(value, list):
        return "".join(f"<member>{_xml(one)}</member>" for one in value)
    return escape(str(value).lower() if isinstance(value, bool) else str(value))
