"""Serve invocations over HTTP: HTTP in, answer out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, Final

from bedrock_agentcore.runtime import BedrockAgentCoreApp, RequestContext
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response, StreamingResponse

from agent_image import answer as answers
from agent_image.admission import Admission
from agent_image.answer import Event
from agent_image.contract import USER_HEADER, Status
from agent_image.errors import BUSY, BadInvocation
from agent_image.invocation import Invocation, Prompt, parse

EVENT_STREAM: Final = "text/event-stream"
_OK: Final = 200
_BAD_REQUEST: Final = 400
_CONFLICT: Final = 409
_USER_LENGTH: Final = 256

Run = Callable[[str, Any], AsyncIterator[Event]]
Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]


def build(
    runs: Mapping[type[Invocation], Run], *, lifespan: Lifespan, new_session: Callable[[], str]
) -> BedrockAgentCoreApp:
    """Build the application: each kind of invocation has its run."""
    app = BedrockAgentCoreApp(lifespan=lifespan, middleware=[Middleware(Admission, new_session=new_session)])
    # Its own handler would log each invocation; the span says the same, and more.
    app.logger.handlers = [logging.NullHandler()]
    app.logger.setLevel(logging.WARNING)

    async def invoke(payload: Any, context: RequestContext) -> Response:  # noqa: ANN401 - JSON of any shape
        return await _invoke(runs, payload, context)

    app.entrypoint(invoke)
    return app


async def _invoke(runs: Mapping[type[Invocation], Run], payload: object, context: RequestContext) -> Response:
    session_id = context.session_id or ""
    try:
        invocation = parse(payload)
    except BadInvocation as error:
        return JSONResponse(answers.failed(error, session_id=session_id).document, status_code=_BAD_REQUEST)
    if isinstance(invocation, Prompt):
        invocation = replace(invocation, requester=_requester(context))
    events = runs[type(invocation)](session_id, invocation)
    if context.request is not None and EVENT_STREAM in context.request.headers.get("accept", ""):
        return StreamingResponse(_relayed(events, asyncio.get_running_loop()), media_type=EVENT_STREAM)
    return await _whole(events)


def _requester(context: RequestContext) -> str | None:
    """Read who asks: as the runtime passes it on, never from the body, which anybody may write."""
    named = None if context.request is None else context.request.headers.get(USER_HEADER)
    return named[:_USER_LENGTH] if named else None


async def _whole(events: AsyncIterator[Event]) -> Response:
    closing = [event async for event in events if event.closes][-1]
    return JSONResponse(closing.document, status_code=_status(closing))


def _status(closing: Event) -> int:
    """Choose the HTTP status of an answer.

    A run that has begun answers 200, even where it failed: clients repeat an invocation that answers 5xx by themselves,
    and what an agent did must not be done again unasked. The answer's own status tells.
    """
    busy = closing.name == Status.FAILED and closing.document["error"]["code"] == BUSY
    return _CONFLICT if busy else _OK


async def _relayed(events: AsyncIterator[Event], worker: asyncio.AbstractEventLoop) -> AsyncIterator[bytes]:
    """Run on the worker's loop, give on the caller's: a tool that blocks must not keep /ping waiting."""
    here = asyncio.get_running_loop()
    queue: asyncio.Queue[Event | None] = asyncio.Queue()

    async def produce() -> None:
        try:
            async for event in events:
                here.call_soon_threadsafe(queue.put_nowait, event)
        finally:
            here.call_soon_threadsafe(queue.put_nowait, None)

    running = asyncio.run_coroutine_threadsafe(produce(), worker)
    try:
        while (event := await queue.get()) is not None:
            yield event.encoded()
    finally:
        # Where the caller hung up, the run ends too: nobody reads what it would say.
        running.cancel()
