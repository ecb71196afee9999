"""Lay the steps of a turn out as lines: calls of models and tools, what the guard said, and whatever else left a span.

Pure, and without recursion: steps may nest as deep as they like.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent_image.contract import Regime
from console.trace import phrases, retrieved, roles
from console.trace.display import Cell, Line, Role, failed, line
from console.trace.phrases import VALUE_SHOWN
from console.trace.reads import Finding
from console.trace.session import GuardStep, ModelCall, OtherStep, Retrieval, Step, ToolCall, Words

ATTRIBUTES_SHOWN: Final = 12
"""Attributes of a span that nobody knows."""
CHECKPOINT_SHOWN: Final = 12
"""Digits of a checkpoint's id, as lists of checkpoints show it."""


def lines(steps: tuple[Step, ...], regime: Regime | None, finding: Finding | None) -> Iterator[Line]:
    """Lay steps out, in order; those of a turn have depth 1."""
    stack = [(step, 1) for step in reversed(steps)]
    while stack:
        step, depth = stack.pop()
        if isinstance(step, Retrieval):
            yield from retrieved.read(step, depth, regime, finding)
        else:
            yield line(depth, *_told(step), failed(step.error))
        stack.extend((child, depth + 1) for child in reversed(step.children))


def _told(step: Step) -> tuple[Cell | None, ...]:
    match step:
        case ModelCall():
            return _model(step)
        case ToolCall():
            return _tool(step)
        case GuardStep():
            return _guard(step)
    return _other(step)


def _model(step: ModelCall) -> tuple[Cell | None, ...]:
    return (
        Cell("model", Role.NAME),
        Cell(step.model or step.title),
        Cell(phrases.tokens(step.tokens) or "tokens unknown", Role.NUMBER),
        Cell(phrases.took(step.duration_ms), Role.NUMBER),
        Cell(phrases.amount(step.cost_usd), Role.NUMBER),
        Cell(step.stop_reason, Role.DIM),
        Cell(f"hook {step.hook}") if step.hook else None,
    )


def _tool(step: ToolCall) -> tuple[Cell | None, ...]:
    return (
        Cell("tool", Role.NAME),
        Cell(step.tool or step.title),
        Cell(step.zone, roles.ZONES.get(step.zone, Role.PLAIN)),
        Cell(step.ruling, roles.RULINGS.get(step.ruling, Role.PLAIN)),
        Cell(phrases.took(step.duration_ms), Role.NUMBER),
        Cell(phrases.amount(step.cost_usd), Role.NUMBER) if step.cost_usd else None,
        _value("arguments", step.arguments),
        _value("result", step.result),
    )


def _value(label: str, words: Words) -> Cell | None:
    if words.text is not None:
        return Cell(f"{label} {phrases.cut(words.text, VALUE_SHOWN)}", Role.DIM)
    return None if words.size is None else Cell(f"{label} {phrases.size(words.size)}", Role.DIM)


def _guard(step: GuardStep) -> tuple[Cell | None, ...]:
    reasons = " ".join(step.reasons)
    return (
        Cell(step.event or "guard", Role.NAME),
        Cell(step.ruling, roles.RULINGS.get(step.ruling, Role.PLAIN)),
        Cell(step.severity, Role.WARN),
        Cell(step.code),
        Cell(step.tool),
        Cell(step.zone, roles.ZONES.get(step.zone, Role.PLAIN)),
        Cell(f"hook {step.hook}") if step.hook else None,
        Cell(phrases.took(step.duration_ms), Role.NUMBER) if step.hook else None,
        Cell(f"by {step.approver}") if step.approver else None,
        Cell(f"because {phrases.cut(reasons, VALUE_SHOWN)}") if reasons else None,
        _value("reason", step.reason),
        Cell(f"waited {phrases.took(step.waited_ms)}", Role.NUMBER) if step.waited_ms is not None else None,
        checkpoint(step.checkpoint_id),
    )


def _other(step: Step) -> tuple[Cell | None, ...]:
    scope = step.scope if isinstance(step, OtherStep) else ""
    return (
        Cell("span", Role.NAME),
        Cell(phrases.cut(step.title, VALUE_SHOWN) or "without a name"),
        Cell(phrases.took(step.duration_ms), Role.NUMBER),
        Cell(f"of {phrases.cut(scope, VALUE_SHOWN)}", Role.DIM) if scope else None,
        _attributes(step),
    )


def _attributes(step: Step) -> Cell | None:
    if not step.attributes:
        return None
    names = list(step.attributes)
    shown = [phrases.cut(f"{name}={step.attributes[name]}", VALUE_SHOWN) for name in names[:ATTRIBUTES_SHOWN]]
    more = len(names) - len(shown)
    return Cell(" ".join(shown) + (f" and {more:,} more" if more else ""), Role.DIM)


def checkpoint(checkpoint_id: str) -> Cell | None:
    """Name a checkpoint by its beginning."""
    return Cell(f"checkpoint {checkpoint_id[:CHECKPOINT_SHOWN]}", Role.DIM) if checkpoint_id else None
