"""Lay out hooks and what they say: for a person, and for a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from agent_image.guard.verdict import Say, contexts
from agent_image.hooks.hook import Hook, HookEvent
from console.card import Card, Row, json_row, row
from console.hooks.trying import UNJUDGED, Trial, Tried
from console.table import Table

_NONE: Final = "-"
SAYS: Final = {Say.ALLOW: "allow", Say.ASK: "ask", Say.DENY: "block"}
OFFLINE: Final = (
    "the offline model cannot judge: this prompt hook was not asked. Name a model with --model, such as "
    "ollama://localhost:11434/<name>."
)


def hooks_table(path: Path, hooks: Sequence[Hook]) -> Table:
    """Tabulate the hooks of a file."""
    return Table(
        ("hook", "type", "matcher", "timeout", "failMode", "maxRejections"),
        tuple(
            (
                hook.id,
                hook.type.value,
                hook.matcher or _NONE,
                f"{hook.timeout} s",
                hook.fail_mode.value,
                _NONE if hook.max_rejections is None else str(hook.max_rejections),
            )
            for hook in hooks
        ),
        frozenset({3, 5}),
        title=str(path),
    )


def hook_document(hook: Hook) -> dict[str, Any]:
    """Write a hook for a program."""
    return {
        "hook": hook.id,
        "event": hook.event.value,
        "type": hook.type.value,
        "matcher": hook.matcher,
        "timeout": hook.timeout,
        "failMode": hook.fail_mode.value,
        "maxRejections": hook.max_rejections,
        "model": hook.model,
    }


def cards(trial: Trial) -> Iterator[Card]:
    """Lay out what each hook says."""
    for one in trial.tried:
        verdict = one.verdict
        yield Card(
            title=one.hook.id,
            badge=UNJUDGED if verdict is None else SAYS[verdict.say],
            warnings=(OFFLINE,) if verdict is None else (),
            rows=tuple(_rows(one)),
        )


def _rows(one: Tried) -> Iterator[Row]:
    verdict = one.verdict
    yield row("type", one.hook.type.value)
    if verdict is not None:
        if verdict.code:
            yield row("code", verdict.code)
        if verdict.detail and verdict.detail != verdict.text:
            yield row("detail", *verdict.detail.split("\n"))
        if verdict.text:
            yield row("reason", *verdict.text.split("\n"))
        if verdict.context:
            yield row("context", *verdict.context.split("\n"))
        if verdict.arguments is not None:
            yield json_row("edited input", dict(verdict.arguments))
        if verdict.alert:
            yield row("alert", f"hook_{verdict.alert}")
    yield row("took", f"{one.took_ms} ms")


def combined(trial: Trial, event: HookEvent) -> str:
    """Say what the verdicts come to."""
    if not trial.tried:
        return f"no hook of the file fires: {event} goes on as without it"
    part = "" if trial.whole else ", of the hooks that were asked"
    edits = "" if trial.arguments is None else ", with an edited input"
    tokens = f", {trial.tokens:,} tokens" if trial.tokens else ""
    return f"combined: {SAYS[trial.say]}{edits}{part}{tokens}"


def trial_document(trial: Trial, event: HookEvent) -> dict[str, Any]:
    """Write what came of all for a program."""
    verdicts = [one.verdict for one in trial.tried if one.verdict is not None]
    return {
        "event": event.value,
        "verdict": SAYS[trial.say],
        "whole": trial.whole,
        "context": list(contexts(verdicts)),
        "updatedInput": None if trial.arguments is None else dict(trial.arguments),
        "tokens": trial.tokens,
        "hooks": [_document(one) for one in trial.tried],
    }


def _document(one: Tried) -> dict[str, Any]:
    found, verdict = {"hook": one.hook.id, "type": one.hook.type.value}, one.verdict
    if verdict is None:
        return {**found, "verdict": UNJUDGED, "code": "offline_model", "ms": one.took_ms}
    return {
        **found,
        "verdict": SAYS[verdict.say],
        "code": verdict.code,
        "reason": verdict.text,
        "detail": verdict.detail,
        "context": verdict.context,
        "updatedInput": None if verdict.arguments is None else dict(verdict.arguments),
        "alert": verdict.alert,
        "ms": one.took_ms,
    }
