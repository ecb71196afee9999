"""Say what happens in a run, one event at a time, and write each as one compact line of JSON.

Both outlets write the same members in the contract's order. They differ in how a text is written, and only there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from agent_image.contract import EventName, Field, Span
from agent_image.guard.moments import written
from agent_image.guard.plain import Words, clean, compact, plain, words_of

Text = Callable[[Words], str]
"""Renders a text as JSON: each outlet has its own way."""

Shown = str | Words | tuple["Shown", ...]
"""A member's value: as JSON, or the words that each outlet writes; a tuple is a list that holds some."""

TOKENS: Final = ("input", "output", "cache_read", "cache_write")
"""What `tokens` counts."""
LISTED: Final = 32
"""Codes that one list holds at most."""
_FIELDS: Final = {name.value: name for name in Field}
_NAMES: Final = {name: f'"{name.value}":' for name in Field}
_SESSION: Final = f'"{Span.SESSION.value}":'
_ORDER: Final = {name: place for place, name in enumerate(Field)}
_CODE: Final = re.compile(r"[A-Za-z0-9_.,:#/@+=-]{1,256}")
_PLACES: Final = 40
"""Decimal exponents beyond which an amount is none."""


@dataclass(frozen=True, slots=True)
class Said:
    """Hold an event's members, each with its name, as far as all outlets write the same."""

    common: str
    particular: tuple[tuple[str, Shown], ...]


@dataclass(frozen=True, kw_only=True)
class Event:
    """Hold one event.

    Attributes:
        chain: the chain it belongs to: the session's, or one of its own.
        step: how many steps the session had taken.
        ts: when, in UTC.
        seq: its place in the chain, from 1.
        trace_id: the trace and the span that it happened in; empty where there is none.
        fields: what is particular to it. None is written as null where it means "unknown", and left out elsewhere.
    """

    name: EventName
    session_id: str
    chain: str
    run: str
    step: int
    ts: datetime
    seq: int
    event_id: str
    agent: str
    trace_id: str = ""
    span_id: str = ""
    fields: Mapping[Field, Any] = field(default_factory=dict)

    @cached_property
    def said(self) -> Said:
        """Give the members, rendered once for both outlets."""
        return Said(_common(self), tuple(_particular(self)))


def fields_of(values: Mapping[str, Any]) -> Mapping[Field, Any]:
    """Read an event's particular fields by their names.

    Raises:
        ValueError: there is no such field, or it is one that every event has.
    """
    known = {_FIELDS.get(name) or Field(name): value for name, value in values.items()}
    own = sorted(known.keys() & COMMON)
    if own:
        message = f"every event has its own {', '.join(own)}"
        raise ValueError(message)
    return known


def members(event: Event, text: Text, *, unknown: bool = True) -> str:
    """Render an event's members, in the contract's order, without the braces; the unknown as null, or not at all."""
    said = event.said
    parts = [said.common]
    for name, shown in said.particular:
        if unknown or shown != "null":
            parts.append(f"{name}{shown if type(shown) is str else _written(shown, text)}")
    return ",".join(parts)


def _written(shown: Shown, text: Text) -> str:
    match shown:
        case str():
            return shown
        case Words():
            return text(shown)
        case _:
            return f"[{','.join(_written(one, text) for one in shown)}]"


def _common(event: Event) -> str:
    trace = f",{_NAMES[Field.TRACE_ID]}{_id(event.trace_id)}" if event.trace_id else ""
    span = f",{_NAMES[Field.SPAN_ID]}{_id(event.span_id)}" if event.span_id else ""
    return (
        f'{_NAMES[Field.EVENT]}"{event.name.value}",{_NAMES[Field.TS]}"{written(event.ts)}"'
        f",{_NAMES[Field.SEQ]}{event.seq},{_NAMES[Field.EVENT_ID]}{_id(event.event_id)}"
        f",{_NAMES[Field.CHAIN]}{_id(event.chain)},{_NAMES[Field.RUN]}{_id(event.run)}"
        f",{_NAMES[Field.STEP]}{event.step}{trace}{span},{_NAMES[Field.AGENT]}{_id(event.agent)}"
        f",{_NAMES[Field.ATTRIBUTES]}{{{_SESSION}{_id(event.session_id)}}}"
    )


def _particular(event: Event) -> Iterator[tuple[str, Shown]]:
    for name in sorted(event.fields, key=_ORDER.__getitem__):
        value = event.fields[name]
        if value is not None or name in UNKNOWN:
            yield _NAMES[name], RULES[name](value)


def money(value: object) -> str:
    """Write an amount as a JSON number, exactly and without an exponent; what is no amount is null, not nothing."""
    if not isinstance(value, int | float | str | Decimal):
        return "null"
    try:
        amount = Decimal(str(value))
    except (InvalidOperation, ValueError):
        return "null"
    if not amount.is_finite() or abs(amount.adjusted()) > _PLACES:
        return "null"
    if not amount:
        return "0"
    shown = format(amount, "f")
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _id(value: str) -> str:
    return f'"{value}"' if _CODE.fullmatch(value) else compact(clean(value))


def _code(value: Any) -> str | Words:  # noqa: ANN401 - whatever the event was given
    """Write a code or an id as it is; what has the form of neither may be anybody's words."""
    shown = value if type(value) is str else plain(value)
    if shown is None:
        return "null"
    return f'"{shown}"' if isinstance(shown, str) and _CODE.fullmatch(shown) else words_of(value)


def _codes(value: Any) -> Shown:  # noqa: ANN401 - the same
    listed = list(value)[:LISTED] if isinstance(value, list | tuple | set | frozenset) else [value]
    return tuple(_code(one) for one in listed)


def _number(value: Any) -> str:  # noqa: ANN401 - the same
    return money(value)


def _flag(value: Any) -> str:  # noqa: ANN401 - the same
    return ("true" if value else "false") if isinstance(value, bool) else "null"


def _tokens(value: Any) -> str:  # noqa: ANN401 - the same
    counts = plain(value)
    if not isinstance(counts, dict):
        return "null"
    return "{" + ",".join(f'"{name}":{money(counts.get(name))}' for name in TOKENS) + "}"


def _text(value: Any) -> str | Words:  # noqa: ANN401 - the same
    return "null" if value is None else words_of(value)


def _evidence(value: Any) -> str | Words:  # noqa: ANN401 - the same
    """Write codes and numbers as they are, each by its code; anything else may be anybody's words."""
    pairs = value.items() if isinstance(value, Mapping) and len(value) <= LISTED else ()
    if not pairs or not all(_is_code(name) and (type(one) is int or _is_code(one)) for name, one in pairs):
        return _text(value)
    shown = (f"{one}" if type(one) is int else f'"{one}"' for _, one in pairs)
    return "{" + ",".join(f'"{name}":{one}' for (name, _), one in zip(pairs, shown, strict=True)) + "}"


def _is_code(value: object) -> bool:
    return type(value) is str and _CODE.fullmatch(value) is not None


Rule = Callable[[Any], Shown]

TEXTS: Final = frozenset({Field.ARGS, Field.RESULT, Field.REASON})
"""Fields that may hold anybody's words."""
UNKNOWN: Final = frozenset(
    {
        Field.MODEL,
        Field.TOKENS,
        Field.COST_USD,
        Field.LATENCY_MS,
        Field.IS_ERROR,
        Field.STOP_REASON,
        Field.ARGS,
        Field.RESULT,
        Field.WAITED_MS,
    }
)
"""Fields whose None says that nobody knows, which is not nothing."""
COMMON: Final = frozenset(
    {
        Field.EVENT,
        Field.TS,
        Field.SEQ,
        Field.EVENT_ID,
        Field.CHAIN,
        Field.RUN,
        Field.STEP,
        Field.TRACE_ID,
        Field.SPAN_ID,
        Field.AGENT,
        Field.ATTRIBUTES,
        Field.PREV,
        Field.HASH,
    }
)
"""Fields that every event has; nobody gives them by name."""
RULES: Final[Mapping[Field, Rule]] = MappingProxyType(
    {
        **{name: _code for name in Field if name not in COMMON | TEXTS},
        **dict.fromkeys(TEXTS, _text),
        Field.EVIDENCE: _evidence,
        Field.REASONS: _codes,
        Field.TOKENS: _tokens,
        Field.COST_USD: _number,
        Field.LATENCY_MS: _number,
        Field.WAITED_MS: _number,
        Field.IS_ERROR: _flag,
    }
)
"""How each particular field is written."""
