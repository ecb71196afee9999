"""Hold what every run of a process stands on, and the span that each invocation leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from opentelemetry.trace import Span, StatusCode, Tracer, format_span_id, format_trace_id, get_current_span
from opentelemetry.trace import Status as SpanStatus
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from agent_image import answer as answers
from agent_image.answer import Event
from agent_image.contract import Kind, Outcome, Regime
from agent_image.digest import Digest
from agent_image.faults import fault_of
from agent_image.guard.work import Run, Stopped
from agent_image.notice import notice
from agent_image.telemetry import invocation_span
from agent_image.telemetry.sessions import session_scope

_TRACEPARENT = "traceparent"


class Losses(Protocol):
    """Count what the archive lost."""

    def take_lost(self) -> int:
        """Give the number of passages lost since it was last asked for."""
        ...


@dataclass(frozen=True, slots=True)
class Ground:
    """Hold what every run of a process stands on."""

    regime: Regime
    tracer: Tracer
    digest: Digest
    archive: Losses
    new_run: Callable[[], str]


class Invoked:
    """Hold one invocation while it runs: its span, and how it ended."""

    def __init__(self, span: Span, kind: Kind, session_id: str, run: str) -> None:
        """Take the span and the ids."""
        self.span = span
        self.kind = kind
        self.session_id = session_id
        self.run = run
        # Until something says otherwise: a caller that hangs up cancels the run, and that is no completion.
        self.outcome = Outcome.FAILED

    @property
    def trace_id(self) -> str:
        """Give the id of the trace."""
        return format_trace_id(self.span.get_span_context().trace_id)

    def guarded(self, requester: str | None = None) -> Run:
        """Name the run for the guard."""
        return Run(self.run, self.session_id, self.kind, _ids, lambda: traceparent_of(self.span), requester)

    def complete(self, attributes: Mapping[str, str | int | float | bool]) -> None:
        """End well."""
        self.span.set_attributes(dict(attributes))
        self.outcome = Outcome.COMPLETED

    def fail(self, error: Exception) -> Event:
        """End with an error: its code is all that leaves."""
        fault = fault_of(error)
        self.outcome = outcome_of(error)
        self.span.set_attribute("error.type", fault.code)
        self.span.set_status(SpanStatus(StatusCode.ERROR, fault.code))
        notice("run_failed", fault=fault.code, error=type(error).__name__, session=self.session_id, trace=self.trace_id)
        return answers.failed(fault, session_id=self.session_id, trace_id=self.trace_id)


@contextmanager
def invoked(ground: Ground, kind: Kind, session_id: str) -> Iterator[Invoked]:
    """Open the span of an invocation."""
    with (
        session_scope(session_id),
        ground.tracer.start_as_current_span(
            f"{invocation_span.NAME} {kind}", record_exception=False, set_status_on_exception=False
        ) as span,
    ):
        run = ground.new_run()
        span.set_attributes(invocation_span.started(kind, run))
        invocation = Invoked(span, kind, session_id, run)
        try:
            yield invocation
        except (asyncio.CancelledError, GeneratorExit):
            span.set_attribute("error.type", "cancelled")
            raise
        finally:
            span.set_attributes(invocation_span.ended(invocation.outcome, ground.archive.take_lost()))


def outcome_of(error: Exception) -> Outcome:
    """Tell how a run ended that raised; a framework may have wrapped what the guard raised."""
    fault = fault_of(error)
    return fault.outcome if isinstance(fault, Stopped) else Outcome.FAILED


def traceparent_of(span: Span) -> str | None:
    """Write a span's context in the form that another trace links to."""
    context = span.get_span_context()
    if not context.is_valid:
        return None
    return f"00-{format_trace_id(context.trace_id)}-{format_span_id(context.span_id)}-{int(context.trace_flags):02x}"


def link_to(span: Span, traceparent: str | None) -> None:
    """Link a span to the trace that a text names; one that names none links to nothing."""
    if traceparent is None:
        return
    context = TraceContextTextMapPropagator().extract({_TRACEPARENT: traceparent}, context=None)
    paused = get_current_span(context).get_span_context()
    if paused.is_valid:
        span.add_link(paused)


def _ids() -> tuple[str, str]:
    context = get_current_span().get_span_context()
    if not context.is_valid:
        return "", ""
    return format_trace_id(context.trace_id), format_span_id(context.span_id)
