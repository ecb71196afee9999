"""A share of the sessions is kept, and every session in which something went wrong: whole."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

from agent_image.contract import Span, Verdict
from agent_image.telemetry.sampling import SessionSampler, is_kept, is_signal
from agent_image.telemetry.shape import encoded
from tests.agent_image.telemetry.spans import SESSION, Memory, Trail, made

NONE, ALL = Decimal(0), Decimal(1)
FAILED = {"error.type": "ValueError"}


def work(name: str = "work", session: str = SESSION, **more: Any) -> ReadableSpan:
    return made(name, {Span.SESSION: session, **more})


@pytest.mark.parametrize(
    ("attributes", "signal"),
    [
        ({"error.type": "ValueError"}, True),
        ({Span.DECISION: "blocked"}, True),
        ({Span.DECISION: "asked"}, True),
        ({Span.DECISION: "allowed"}, False),
        ({Span.VERDICT: Verdict.BAD.value}, True),
        ({Span.VERDICT: Verdict.GOOD.value}, False),
        ({}, False),
    ],
)
def test_what_makes_a_session_worth_keeping(attributes: dict[str, str], signal: bool) -> None:  # noqa: FBT001
    """An error, a decision of the guard other than letting through, a bad verdict."""
    assert is_signal(made(attributes=attributes)) is signal


def test_an_error_status_makes_a_session_worth_keeping() -> None:
    """A library that knows no error.type sets the status."""
    trail = Trail(memory := Memory())
    with trail.tracing() as provider, provider.get_tracer("x").start_as_current_span("work") as span:
        span.set_status(StatusCode.ERROR)

    assert is_signal(memory.spans[0])


def test_by_default_every_session_is_kept() -> None:
    """Nothing is held back, and nothing is hashed."""
    spans = [work(), made("no session")]

    assert SessionSampler(ALL).admitted(spans) == spans


def test_a_session_outside_the_share_waits_for_a_signal_and_then_leaves_whole() -> None:
    """What came before the signal, the signal itself, and everything after."""
    sampler = SessionSampler(NONE)
    first, second, failed, later = work("1"), work("2"), work("3", **FAILED), work("4")

    assert sampler.admitted([first, second]) == []
    assert sampler.admitted([failed]) == [first, second, failed]
    assert sampler.admitted([later]) == [later]
    assert sampler.evicted == 0


def test_a_signal_keeps_its_own_session_only() -> None:
    """The neighbours still wait."""
    sampler = SessionSampler(NONE)

    assert sampler.admitted([work("1", "a"), work("2", "b")]) == []
    assert [span.name for span in sampler.admitted([work("3", "a", **FAILED)])] == ["1", "3"]


def test_a_span_without_session_goes_with_its_trace() -> None:
    """The server's span starts before anybody knows the session, and ends last."""
    trail = Trail(memory := Memory(), share=NONE)
    with trail.tracing() as provider:
        tracer = provider.get_tracer("x")
        with tracer.start_as_current_span("POST /invocations"):
            tracer.start_span("work", attributes={Span.SESSION: SESSION}).end()
        tracer.start_span("alone").end()

    assert memory.names() == ["alone"]


def test_what_waits_is_bounded_and_what_is_evicted_is_counted() -> None:
    """The session that was quiet longest goes first, whole."""
    size = len(encoded(work("1", "a")))
    sampler = SessionSampler(NONE, buffer_bytes=3 * size + size // 2)
    sampler.admitted([work("1", "a"), work("2", "b"), work("3", "a")])

    sampler.admitted([work("4", "c")])

    assert sampler.evicted == 1
    assert [span.name for span in sampler.admitted([work("5", "b", **FAILED)])] == ["5"]
    assert [span.name for span in sampler.admitted([work("6", "a", **FAILED)])] == ["1", "3", "6"]
    assert [span.name for span in sampler.admitted([work("7", "c", **FAILED)])] == ["4", "7"]


def test_a_session_that_left_makes_room() -> None:
    """What was kept waits no longer."""
    size = len(encoded(work("1", "a")))
    sampler = SessionSampler(NONE, buffer_bytes=2 * size + size // 2)
    sampler.admitted([work("1", "a"), work("2", "a"), work("3", "a", **FAILED)])

    sampler.admitted([work("4", "b"), work("5", "b")])

    assert sampler.evicted == 0


@given(st.text(max_size=40), st.decimals(0, 1), st.decimals(0, 1))
def test_a_larger_share_keeps_what_a_smaller_one_kept(session: str, one: Decimal, other: Decimal) -> None:
    """The share is a threshold on the session's hash."""
    smaller, larger = sorted([one, other])

    assert is_kept(session, larger) or not is_kept(session, smaller)
    assert is_kept(session, ALL)
    assert not is_kept(session, NONE)


def test_the_share_is_the_share() -> None:
    """A quarter of many sessions is about a quarter."""
    kept = sum(is_kept(f"session-{n}", Decimal("0.25")) for n in range(4_000))

    assert 900 < kept < 1_100


def test_every_process_decides_alike() -> None:
    """Python's own hash differs from process to process; a session may be resumed in another one."""
    code = (
        "from decimal import Decimal; from agent_image.telemetry.sampling import is_kept;"
        "print([is_kept(str(n), Decimal('0.5')) for n in range(64)])"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert there.strip() == str([is_kept(str(n), Decimal("0.5")) for n in range(64)])
