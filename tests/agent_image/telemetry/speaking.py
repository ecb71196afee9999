"""Be an agent's process that says one text by every door there is: run by tests as a process of its own."""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings

from opentelemetry import trace
from opentelemetry._logs import LogRecord, get_logger
from opentelemetry.metrics import get_meter
from opentelemetry.trace import StatusCode

from agent_image.contract import SCOPE, Span
from agent_image.settings import load
from agent_image.telemetry.sessions import session_scope
from agent_image.telemetry.setup import start

SESSION = "session-" + "1" * 32


def main(text: str) -> None:
    telemetry = start(load(os.environ, str))
    with session_scope(SESSION), trace.get_tracer(SCOPE).start_as_current_span("invocation") as span:
        span.set_attributes({Span.RUN.value: "r1", Span.QUESTION.value: text, Span.ANSWER_TEXT.value: text})
        trace_as_a_library_does(text)
        logging.getLogger("library").error(text)
        get_logger("library").emit(LogRecord(body=text, attributes={"content": text}))
        get_meter("library").create_counter("calls").add(1, {"content": text})
    print(text)  # noqa: T201
    print(text, file=sys.__stderr__)
    warnings.warn(text, stacklevel=1)
    thread = threading.Thread(target=fail, args=(text,))
    thread.start()
    thread.join()
    telemetry.verify()
    telemetry.flush(5)
    fail(text)


def trace_as_a_library_does(text: str) -> None:
    with trace.get_tracer("strands.telemetry.tracer").start_as_current_span(f"execute_tool {text}") as span:
        span.set_attributes({"gen_ai.input.messages": text, "gen_ai.operation.name": "execute_tool"})
        span.add_event("gen_ai.choice", {"message": text})
        span.record_exception(ValueError(text))
        span.set_status(StatusCode.ERROR, text)


def fail(text: str) -> None:
    raise ValueError(text)


if __name__ == "__main__":
    main(os.environ["TEXT"])
