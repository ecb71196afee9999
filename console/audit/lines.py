"""Write an event of the audit as one line that a person reads: when, what, of which session, and what is particular."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent_image.contract import Field
from agent_image.guard.audit_lines import Line
from agent_image.guard.events import COMMON, TEXTS
from console.terminal import shown_json, shown_line

_LEFT_OUT: Final = COMMON | {Field.PRICES, Field.TOOL_USE_ID}
_SESSION_SHOWN: Final = 8
_WIDE: Final = 12


def shown(line: Line) -> str:
    """Write a line; one that is no event is shown as it is."""
    if line.record is None or not line.text(Field.EVENT):
        return f"{line.place}:{line.number} is no event: {shown_line(line.raw.decode('utf-8', 'replace'))}"
    session = f"{line.session_id[:_SESSION_SHOWN]:<{_SESSION_SHOWN}}"
    head = f"{line.text(Field.TS)}  {session}  {line.text(Field.EVENT):<{_WIDE}}"
    return shown_line("  ".join((head, *_particular(line.record))).rstrip())


def raw(line: Line) -> str:
    """Write a line as it lies there; what could steer a terminal is escaped, and it stays the same JSON."""
    text = line.raw.decode("utf-8", "replace")
    return shown_line(text) if line.record is None else shown_json(text)


def _particular(record: Mapping[str, Any]) -> Iterator[str]:
    for field in Field:
        if field in _LEFT_OUT or (value := record.get(field)) is None:
            continue
        yield f"{field}={_value(field, value)}"


def _value(field: Field, value: Any) -> str:  # noqa: ANN401 - JSON of any shape
    if field in TEXTS and isinstance(value, Mapping):
        text = json.dumps(str(value.get("text", "")), ensure_ascii=False)
        return f"{text}…({value.get('chars')})" if value.get("truncated") else text
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)
