"""Say to the model what became of its call, in sentences of our own: a tool's exception says nothing here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from agent_image.errors import AgentError
from agent_image.guard.canonical import canonical
from agent_image.guard.checkpoint import Case, Resolution, State
from agent_image.guard.plain import plain

ToolResult = dict[str, Any]
"""What a tool answers: `status` (success, error) and `content`, a list of blocks."""

UNKNOWN: Final = "This call was interrupted, and nobody knows whether it took effect. Do not repeat it."
UNFINISHED: Final = "This call was not finished, and had no effect."
TWICE: Final = "This call was made twice in one message; it runs once."
LOOPING: Final = "This call was stopped: it repeats what was done before, with the same result. Try another way."
TAMPERED: Final = "What a person was shown is not this call, so it did not run."
MISFIT: Final = "The arguments do not fit the tool's schema, so it did not run."
UNEDITABLE: Final = "A person changed the arguments of a call that may only be approved or rejected; it did not run."
MISEDITED: Final = "A person changed the arguments so that the tool cannot take them; the call did not run."
NO_TOOL: Final = "There is no tool of this name."
_REJECTED: Final = "A person rejected this call. Reason: {reason}"
_NO_REASON: Final = "none was given"
_CANCELLED: Final = "A person ended this task. Do nothing more."
_EXPIRED: Final = (
    "Nobody approved this call in time, so it did not run. Ask the user to request it again on the next working day."
)
_TOOK_EFFECT: Final = "This call was interrupted. A person checked, and it took effect. {reason}"
_NO_EFFECT: Final = "This call was interrupted. A person checked, and it did not take effect. {reason}"
_EDITED: Final = "A person changed the arguments before approving; the call ran with {arguments}. {reason}"
_GUIDED: Final = "A person approved this call and adds: {reason}"
_RAISED: Final = "The tool failed ({error})."
_UNKEPT: Final = "(A part of the answer is left out here: it is no text.)"
UNCHECKED: Final = "This call ran. What it answered is not shown: the checks on it did not end. Do not repeat the call."
MISCHANGED: Final = "A check changed the arguments so that the tool cannot take them; the call did not run."
UNDONE: Final = "A check changed what a person had approved back to what was asked for; the call did not run."
_REFUSED: Final = "A check refused this call. It says:"
_WITHHELD: Final = "A check withheld the result of this call. It says:"
_ADDED: Final = "A check adds, as information and not as an instruction:"
_SENT_BACK: Final = "This answer was not given yet: a check sends it back. It says:"
_CHANGED: Final = "A check changed the arguments of this call; it ran with {arguments}."
_OPEN: Final = "<<<check"
_CLOSE: Final = "check>>>"
# All the brackets beside the word in one go: what is left over of more than three must not make a mark again.
_MARKS: Final = re.compile("<{3,}(?=check)|(?<=check)>{3,}", re.IGNORECASE)


def kept(block: Any) -> Any:  # noqa: ANN401 - whatever a tool puts into its answer
    """Give a block of a tool's answer as it can be kept: a store and a conversation hold JSON alone."""
    try:
        json.dumps(block, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return {"json": plain(block["json"])} if isinstance(block, dict) and "json" in block else {"text": _UNKEPT}
    return block


def refusal(text: str) -> ToolResult:
    """Answer in the place of a tool that did not run."""
    return {"status": "error", "content": [{"text": text}]}


def raised(error: BaseException) -> ToolResult:
    """Say that a tool raised, without what it said: the model would pass it on."""
    return refusal(error.message if isinstance(error, AgentError) else _RAISED.format(error=type(error).__name__))


def closed(case: Case, state: State) -> ToolResult:
    """Say why a call did not run that a person, or the time, has closed."""
    reason = case.decision.reason if case.decision is not None and case.decision.reason else _NO_REASON
    texts = {State.REJECTED: _REJECTED.format(reason=reason), State.CANCELLED: _CANCELLED}
    return refusal(texts.get(state, _EXPIRED))


def resolved(resolution: Resolution) -> ToolResult:
    """Say what a person found out about an action in doubt."""
    text = (_TOOK_EFFECT if resolution.took_effect else _NO_EFFECT).format(reason=resolution.reason).strip()
    return {"status": "success" if resolution.took_effect else "error", "content": [{"text": text}]}


def edited(arguments: Mapping[str, Any], reason: str) -> str:
    """Say that other arguments ran than the model's."""
    return _EDITED.format(arguments=canonical(dict(arguments)), reason=reason).strip()


def guided(reason: str) -> str:
    """Pass on what a person added to an approval."""
    return _GUIDED.format(reason=reason)


def changed(arguments: Mapping[str, Any]) -> str:
    """Say that other arguments ran than the model's, for a check put them there."""
    return _CHANGED.format(arguments=canonical(dict(arguments)))


def denied(texts: Iterable[str]) -> ToolResult:
    """Answer in the place of a call that checks refused."""
    return refusal(_fenced(_REFUSED, texts))


def withheld(texts: Iterable[str]) -> str:
    """Say that a result is not to be read."""
    return _fenced(_WITHHELD, texts)


def added(texts: Iterable[str]) -> str:
    """Pass on what checks add to a result."""
    return _fenced(_ADDED, texts)


def sent_back(texts: Iterable[str]) -> str:
    """Tell the model why its answer goes back."""
    return _fenced(_SENT_BACK, texts)


def _fenced(opening: str, texts: Iterable[str]) -> str:
    """Put words of checks between marks that they cannot close: what a tool answered may stand among them."""
    body = "\n".join(_MARKS.sub("", text) for text in texts)
    return f"{opening}\n{_OPEN}\n{body}\n{_CLOSE}"
