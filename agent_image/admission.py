"""Let requests in: a session each, a body of bounded size that is JSON, or a clear refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from opentelemetry import trace
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_image import answer as answers
from agent_image.contract import SESSION_HEADER, SESSION_ID_LENGTH, Span
from agent_image.errors import BadInvocation
from agent_image.invocation import is_session_id
from agent_image.telemetry.sessions import session_scope

BODY_LIMIT: Final = 1_048_576
"""Bytes of an invocation's body."""
INVOCATIONS: Final = "/invocations"
_BAD_REQUEST: Final = 400
_TOO_LARGE: Final = 413


class Admission:
    """Stand in front of `/invocations`; every other path passes untouched."""

    def __init__(self, app: ASGIApp, new_session: Callable[[], str]) -> None:
        """Take the application, and how a session id is made for a caller who brings none."""
        self._app = app
        self._new_session = new_session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit or refuse one request."""
        if scope["type"] != "http" or scope["path"] != INVOCATIONS or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        session_id = Headers(scope=scope).get(SESSION_HEADER) or self._new_session()
        try:
            _check_session(session_id)
            body = await _read(scope, receive)
            _check_json(body)
        except BadInvocation as error:
            status = _TOO_LARGE if error.code == "body_too_large" else _BAD_REQUEST
            refusal = JSONResponse(answers.failed(error, session_id=session_id).document, status_code=status)
            await refusal(scope, receive, send)
            return
        MutableHeaders(scope=scope)[SESSION_HEADER] = session_id
        # The server's span started before this middleware: baggage comes too late for it.
        trace.get_current_span().set_attribute(Span.SESSION, session_id)
        with session_scope(session_id):
            await self._app(scope, _replay(body, receive), _told(session_id, send))


def _check_session(session_id: str) -> None:
    if not is_session_id(session_id):
        least, most = SESSION_ID_LENGTH
        raise BadInvocation(
            "invalid_session", f"{SESSION_HEADER} must be {least} to {most} visible ASCII characters, or left out."
        )


async def _read(scope: Scope, receive: Receive) -> bytes:
    """Read the whole body, and no more of it than the limit."""
    too_large = BadInvocation("body_too_large", f"The body must not exceed {BODY_LIMIT:,} bytes.")
    length = Headers(scope=scope).get("content-length", "")
    if length.isascii() and length.isdigit() and int(length) > BODY_LIMIT:
        raise too_large
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > BODY_LIMIT:
            raise too_large
        if message["type"] != "http.request" or not message.get("more_body", False):
            return bytes(body)


def _check_json(body: bytes) -> None:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        raise BadInvocation("invalid_json", "The body is not JSON.") from None


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand the body that was read to the application, then whatever comes after it."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed


def _told(session_id: str, send: Send) -> Send:
    """Return the session id to the caller, who may not have had one."""

    async def telling(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)[SESSION_HEADER] = session_id
        await send(message)

    return telling
