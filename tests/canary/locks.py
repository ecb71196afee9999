"""Name the locks on every door that content could leave by, and take them off: only this test can.

A lock of the environment is taken off by leaving its variable out. A lock of the process is taken off after the agent
has been assembled as in production: what stood there before is put back.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Any, Final

from opentelemetry import metrics, trace
from opentelemetry._logs import get_logger_provider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter

from agent_image import guard_of
from agent_image.contract import Regime
from agent_image.digest import Digest
from agent_image.guard import audit, events
from agent_image.guard.audit import AuditText
from agent_image.guard.gate import Gate
from agent_image.guard.plain import Words, compact
from agent_image.guard.slim import SlimLine
from agent_image.telemetry import seal
from agent_image.telemetry.doors import STREAMS, stream_handlers
from agent_image.telemetry.exporter import Lost, TrailExporter
from agent_image.telemetry.prune import Pruner
from agent_image.telemetry.sampling import SessionSampler
from agent_image.telemetry.strip import Strip


class Lock(StrEnum):
    """Name each lock; those of the environment by their variables."""

    STRANDS = "OTEL_SEMCONV_STABILITY_OPT_IN"
    REDACTED_ATTRIBUTES = "AWS_REDACT_SPAN_ATTRIBUTES"
    MESSAGE_EVENTS = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
    NO_LOG_EXPORTER = "OTEL_LOGS_EXPORTER"
    NO_LOG_PROVIDER = "OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED"
    NO_METRIC_EXPORTER = "OTEL_METRICS_EXPORTER"
    REGIME = "RAG_CAPTURE"
    STRIP = "strip"
    SILENCE = "silence"
    RECORDS = "records"
    STREAMS = "streams"
    HOOKS = "hooks"
    SLIM_TEXTS = "slim texts"
    CODES = "codes"
    NAMES = "names"
    REDACTION = "redaction"
    CUT = "cut"

    @property
    def is_variable(self) -> bool:
        """Tell the environment's locks from the process's."""
        return self.value.isupper()


def without(locks: Collection[Lock]) -> AbstractContextManager[object]:
    """Let start within what takes these locks with it; none of them stands afterwards."""
    stack = ExitStack()
    for lock, off in _OFF.items():
        if lock in locks:
            stack.enter_context(off())
    return stack


@contextmanager
def _unstripped() -> Iterator[None]:
    yield
    seal.seal(_provider(), _innermost)


def _innermost(exporter: SpanExporter) -> SpanExporter:
    while isinstance(exporter, TrailExporter):
        exporter = exporter.inner
    return exporter


@contextmanager
def _of_content() -> Iterator[None]:
    """Let the kit's own spans hold texts, while what strips them knows that it must not."""
    yield
    seal.seal(_provider(), _stripped)


def _stripped(exporter: SpanExporter) -> SpanExporter:
    return TrailExporter(exporter, Strip(Regime.ADDRESS), Pruner(event_loop=False), SessionSampler(Decimal(1)), Lost())


def _provider() -> TracerProvider:
    provider = trace.get_tracer_provider()
    assert isinstance(provider, TracerProvider)
    return provider


@contextmanager
def _not_silenced() -> Iterator[None]:
    """Let the providers of logs and metrics not hear what they are told."""
    logs: Any = get_logger_provider()
    meters: Any = metrics.get_meter_provider()
    handlers = list(logging.root.handlers)
    logs.shutdown = meters.shutdown = meters.remove_metric_reader = lambda *_: None
    yield
    del logs.shutdown, meters.shutdown, meters.remove_metric_reader
    logging.root.handlers[:] = handlers


@contextmanager
def _own_records() -> Iterator[None]:
    factory = logging.getLogRecordFactory()
    yield
    logging.setLogRecordFactory(factory)


@contextmanager
def _own_streams() -> Iterator[None]:
    streams = {name: getattr(sys, name) for name in STREAMS}
    handlers = [(handler, handler.stream) for handler in stream_handlers()]
    yield
    for name, stream in streams.items():
        setattr(sys, name, stream)
    for handler, stream in handlers:
        handler.setStream(stream)


@contextmanager
def _own_hooks() -> Iterator[None]:
    hooks: list[tuple[Any, str]] = [
        (sys, "excepthook"),
        (sys, "unraisablehook"),
        (threading, "excepthook"),
        (warnings, "showwarning"),
    ]
    before = [getattr(owner, name) for owner, name in hooks]
    yield
    for (owner, name), hook in zip(hooks, before, strict=True):
        setattr(owner, name, hook)


@contextmanager
def _whole_slim_lines() -> Iterator[None]:
    """Let the slim line say what the audit's line says, whole."""
    setattr(guard_of, "SlimLine", lambda digest, **_: SlimLine(digest, whole=_whole))  # noqa: B010 - a module's
    yield


def _whole(words: Words) -> str:
    return compact(words.whole)


@contextmanager
def _any_codes() -> Iterator[None]:
    """Let anything pass for a code in an event."""
    setattr(events, "_CODE", re.compile(".*", re.DOTALL))  # noqa: B010 - the same
    yield


@contextmanager
def _any_names() -> Iterator[None]:
    """Let a tool that nobody has be judged like one that is there, by the name that the model gave it."""
    setattr(Gate, "unknown", Gate.admit)  # noqa: B010 - the same
    yield


class _Unredacted:
    """Take nothing out of what is kept."""

    def __init__(self, digest: Digest) -> None:
        del digest

    def redact(self, value: Any) -> Any:
        return value


@contextmanager
def _unredacted() -> Iterator[None]:
    setattr(guard_of, "Redactor", _Unredacted)  # noqa: B010 - the same
    yield


@contextmanager
def _uncut() -> Iterator[None]:
    """Let the audit hold whole texts."""
    setattr(audit, "AuditText", partial(AuditText, limit=10**6))  # noqa: B010 - the same
    yield


_OFF: Final[Mapping[Lock, Callable[[], AbstractContextManager[None]]]] = {
    # Entered first, left last: nothing strips again what was left unstripped.
    Lock.STRIP: _unstripped,
    Lock.REGIME: _of_content,
    Lock.SILENCE: _not_silenced,
    Lock.RECORDS: _own_records,
    Lock.STREAMS: _own_streams,
    Lock.HOOKS: _own_hooks,
    Lock.SLIM_TEXTS: _whole_slim_lines,
    Lock.CODES: _any_codes,
    Lock.NAMES: _any_names,
    Lock.REDACTION: _unredacted,
    Lock.CUT: _uncut,
}
