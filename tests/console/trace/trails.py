"""Small trails, line by line: what a session leaves, in the very shape in which it lies in a trail."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from agent_image.contract import SCOPE, Regime
from agent_image.retrieval.passage import Passage, addresses

SESSION_ID = "64c1ebda-a0cf-4a17-bfa0-4061606e5d3e"
CHECKPOINT_ID = "4037181de7e03593e6b706b9d0ebed43a5a16ea16ebbdac8a91a93e7bef78a03"
STRANDS = "strands.telemetry.tracer"
STARLETTE = "opentelemetry.instrumentation.starlette"
BOTOCORE = "opentelemetry.instrumentation.botocore.bedrock-runtime"
BEGAN = datetime(2026, 3, 14, 3, 0, 0, tzinfo=UTC)
BASE = "s3://handbook/shop/"
TEXTS = {
    "returns.md": "Unused items can be returned within 30 days of delivery.",
    "warranty.md": "The warranty lasts two years from the day of delivery.",
    "shipping.md": "Orders leave the house within two days.",
}
QUESTION = "Within how many days can I return it?"
ANSWER = "Within 30 days of delivery [1], unused."


def at(seconds: float) -> int:
    """Give a moment of the sample as nanoseconds: so many seconds after it began."""
    return (BEGAN - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1_000 + round(seconds * 1e9)


def span(
    name: str,
    span_id: str,
    parent_id: str = "",
    *,
    start: float = 0,
    seconds: float = 0.5,
    trace_id: str = "a1" * 16,
    session_id: str = SESSION_ID,
    scope: str = STRANDS,
    kind: str = "INTERNAL",
    status: str = "UNSET",
    links: Iterable[tuple[str, str]] = (),
    **attributes: Any,
) -> dict[str, Any]:
    """Build a span as CloudWatch stores it; `__` in an attribute's name stands for a dot, `start` counts from BEGAN."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {
        "resource": {"attributes": {"service.name": "rastro"}},
        "scope": {"name": scope, "version": ""},
        "traceId": trace_id,
        "spanId": span_id,
        **({"parentSpanId": parent_id} if parent_id else {}),
        "flags": 256,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": at(start),
        "endTimeUnixNano": at(start + seconds),
        "durationNano": round(seconds * 1e9),
        "attributes": {**({"session.id": session_id} if session_id else {}), **named},
        "status": {"code": status},
        "events": [],
        **({"links": [{"traceId": trace, "spanId": one} for trace, one in links]} if links else {}),
    }


def event(
    name: str,
    seq: int,
    *,
    after: float = 0,
    run: str = "run-1",
    trace_id: str = "a1" * 16,
    span_id: str = "",
    session_id: str = SESSION_ID,
    chain: str = "session",
    **fields: Any,
) -> dict[str, Any]:
    """Build a slim line; `after` counts seconds from BEGAN."""
    return {
        "event": name,
        "ts": (BEGAN + timedelta(seconds=after)).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "seq": seq,
        "event_id": f"{chain}-{seq}",
        "chain": chain,
        "run": run,
        "step": 0,
        **({"trace_id": trace_id} if trace_id else {}),
        **({"span_id": span_id} if span_id else {}),
        "agent": "rastro",
        "attributes": {"session.id": session_id},
        **fields,
    }


def invocation(kind: str, run: str, span_id: str, parent_id: str = "", **more: Any) -> dict[str, Any]:
    """Build an invocation's span."""
    attributes = {"rastro__run": run, "rastro__kind": kind, "rastro__outcome": "completed", **more}
    return span(f"invocation {kind}", span_id, parent_id, scope=SCOPE, **attributes)


def chat(span_id: str, parent_id: str, tokens: tuple[int, int] = (100, 10), **more: Any) -> dict[str, Any]:
    """Build the span of a model's call."""
    counts = {"gen_ai__usage__input_tokens": tokens[0], "gen_ai__usage__output_tokens": tokens[1]}
    asked = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "offline"}
    return span("chat", span_id, parent_id, **{**asked, **counts, "status": "OK", **more})


def tool(name: str, call_id: str, span_id: str, parent_id: str, **more: Any) -> dict[str, Any]:
    """Build the span of a tool's call."""
    attributes = {
        "gen_ai__operation__name": "execute_tool",
        "gen_ai__tool__name": name,
        "gen_ai__tool__call__id": call_id,
        "gen_ai__tool__status": "success",
    }
    return span(f"execute_tool {name}", span_id, parent_id, **{**attributes, "status": "OK", **more})


def guarded(ruling: str, tool_name: str, span_id: str, parent_id: str, **more: Any) -> dict[str, Any]:
    """Build a guard's span."""
    attributes = {"rastro__tool": tool_name, "rastro__zone": "red", "rastro__decision": ruling}
    return span(f"guard {ruling}", span_id, parent_id, scope=SCOPE, seconds=0.001, **{**attributes, **more})


def retrieval(
    span_id: str,
    parent_id: str,
    texts: Iterable[str] = tuple(TEXTS),
    *,
    first: int = 1,
    regime: Regime = Regime.ADDRESS,
    **more: Any,
) -> dict[str, Any]:
    """Build a retrieval's span, of the sample's documents in the order in which they are named."""
    passages = [Passage(f"{BASE}{name}", TEXTS[name], round(0.9 - n / 10, 4)) for n, name in enumerate(texts)]
    base, found = addresses(passages)
    documents = [
        {"id": str(address), "score": passage.score} | ({"content": passage.text} if regime is Regime.CONTENT else {})
        for address, passage in zip(found, passages, strict=True)
    ]
    read = {
        "rag__first": first,
        "rag__base": base,
        "gen_ai__retrieval__documents": json.dumps(documents, separators=(",", ":"), ensure_ascii=False),
    }
    attributes = {
        "gen_ai__operation__name": "retrieval",
        "gen_ai__data_source__id": "KB12345678",
        "gen_ai__retrieval__top_k": 5,
        "openinference__span__kind": "RETRIEVER",
        "rag__passages": len(passages),
        "rag__index_version": "job-1",
        **({} if regime is Regime.METADATA else read),
    }
    return span("retrieval KB12345678", span_id, parent_id, scope=SCOPE, **{**attributes, **more})


def slim(size: int, digest: str = "iZUuG18FrIRvTgzP") -> dict[str, Any]:
    """Build a text as a slim line tells it."""
    return {"bytes": size, "digest": digest}


def lines(documents: Iterable[dict[str, Any]]) -> list[bytes]:
    """Write objects as the lines of a trail."""
    return [json.dumps(one, separators=(",", ":"), ensure_ascii=False).encode() for one in documents]


def asked() -> list[dict[str, Any]]:
    """Give the first turn's lines: a question, two model calls, and a retrieval between them."""
    loop: dict[str, Any] = {"gen_ai__operation__name": "execute_event_loop_cycle"}
    found = {"tool": "search_knowledge", "tool_use_id": "use-1", "zone": "green", "decision": "allowed"}
    return [
        span("POST /invocations", "p1", start=0, seconds=9, scope=STARLETTE, kind="SERVER", http__status_code=200),
        invocation("prompt", "run-1", "i1", "p1", start=0.1, seconds=8.5, rag__cited="1", rastro__cost_usd=0.003),
        span("invoke_agent rastro", "g1", "i1", start=0.2, seconds=8, gen_ai__operation__name="invoke_agent"),
        span("execute_event_loop_cycle", "l1", "g1", start=0.3, seconds=4, **loop),
        chat("c1", "l1", start=0.4, seconds=1),
        tool("search_knowledge", "use-1", "t1", "l1", start=2, seconds=1),
        retrieval("r1", "t1", start=2.1, seconds=0.5),
        span("execute_event_loop_cycle", "l2", "g1", start=5, seconds=3, **loop),
        chat("c2", "l2", (900, 40), start=5.1, seconds=2),
        event("run_started", 1, after=0.1, span_id="i1", kind="prompt", reason=slim(37)),
        event("llm_call", 2, after=1.4, span_id="c1", **_called(0.001, 100, 10, "tool_use")),
        event("tool_call", 3, after=2, span_id="l1", **found, args=slim(49)),
        event("tool_result", 4, after=3, span_id="l1", **found, cost_usd=0, latency_ms=1000, is_error=False,
              result=slim(4454)),
        event("llm_call", 5, after=7.1, span_id="c2", **_called(0.002, 900, 40, "end_turn")),
        event("run_ended", 6, after=8.5, span_id="i1", outcome="completed", cost_usd=0.003, tokens=_tokens(1000, 50)),
    ]  # fmt: skip


def suspended() -> list[dict[str, Any]]:
    """Give the second turn's lines: the model asks for a refund, and the run waits for a person."""
    where: dict[str, Any] = {"trace_id": "b2" * 16, "run": "run-2"}
    trace: dict[str, Any] = {"trace_id": "b2" * 16}
    agent: dict[str, Any] = {"gen_ai__operation__name": "invoke_agent"}
    loop: dict[str, Any] = {"gen_ai__operation__name": "execute_event_loop_cycle"}
    red = {"tool": "refund_order", "tool_use_id": "use-2", "zone": "red"}
    return [
        span("POST /invocations", "p2", start=60, seconds=3, scope=STARLETTE, kind="SERVER", **trace),
        invocation("prompt", "run-2", "i2", "p2", start=60.1, seconds=2, rastro__outcome="suspended", **trace),
        span("invoke_agent rastro", "g2", "i2", start=60.2, seconds=2, **agent, **trace),
        span("execute_event_loop_cycle", "l3", "g2", start=60.3, seconds=2, **loop, **trace),
        chat("c3", "l3", start=60.4, seconds=1, **trace),
        guarded("asked", "refund_order", "a1", "l3", start=61.5, rastro__checkpoint=CHECKPOINT_ID, **trace),
        event("run_started", 7, after=60.1, span_id="i2", kind="prompt", reason=slim(24), **where),
        event("llm_call", 8, after=61.4, span_id="c3", **_called(0.001, 100, 10, "tool_use"), **where),
        event("gate", 9, after=61.5, span_id="l3", **red, decision="asked", checkpoint_id=CHECKPOINT_ID,
              args=slim(32), reasons=["zone_red"], **where),
        event("run_ended", 10, after=62, span_id="i2", outcome="suspended", cost_usd=0.001, tokens=_tokens(100, 10),
              **where),
    ]  # fmt: skip


def resumed() -> list[dict[str, Any]]:
    """Give the third turn's lines: a person approved the refund, and the run goes on."""
    where: dict[str, Any] = {"trace_id": "c3" * 16, "run": "run-3"}
    trace: dict[str, Any] = {"trace_id": "c3" * 16}
    agent: dict[str, Any] = {"gen_ai__operation__name": "invoke_agent"}
    loop: dict[str, Any] = {"gen_ai__operation__name": "execute_event_loop_cycle"}
    red = {"tool": "refund_order", "tool_use_id": "use-2", "zone": "red", "decision": "approved"}
    link = [("b2" * 16, "i2")]
    return [
        span("POST /invocations", "p3", start=600, seconds=5, scope=STARLETTE, kind="SERVER", **trace),
        invocation("resume", "run-3", "i3", "p3", start=600.1, seconds=4, links=link, **trace),
        span("invoke_agent rastro", "g3", "i3", start=600.2, seconds=4, **agent, **trace),
        span("execute_event_loop_cycle", "l4", "g3", start=600.3, seconds=2, **loop, **trace),
        tool("refund_order", "use-2", "t2", "l4", start=600.4, seconds=1, **trace),
        span("execute_event_loop_cycle", "l5", "g3", start=602, seconds=2, **loop, **trace),
        chat("c4", "l5", start=602.1, seconds=1, **trace),
        event("run_started", 11, after=600.1, span_id="i3", kind="resume", **where),
        event("tool_call", 12, after=600.4, span_id="l4", **red, checkpoint_id=CHECKPOINT_ID, approver="maria",
              args=slim(32), **where),
        event("tool_result", 13, after=601.4, span_id="l4", **red, checkpoint_id=CHECKPOINT_ID, cost_usd=0.01,
              latency_ms=1000, is_error=False, result=slim(57), **where),
        event("llm_call", 14, after=603.1, span_id="c4", **_called(0.001, 100, 10, "end_turn"), **where),
        event("run_ended", 15, after=604, span_id="i3", outcome="completed", cost_usd=0.011, tokens=_tokens(100, 10),
              **where),
    ]  # fmt: skip


def story() -> list[dict[str, Any]]:
    """Give a session's lines: a question and its answer, a refund that was asked for, and its approved resume."""
    return [*asked(), *suspended(), *resumed()]


def _called(cost: float, tokens_in: int, tokens_out: int, stop_reason: str) -> dict[str, Any]:
    return {
        "model": "offline",
        "tokens": _tokens(tokens_in, tokens_out),
        "cost_usd": cost,
        "prices": "genai-prices/0.2.3",
        "latency_ms": 1000,
        "is_error": False,
        "stop_reason": stop_reason,
    }


def _tokens(tokens_in: int, tokens_out: int) -> dict[str, int]:
    return {"input": tokens_in, "output": tokens_out, "cache_read": 0, "cache_write": 0}
