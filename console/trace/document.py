"""Write a traced session as JSON, for programs: moments and amounts as text, what is not known as null.

Steps stand in one list, in order, each with how deep it lies: a program filters them without walking a tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

from agent_image.guard.moments import written
from console.trace.facts import Facts, Index, IndexFact, Source, SourceFact, Text, TextFact
from console.trace.phrases import exact
from console.trace.reads import Finding
from console.trace.session import (
    GuardStep,
    ModelCall,
    OtherStep,
    PassageRead,
    Retrieval,
    Session,
    Step,
    Tokens,
    ToolCall,
    Turn,
    Words,
)
from console.trace.trail import Scan

NOT_ASKED = "not_asked"
"""Why the words of a passage are not there where nobody looked for them."""


def document(session: Session, finding: Finding | None, others: Sequence[Session], scan: Scan) -> dict[str, Any]:
    """Write a session, the others that the question led to, and what it took to read them."""
    return {
        "session": {
            "id": session.id,
            "regimes": [regime.value for regime in session.regimes],
            "turns": [_turn(turn, finding) for turn in session.turns],
            "apart": list(steps(session.apart, finding)),
            "unread": [asdict(unread) for unread in session.unread],
            "notes": [asdict(note) for note in session.notes],
        },
        "others": [{"session_id": other.id, "started": moment(began(other))} for other in others],
        "scan": scanned(scan),
    }


def scanned(scan: Scan) -> dict[str, Any]:
    """Write what reading the trail took."""
    return {"queries": scan.queries, "bytes": scan.scanned, "cost_usd": amount(scan.cost_usd)}


def began(session: Session) -> datetime | None:
    """Tell when a session began, as far as its turns say."""
    return min((turn.started for turn in session.turns if turn.started is not None), default=None)


def moment(at: datetime | None) -> str | None:
    """Write a moment, or null."""
    return None if at is None else written(at)


def amount(number: Decimal | None) -> str | None:
    """Write a number exactly, as text, or null."""
    return None if number is None else exact(number)


def steps(found: tuple[Step, ...], finding: Finding | None) -> Iterator[dict[str, Any]]:
    """Write steps and what is below them, in order."""
    stack = [(step, 0) for step in reversed(found)]
    while stack:
        step, depth = stack.pop()
        yield {"depth": depth, **_step(step, finding)}
        stack.extend((child, depth + 1) for child in reversed(step.children))


def _turn(turn: Turn, finding: Finding | None) -> dict[str, Any]:
    return {
        "run": turn.run,
        "kind": turn.kind or None,
        "trace_id": turn.trace_id or None,
        "started": moment(turn.started),
        "duration_ms": amount(turn.duration_ms),
        "outcome": turn.outcome or None,
        "error": turn.error or None,
        "question": _words(turn.question),
        "answer": {
            **_words(turn.answer),
            "fingerprint": turn.answer_fingerprint or None,
            "cited": list(turn.cited),
            "unsupported": list(turn.unsupported),
        },
        "cost_usd": amount(turn.cost_usd),
        "tokens": _tokens(turn.tokens),
        "resumes": turn.resumes or None,
        "resumed_by": list(turn.resumed_by),
        "checkpoint_id": turn.checkpoint_id or None,
        "archive_lost": turn.archive_lost,
        "verdict": turn.verdict or None,
        "note": _words(turn.note),
        "steps": list(steps(turn.steps, finding)),
    }


def _step(step: Step, finding: Finding | None) -> dict[str, Any]:
    return {
        "step": _kind(step),
        "title": step.title,
        "span_id": step.span_id or None,
        "started": moment(step.started),
        "duration_ms": amount(step.duration_ms),
        "error": step.error or None,
        **_own(step, finding),
        "attributes": {str(name): _value(value) for name, value in step.attributes.items()},
    }


def _kind(step: Step) -> str:
    kinds = {ModelCall: "model", ToolCall: "tool", Retrieval: "retrieval", GuardStep: "guard", OtherStep: "span"}
    return next((name for kind, name in kinds.items() if isinstance(step, kind)), "span")


def _own(step: Step, finding: Finding | None) -> dict[str, Any]:
    match step:
        case ModelCall():
            return {
                "model": step.model or None,
                "tokens": _tokens(step.tokens),
                "cost_usd": amount(step.cost_usd),
                "stop_reason": step.stop_reason or None,
                "hook": step.hook or None,
            }
        case ToolCall():
            return {
                "tool": step.tool or None,
                "tool_use_id": step.tool_use_id or None,
                "zone": step.zone or None,
                "ruling": step.ruling or None,
                "arguments": _words(step.arguments),
                "result": _words(step.result),
                "cost_usd": amount(step.cost_usd),
            }
        case Retrieval():
            return _retrieval(step, finding)
        case GuardStep():
            return _guard(step)
        case OtherStep():
            return {"operation": step.operation or None, "scope": step.scope or None}
    return {}


def _guard(step: GuardStep) -> dict[str, Any]:
    return {
        "event": step.event,
        "ruling": step.ruling or None,
        "tool": step.tool or None,
        "zone": step.zone or None,
        "checkpoint_id": step.checkpoint_id or None,
        "approver": step.approver or None,
        "hook": step.hook or None,
        "code": step.code or None,
        "severity": step.severity or None,
        "reasons": list(step.reasons),
        "reason": _words(step.reason),
        "waited_ms": step.waited_ms,
    }


def _retrieval(step: Retrieval, finding: Finding | None) -> dict[str, Any]:
    read = step.passages
    return {
        "data_source": step.data_source or None,
        "top_k": step.top_k,
        "index_version": step.index_version or None,
        "count": step.count,
        "malformed": step.malformed,
        # Null says that they cannot be known, and an empty list that there were none.
        "passages": None if read is None else [_passage(step, passage, finding) for passage in read],
    }


def _passage(retrieval: Retrieval, passage: PassageRead, finding: Finding | None) -> dict[str, Any]:
    facts = (finding(retrieval, passage) if finding else None) or _not_looked_up(retrieval, passage)
    fingerprint = passage.address.fingerprint if passage.address else None
    known = passage.score is not None and math.isfinite(passage.score)
    return {
        "number": passage.number,
        "position": passage.position,
        "cited": passage.cited,
        "id": passage.id,
        "fingerprint": fingerprint.text if fingerprint else None,
        "length": fingerprint.length if fingerprint else None,
        "uri": passage.uri or None,
        "score": passage.score if known else None,
        "text": asdict(facts.text),
        "source": asdict(facts.source),
        "index": asdict(facts.index),
    }


def _not_looked_up(retrieval: Retrieval, passage: PassageRead) -> Facts:
    held = passage.text is not None
    why = "no_address" if passage.address is None else NOT_ASKED
    return Facts(
        TextFact(Text.TRAIL, passage.text) if held else TextFact(Text.NOT_RECOVERED, why=why),
        SourceFact(Source.NOT_READ, why),
        IndexFact(Index.UNKNOWN, retrieval.index_version, why=why),
    )


def _words(words: Words) -> dict[str, Any]:
    return {"text": words.text, "bytes": words.size, "digest": words.digest or None, "why": words.why or None}


def _tokens(tokens: Tokens) -> dict[str, int | None]:
    return {
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
    }


def _value(value: Any) -> Any:  # noqa: ANN401 - whatever a span holds
    """Write an attribute; a line of a trail nests less deep than would be any trouble."""
    match value:
        case bool() | str() | int() | None:
            return value
        case Decimal():
            return exact(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping():
            return {str(name): _value(one) for name, one in value.items()}
        case list() | tuple():
            return [_value(one) for one in value]
    return str(value)
