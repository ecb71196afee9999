"""Show what an agent answered while it comes, and give the exit status that tells how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from agent_image.answer import TEXT
from agent_image.contract import Status
from console.approvals.cards import asked
from console.errors import BAD_INPUT, FAILURE
from console.reply import Event, Reply, events
from console.screen import Screen
from console.terminal import shown, shown_json

SUSPENDED: Final = 3
"""Exit status after an answer that waits for a person's decision."""
_STATUS: Final[Mapping[str, int]] = MappingProxyType(
    {Status.COMPLETED: 0, Status.SUSPENDED: SUSPENDED, Status.FAILED: FAILURE}
)
_REFUSALS: Final = (400, 413)  # HTTP statuses of an invocation that the caller has to change


def show(reply: Reply, screen: Screen, option: str, *, as_json: bool) -> int:
    """Show an answer; `option` is what a command has to say to reach the same agent. Gives the exit status.

    Raises:
        ConsoleError: what came is no answer, or it broke off.
    """
    answer = events(reply)
    closing = _document(answer, screen) if as_json else _page(answer, screen, option)
    return BAD_INPUT if reply.status in _REFUSALS else _STATUS[closing.name]


def _document(answer: Iterator[Event], screen: Screen) -> Event:
    """Write the answer object alone."""
    *_, closing = answer
    screen.line(shown_json(closing.text))
    return closing


def _page(answer: Iterator[Event], screen: Screen, option: str) -> Event:
    """Write the text as it comes, then what it rests on, what it waits for, and where its trail is."""
    written = False
    for event in answer:
        if event.name == TEXT and (text := str(event.document.get(TEXT, ""))):
            screen.write(shown(text))
            written = True
    if written:
        screen.line()
    elif "answer" in event.document:
        screen.line(shown(str(event.document["answer"])))
    for waiting in _waiting(event.document):
        if written:
            screen.line()
        screen.card(asked(waiting, option))
        written = True
    for line in _closing_lines(event.document):
        screen.line(shown(line))
    return event


def _waiting(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the calls that an answer waits for; the first of them stands in the answer itself."""
    if document.get("status") != Status.SUSPENDED:
        return []
    listed = document.get("waiting")
    found: list[Mapping[str, Any]] = (
        [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    )
    return found or [document]


def _closing_lines(document: Mapping[str, Any]) -> Iterator[str]:
    match document:
        case {"error": {"code": code, "message": message}}:
            yield f"failed ({code}): {message}"
        case {"swept": dict(counts)}:
            yield ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing was over"
        case {"citations": [_, *_] as citations}:
            yield ""
            yield from (f"[{citation.get('n')}] {citation.get('address')}" for citation in citations)
    yield ""
    yield from (f"{key:<11} {document[key]}" for key in ("session_id", "trace_id") if document.get(key) is not None)
