"""Read what a hook answers, in one of two forms; what is not exactly one of them is no answer.

    {"ok": true}    {"ok": false, "reason": "…"}
    {"decision": "allow" | "block" | "ask", "reason": "…",
     "hookSpecificOutput": {"additionalContext": "…", "updatedInput": {…}, "alert": "…"}}

`ask` and `updatedInput` are for PreToolUse. A hook is believed when it refuses and gives no reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NoReturn

from agent_image.guard.canonical import NotCanonical, canonical
from agent_image.guard.verdict import Say
from agent_image.hooks.hook import HookEvent, HookFailed, HookFault, Said

TEXT_LIMIT: Final = 8_000
"""Characters of a reason or a context that the model reads."""
CUT: Final = f"… (cut at {TEXT_LIMIT:,} characters)"
ALERT_FORM: Final = "[a-z0-9_]{1,40}"
_ALERT: Final = re.compile(ALERT_FORM)


class Key(StrEnum):
    """Name the keys of an answer."""

    OK = "ok"
    DECISION = "decision"
    REASON = "reason"
    SPECIFIC = "hookSpecificOutput"
    CONTEXT = "additionalContext"
    INPUT = "updatedInput"
    ALERT = "alert"


class Decision(StrEnum):
    """Name what the expanded form decides."""

    ALLOW = "allow"
    BLOCK = "block"
    ASK = "ask"


_SAY: Final[Mapping[Decision, Say]] = MappingProxyType(
    {Decision.ALLOW: Say.ALLOW, Decision.BLOCK: Say.DENY, Decision.ASK: Say.ASK}
)


def read_answer(text: str, event: HookEvent) -> Said:
    """Read an answer to an event; white space around the JSON is allowed, and nothing else.

    Raises:
        HookFailed: MALFORMED, with a sentence that repeats nothing of the answer.
    """
    answer = _object(_parsed(text), "The answer")
    if (Key.OK in answer) == (Key.DECISION in answer):
        _refuse(f"The answer has not one of {Key.OK} and {Key.DECISION}.")
    return _simple(answer) if Key.OK in answer else _expanded(answer, event)


def cut(text: str) -> str:
    """Give a text as the model may read it: without white space around it, and no longer than TEXT_LIMIT."""
    text = text.strip()
    return text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + CUT


def _simple(answer: Mapping[str, Any]) -> Said:
    _only(answer, (Key.OK, Key.REASON), "The simple form")
    ok = answer[Key.OK]
    if not isinstance(ok, bool):
        _refuse(f"{Key.OK} is neither true nor false.")
    return Said(say=Say.ALLOW if ok else Say.DENY, reason=_reason(answer))


def _expanded(answer: Mapping[str, Any], event: HookEvent) -> Said:
    _only(answer, (Key.DECISION, Key.REASON, Key.SPECIFIC), "The expanded form")
    decisions = [Decision.ALLOW, Decision.BLOCK, *([Decision.ASK] if event is HookEvent.PRE_TOOL_USE else [])]
    decision = answer[Key.DECISION]
    if not isinstance(decision, str) or decision not in decisions:
        _refuse(f"{Key.DECISION} of {event} is none of {', '.join(decisions)}.")
    say = _SAY[Decision(decision)]
    more = _object(answer.get(Key.SPECIFIC, {}), Key.SPECIFIC)
    _only(more, (Key.CONTEXT, Key.ALERT, *([Key.INPUT] if event is HookEvent.PRE_TOOL_USE else [])), Key.SPECIFIC)
    arguments = _object(more[Key.INPUT], Key.INPUT) if Key.INPUT in more else None
    return Said(
        say=say,
        reason=_reason(answer),
        context=cut(_text(more, Key.CONTEXT)),
        # What is refused runs with no arguments at all.
        arguments=None if say is Say.DENY else arguments,
        alert=_alert(more),
    )


def _reason(answer: Mapping[str, Any]) -> str:
    # Models write null for "none": a refusal must not fail for it.
    return cut(_text(answer, Key.REASON)) if answer.get(Key.REASON) is not None else ""


def _alert(more: Mapping[str, Any]) -> str:
    if Key.ALERT not in more:
        return ""
    alert = _text(more, Key.ALERT)
    if not _ALERT.fullmatch(alert):
        _refuse(f"{Key.ALERT} is not {ALERT_FORM}.")
    return alert


def _text(table: Mapping[str, Any], key: Key) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        _refuse(f"{key} is no text.")
    return value


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        _refuse(f"{what} is no object.")
    return value


def _only(table: Iterable[str], allowed: Sequence[Key], what: str) -> None:
    if any(key not in set(allowed) for key in table):
        _refuse(f"{what} has a key that is none of {', '.join(allowed)}.")


def _parsed(text: str) -> object:
    try:
        value = json.loads(text, object_pairs_hook=_once)
        # As the arguments of a call are: finite numbers, no half characters, no more than can be bound.
        canonical(value)
    except json.JSONDecodeError as error:
        _refuse(f"The answer is no JSON: {error.msg}, line {error.lineno}, column {error.colno}.")
    except NotCanonical as error:
        _refuse(error.message)
    except (ValueError, RecursionError):
        _refuse("The answer is no JSON that can be read: it is too deep, or a number in it too long.")
    return value


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        _refuse("The answer has a key twice.")
    return table


def _refuse(detail: str) -> NoReturn:
    raise HookFailed(HookFault.MALFORMED, detail)
