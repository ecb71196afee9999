"""Run the canary: the agent that ships, with tools and a memory that say their markers in every way there is.

`opentelemetry-instrument python -m tests.canary.agent`. Nothing but the plan differs from `python -m agent_image`, and
the locks that the variable OFF names.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import traceback
import urllib.parse
import urllib.request
import warnings
from collections.abc import Callable
from typing import Any, Final

import requests
from opentelemetry import metrics, trace
from opentelemetry._logs import get_logger_provider
from opentelemetry.trace import Link, Status, StatusCode
from strands import tool
from strands.memory import MemoryEntry, MemoryManager
from strands.memory.types import MemoryStore

from agent_image.agent import PROMPT, AgentPlan
from agent_image.assemble import assemble, plan
from agent_image.contract import Zone
from agent_image.retrieval.retriever import Retriever
from agent_image.settings import Settings, load
from agent_image.tools.zoned import ZonedTool
from tests.canary import script
from tests.canary.guarded import STAGES, TOOLS
from tests.canary.locks import Lock, without

OFF: Final = "CANARY_OFF"
"""The variable that names the locks to take off, with commas between them."""
ELSEWHERE: Final = "CANARY_ELSEWHERE"
"""The variable that names a server that a tool calls."""

# What was there before the agent started is what a guard forgets most easily.
_EARLY_HANDLER: Final = logging.StreamHandler()
_LOGGER: Final = logging.getLogger("canary")
_EARLY_LOGGER: Final = logging.getLogger("canary.early")
_FILE_LOGGER: Final = logging.getLogger("canary.file")


@tool
def fail(detail: str) -> str:
    """Fail."""
    message = f"{script.EXCEPTION} {detail}"
    raise RuntimeError(message)


@tool
def talk(topic: str) -> str:
    """Say something wherever there is somebody to hear."""
    for say in (_prints, _logs, _raises, _traces, _measures, _calls):
        say()
    return f"{script.TOOL_RESULT} {topic}"


def _prints() -> None:
    out, error, data, early, trace_back = map(str, script.PRINTED)
    print(out)  # noqa: T201 - so does a debugging developer
    print("no end of the line:", error, end="", file=sys.stderr)  # noqa: T201
    sys.stdout.buffer.write(data.encode())
    assert sys.__stdout__ is not None
    sys.__stdout__.write(early)
    try:
        _raise(trace_back)
    except ValueError:
        traceback.print_exc()


def _logs() -> None:
    arguments, whole, exception, extra, early = map(str, script.LOGGED)
    _LOGGER.warning("logged with %s", arguments)
    _LOGGER.error(f"logged {whole}")  # noqa: G004 - what others do, too
    try:
        _raise(exception)
    except ValueError:
        _LOGGER.exception("caught")
    _LOGGER.warning("more", extra={"more": extra})
    _EARLY_LOGGER.warning(early)
    _FILE_LOGGER.warning(str(script.LOGGED_TO_A_FILE))


def _raises() -> None:
    in_thread, collected, warned = map(str, script.HOOKED)
    thread = threading.Thread(target=_raise, args=(in_thread,))
    thread.start()
    thread.join()
    _Unraisable(collected)
    warnings.warn(warned, stacklevel=1)


def _raise(text: str) -> None:
    raise ValueError(text)


class _Unraisable:
    def __init__(self, text: str) -> None:
        self.text = text

    def __del__(self) -> None:
        _raise(self.text)


def _traces() -> None:
    name, attribute, event, link, status, scope, _ = map(str, script.SPANS)
    tracer = trace.get_tracer(scope)
    here = trace.get_current_span().get_span_context()
    with tracer.start_as_current_span(name, links=[Link(here, {"note": link})]) as span:
        span.set_attribute("note", attribute)
        span.set_attribute("gen_ai.tool.name", [attribute, attribute])
        span.add_event("note", {"note": event})
        span.record_exception(ValueError(str(script.RECORDED)))
        span.set_status(Status(StatusCode.ERROR, status))


def _measures() -> None:
    metrics.get_meter("canary").create_counter("canary").add(1, {"note": str(script.METRIC)})


def _calls() -> None:
    url = f"{os.environ[ELSEWHERE]}/{urllib.parse.quote(str(script.SPANS[-1]))}"
    requests.get(url, timeout=5).close()
    urllib.request.urlopen(url, timeout=5).close()  # noqa: S310


class _Memory(MemoryStore):
    """Remember one thing, and what it is told."""

    name = "memories"
    description = None
    max_search_results = None
    writable = True
    extraction = None

    def __init__(self) -> None:
        self._entries = [MemoryEntry(str(script.MEMORY))]

    async def search(self, query: str, options: Any = None) -> list[MemoryEntry]:
        return [*self._entries]

    async def add(self, content: str, metadata: Any = None) -> None:
        self._entries.append(MemoryEntry(content))


class _BrokenMemory(_Memory):
    """Fail, and say what it was asked."""

    name = "broken"
    writable = False

    async def search(self, query: str, options: Any = None) -> list[MemoryEntry]:
        raise ValueError(query)


def _plan(settings: Settings, retriever: Retriever | None) -> AgentPlan:
    shipped = plan(settings, retriever)
    return AgentPlan(
        shipped.model,
        [*shipped.tools, ZonedTool(fail, Zone.GREEN), ZonedTool(talk, Zone.GREEN), *TOOLS],
        prompt=f"{PROMPT}\n{script.SYSTEM_PROMPT}",
        plugins=[
            MemoryManager(
                [_Memory(), _BrokenMemory()],
                add_tool_config=True,
                injection={"query": lambda _: str(script.MEMORY_QUERY)},
            )
        ],
        attempts=1,
        stages=STAGES,
    )


def _end(*_: object) -> None:
    """Send what waits of logs and metrics too: in production a longer life would."""
    providers: list[Any] = [get_logger_provider(), metrics.get_meter_provider()]
    for provider in providers:
        flush: Callable[[], object] = getattr(provider, "force_flush", lambda: None)
        flush()
    sys.exit(0)


def main() -> None:
    """Serve until a signal ends it."""
    signal.signal(signal.SIGTERM, _end)
    _EARLY_LOGGER.addHandler(_EARLY_HANDLER)
    with os.fdopen(os.dup(2), "w") as error:
        _FILE_LOGGER.addHandler(logging.StreamHandler(error))
        with without([Lock(name) for name in filter(None, os.environ.get(OFF, "").split(","))]):
            app = assemble(load(os.environ, str), _plan)
        app.run(port=int(os.environ["PORT"]), timeout_graceful_shutdown=5)


if __name__ == "__main__":
    main()
