"""Understand an invocation's body: one kind each, told by its key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from agent_image.contract import SESSION_ID_LENGTH, Kind, Verdict
from agent_image.errors import BadInvocation

PROMPT_LIMIT: Final = 100_000
"""Characters of a question."""
_CHECKPOINT_ID: Final = re.compile("[0-9a-f]{64}")
NOTE_LIMIT: Final = 10_000
"""Characters of a feedback note."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Ask the agent something.

    Attributes:
        requester: who asks, where the caller says so.
    """

    text: str
    requester: str | None = None


@dataclass(frozen=True, slots=True)
class Feedback:
    """Say what a person thinks of a session's answer."""

    session_id: str
    verdict: Verdict
    note: str


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on where a session waits for a person."""

    checkpoint_id: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """Close what nobody answered in time, and send what waits to be sent."""


Invocation = Prompt | Resume | Feedback | Sweep


def parse(body: object) -> Invocation:
    """Read a body.

    Raises:
        BadInvocation: the body is no object, has no kind or several, or the kind's value is not what it must be.
    """
    allowed = ", ".join(_PARSERS)
    if not isinstance(body, Mapping):
        raise BadInvocation("invalid_body", f"The body must be a JSON object with one of these keys: {allowed}.")
    kinds = [kind for kind in Kind if kind in body]
    if len(kinds) != 1 or kinds[0] not in _PARSERS:
        raise BadInvocation("unknown_kind", f"The body must have exactly one of these keys: {allowed}.")
    return _PARSERS[kinds[0]](body[kinds[0]])


def is_session_id(text: str) -> bool:
    """Tell whether a text can be a session id: 33 to 256 visible ASCII characters."""
    least, most = SESSION_ID_LENGTH
    return least <= len(text) <= most and text.isascii() and text.isprintable() and " " not in text


def _prompt(value: object) -> Prompt:
    if not isinstance(value, str) or not value.strip():
        raise BadInvocation("invalid_prompt", "prompt must be a text that is not empty.")
    if len(value) > PROMPT_LIMIT:
        raise BadInvocation(
            "prompt_too_long", f"prompt has {len(value):,} characters; at most {PROMPT_LIMIT:,} are allowed."
        )
    return Prompt(value)


def _resume(value: object) -> Resume:
    if not isinstance(value, str) or _CHECKPOINT_ID.fullmatch(value) is None:
        raise BadInvocation("invalid_checkpoint", "resume must be a checkpoint's id: 64 hexadecimal digits.")
    return Resume(value)


def _sweep(value: object) -> Sweep:
    if value is not True:
        raise BadInvocation("invalid_sweep", "sweep must be true.")
    return Sweep()


def _feedback(value: object) -> Feedback:
    faults = list(_feedback_faults(value)) if isinstance(value, Mapping) else ["feedback must be an object"]
    if faults or not isinstance(value, Mapping):
        raise BadInvocation("invalid_feedback", "; ".join(faults) + ".")
    return Feedback(value["session_id"], Verdict(value["verdict"]), value.get("note") or "")


def _feedback_faults(value: Mapping[str, Any]) -> list[str]:
    session_id, verdict, note = value.get("session_id"), value.get("verdict"), value.get("note")
    faults = []
    if not isinstance(session_id, str) or not is_session_id(session_id):
        least, most = SESSION_ID_LENGTH
        faults.append(f"feedback.session_id must be {least} to {most} visible ASCII characters")
    if not isinstance(verdict, str) or verdict not in set(Verdict):
        faults.append(f"feedback.verdict must be one of: {', '.join(Verdict)}")
    if note is not None and (not isinstance(note, str) or len(note) > NOTE_LIMIT):
        faults.append(f"feedback.note must be a text of at most {NOTE_LIMIT:,} characters")
    return faults


_PARSERS: Final[Mapping[Kind, Callable[[object], Invocation]]] = MappingProxyType(
    {Kind.PROMPT: _prompt, Kind.RESUME: _resume, Kind.FEEDBACK: _feedback, Kind.SWEEP: _sweep}
)
