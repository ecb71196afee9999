"""Write the lines of a long session, and state what reading it and building it costs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from agent_image.retrieval.passage import Passage, addresses
from benchmarks.ratio import Ratio
from console.trace.building import session_of
from console.trace.reading import material

SESSION = "session-" + "0" * 32
SPANS = 10_000
_SPANS_A_TURN = 10
_ROUNDS = 5
_BEGAN = datetime(2026, 3, 14, 3, 0, 0, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RESOURCE = {
    "attributes": {
        "telemetry.sdk.language": "python",
        "telemetry.sdk.name": "opentelemetry",
        "telemetry.sdk.version": "1.44.0",
        "service.instance.id": "073afea4-08fb-4e98-8b97-058f63071d6e",
        "service.name": "rastro.live",
        "telemetry.auto.version": "0.21.0-aws",
        "aws.local.service": "rastro.live",
        "aws.service.type": "gen_ai_agent",
    }
}
_STRANDS = "strands.telemetry.tracer"
_BOTOCORE = "opentelemetry.instrumentation.botocore"


def lines_of(spans: int = SPANS) -> list[bytes]:
    """Write a session of so many spans, ten a turn, with its events: as CloudWatch stores them."""
    documents: list[dict[str, Any]] = []
    for turn in range(spans // _SPANS_A_TURN):
        documents += [*_spans(turn), *_events(turn)]
    return [json.dumps(one, separators=(",", ":"), ensure_ascii=False).encode() for one in documents]


def session_ratios() -> list[Ratio]:
    """Measure, and give the ratio."""
    print(f"a session of {SPANS:,} spans, read and built")
    lines = lines_of()
    parse, read, built = _best(
        lambda: [json.loads(line) for line in lines],
        lambda: material(lines),
        lambda: session_of(SESSION, material(lines)),
    )
    return [
        Ratio(
            f"a session of {SPANS:,} spans read and built / json.loads of its lines",
            built / parse,
            6.0,
            f"{built:.2f} s, of which {read:.2f} s to read / {parse:.2f} s",
        )
    ]


def _best(*works: Callable[[], object]) -> list[float]:
    """Give the seconds of the best round of each, in turns: a machine has moods, and they last."""
    took: list[list[float]] = [[] for _ in works]
    for _ in range(_ROUNDS):
        for times, work in zip(took, works, strict=True):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
    return [min(times) for times in took]


def _spans(turn: int) -> Iterator[dict[str, Any]]:
    passages = [Passage(f"s3://handbook/shop/{n}.md", f"Passage {n} of turn {turn}.", 0.9 - n / 10) for n in range(5)]
    base, found = addresses(passages)
    documents = [{"id": str(one), "score": passage.score} for one, passage in zip(found, passages, strict=True)]
    cycle = {"gen_ai.operation.name": "execute_event_loop_cycle", "gen_ai.provider.name": "strands-agents"}
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "strands-agents",
        "gen_ai.request.model": "eu.amazon.nova-lite-v1:0",
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.output_tokens": 40,
        "gen_ai.usage.total_tokens": 940,
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.provider.name": "strands-agents",
        "gen_ai.tool.name": "search_knowledge",
        "gen_ai.tool.call.id": f"use-{turn}",
        "gen_ai.tool.status": "success",
    }
    read = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "KB12345678",
        "gen_ai.retrieval.top_k": 5,
        "openinference.span.kind": "RETRIEVER",
        "rag.passages": 5,
        "rag.index_version": "JOB1234567",
        "rag.first": turn * 5 + 1,
        "rag.base": base,
        "gen_ai.retrieval.documents": json.dumps(documents, separators=(",", ":"), ensure_ascii=False),
    }
    invocation = {
        "rastro.run": f"run-{turn}",
        "rastro.kind": "prompt",
        "rag.cited": str(turn * 5 + 1),
        "rastro.cost_usd": 0.003,
        "rastro.outcome": "completed",
    }
    rpc = {"rpc.system": "aws-api", "rpc.service": "Bedrock Agent Runtime", "rpc.method": "Retrieve"}
    http = {"http.method": "POST", "http.route": "/invocations", "http.status_code": 200}
    yield _span(turn, 3, 2, "chat", _STRANDS, chat)
    yield _span(turn, 5, 4, "retrieval KB12345678", "rastro", read)
    yield _span(turn, 4, 2, "execute_tool search_knowledge", _STRANDS, tool)
    yield _span(turn, 2, 1, "execute_event_loop_cycle", _STRANDS, cycle)
    yield _span(turn, 7, 6, "chat", _STRANDS, chat)
    yield _span(turn, 6, 1, "execute_event_loop_cycle", _STRANDS, cycle)
    yield _span(turn, 1, 8, "invoke_agent rastro", _STRANDS, {**chat, "gen_ai.operation.name": "invoke_agent"})
    yield _span(turn, 10, 5, "Bedrock Agent Runtime.Retrieve", _BOTOCORE, rpc)
    yield _span(turn, 8, 9, "invocation prompt", "rastro", invocation)
    yield _span(turn, 9, 0, "POST /invocations", "opentelemetry.instrumentation.starlette", http, kind="SERVER")


def _span(  # noqa: PLR0917 - a row of a table
    turn: int, number: int, parent: int, name: str, scope: str, attributes: dict[str, Any], *, kind: str = "INTERNAL"
) -> dict[str, Any]:
    start = (_BEGAN - _EPOCH) // timedelta(microseconds=1) * 1_000 + turn * 10_000_000_000 + number * 1_000_000
    return {
        "resource": _RESOURCE,
        "scope": {"name": scope, "version": ""},
        "traceId": f"{turn + 1:032x}",
        "spanId": f"{turn:012x}{number:04x}",
        **({"parentSpanId": f"{turn:012x}{parent:04x}"} if parent else {}),
        "flags": 256,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": start,
        "endTimeUnixNano": start + 500_000_000,
        "durationNano": 500_000_000,
        "attributes": {"session.id": SESSION, **attributes},
        "status": {"code": "UNSET"},
        "events": [],
    }


def _events(turn: int) -> Iterator[dict[str, Any]]:
    tokens = {"input": 900, "output": 40, "cache_read": 0, "cache_write": 0}
    called = {"model": "eu.amazon.nova-lite-v1:0", "tokens": tokens, "cost_usd": 0.0015, "latency_ms": 500}
    found = {"tool": "search_knowledge", "tool_use_id": f"use-{turn}", "zone": "green", "decision": "allowed"}
    text = {"bytes": 49, "digest": "78P4EZCvUY8GKYTK"}
    yield _event(turn, 1, 8, "run_started", {"kind": "prompt", "reason": text})
    yield _event(turn, 2, 3, "llm_call", {**called, "is_error": False, "stop_reason": "tool_use"})
    yield _event(turn, 3, 2, "tool_call", {**found, "args": text})
    yield _event(
        turn, 4, 2, "tool_result", {**found, "cost_usd": 0, "latency_ms": 9, "is_error": False, "result": text}
    )
    yield _event(turn, 5, 7, "llm_call", {**called, "is_error": False, "stop_reason": "end_turn"})
    yield _event(turn, 6, 8, "run_ended", {"tokens": tokens, "cost_usd": 0.003, "outcome": "completed"})


def _event(turn: int, number: int, span: int, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    moment = _BEGAN + timedelta(seconds=10 * turn, milliseconds=number)
    seq = turn * 6 + number
    return {
        "event": name,
        "ts": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "seq": seq,
        "event_id": f"{seq:032x}",
        "chain": "session",
        "run": f"run-{turn}",
        "step": number,
        "trace_id": f"{turn + 1:032x}",
        "span_id": f"{turn:012x}{span:04x}",
        "agent": "rastro",
        "attributes": {"session.id": SESSION},
        **fields,
        "prev": "0" * 64,
        "hash": f"{seq:064x}",
    }
