"""Read a file of hooks: YAML with `hooks` at the top, or the document of an Azure agent that has them in its spec."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from agent_image.contract import Quantity
from agent_image.errors import SettingsError
from agent_image.guard.document import Table
from agent_image.hooks.hook import FailMode, Hook, HookEvent, HookLevel, HookType
from agent_image.hooks.matcher import is_matcher
from agent_image.hooks.options import FAIL_MODES, REJECTIONS, ROWS, TYPES, Option, OptionRow
from agent_image.hooks.shebang import interpreter
from agent_image.hooks.yaml_text import read_yaml

HOOKS: Final = "hooks"
KIND: Final = "kind"
AZURE_KIND: Final = "ExtendedAgent"
METADATA: Final = "metadata"
NAME: Final = "name"
SPEC: Final = "spec"
_OBJECT: Final = "an object"
_BY_EVENT: Final = f"an object of lists of hooks, by event: {', '.join(HookEvent)}"
_ROWS: Final = {row.key: row for row in ROWS}


def read_hooks(text: bytes, *, name: str, level: HookLevel, agent: str) -> tuple[Hook, ...]:
    """Read hooks, those before a tool first and each event's in the order of its list, with every default filled in.

    Raises:
        SettingsError: with every fault; each begins with the name of the file.
    """
    faults: list[str] = []
    hooks: tuple[Hook, ...] = ()
    try:
        path, declared = _declared(read_yaml(text), agent, faults)
        hooks = tuple(_hooks(path, declared, level, faults))
    except SettingsError as error:
        faults.extend(error.faults)
    if faults:
        raise SettingsError([f"{name}: {fault}" for fault in faults])
    return hooks


def _declared(document: object, agent: str, faults: list[str]) -> tuple[str, Mapping[str, Any]]:
    if not isinstance(document, Mapping):
        faults.append(f"is no object; allowed: {HOOKS}: {_BY_EVENT}")
        return HOOKS, {}
    if KIND not in document and SPEC not in document:
        faults.extend(f"{key} is not known; allowed: {HOOKS}" for key in document if key != HOOKS)
        return HOOKS, _object(HOOKS, document.get(HOOKS), _BY_EVENT, faults)
    if HOOKS in document:
        faults.append(f"{HOOKS} stands beside {SPEC}; allowed: one of the two")
    if document.get(KIND) != AZURE_KIND:
        faults.append(f"{KIND} is not {AZURE_KIND}; allowed: {AZURE_KIND}")
    metadata = _object(METADATA, document.get(METADATA, {}), _OBJECT, faults)
    if NAME in metadata and metadata[NAME] != agent:
        Table(METADATA, metadata, faults).fault(
            NAME, metadata[NAME], f"{agent}, the agent's name in its code; or leave it out"
        )
    path, spec = f"{SPEC}.{HOOKS}", document.get(SPEC)
    if not isinstance(spec, Mapping):
        return path, _object(SPEC, spec, _OBJECT, faults)
    return path, _object(path, spec.get(HOOKS), _BY_EVENT, faults)


def _object(path: str, value: object, allowed: str, faults: list[str]) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    faults.append(f"{path} {'is missing' if value is None else 'is no object'}; allowed: {allowed}")
    return {}


def _hooks(path: str, declared: Mapping[str, Any], level: HookLevel, faults: list[str]) -> Iterator[Hook]:
    faults.extend(
        f"{path}.{key} is no event; allowed: {', '.join(HookEvent)}" for key in declared if key not in set(HookEvent)
    )
    for event in HookEvent:
        listed = declared.get(event, [])
        if not isinstance(listed, list):
            faults.append(f"{path}.{event} is no list; allowed: a list of hooks")
            continue
        for position, options in enumerate(listed):
            where = f"{path}.{event}[{position}]"
            if isinstance(options, Mapping):
                yield _hook(where, options, level, event, position + 1, faults)
            else:
                faults.append(f"{where} is no object; allowed: the options of a hook")


def _hook(  # noqa: PLR0917 - where it stands, and what of it is known before it is read
    where: str, options: Mapping[str, Any], level: HookLevel, event: HookEvent, number: int, faults: list[str]
) -> Hook:
    table = Table(where, options, faults)
    table.only(Option)
    kind = table.one_of(Option.TYPE, HookType) if Option.TYPE in options else HookType.PROMPT
    fitting: dict[str, Any] = {}
    for row in ROWS:
        if problem := _problem(row, options, event, kind):
            said, allowed = problem
            table.fault(row.key, None, allowed, problem=said)
        elif row.key in options:
            fitting[row.key] = options[row.key]
    read = Table(where, fitting, faults)
    return Hook(
        level=level,
        event=event,
        number=number,
        type=kind or HookType.PROMPT,
        matcher=_text(read, Option.MATCHER, is_matcher),
        timeout=read.whole(_quantity(Option.TIMEOUT)),
        fail_mode=read.one_of(Option.FAIL_MODE, FailMode) or FAIL_MODES[event],
        model=_text(read, Option.MODEL),
        prompt=_text(read, Option.PROMPT),
        command=_text(read, Option.COMMAND),
        script=_text(read, Option.SCRIPT, _is_runnable),
        max_rejections=_rejections(read, kind) if event is HookEvent.STOP else None,
    )


def _problem(
    row: OptionRow, options: Mapping[str, Any], event: HookEvent, kind: HookType | None
) -> tuple[str, str] | None:
    """Tell what is wrong with where an option stands, or does not stand, and what is allowed."""
    # Of a hook whose type is none, nothing is known but its event: no fault may follow from a guess.
    types = TYPES if kind is None else row.types
    takes = event in row.events and (kind or HookType.PROMPT) in types
    others = [key for key in row.one_of if key != row.key and key in options]
    if row.key not in options:
        missing = takes and kind is not None and not others and (row.required or row.key in row.one_of[:1])
        return ("is missing", " or ".join(row.one_of) or row.form) if missing else None
    if not takes:
        return "does not belong here", _belongs(row, event)
    if row.key is Option.MATCHER and _is_blank(options[row.key]):
        return "matches nothing: a dead hook", row.form
    if options[row.key] is None:
        return "has no value", row.form if row.required or row.one_of else f"{row.form}, or leave it out"
    if others and row.key not in row.one_of[:1]:
        return f"stands beside {', '.join(others)}", "one of the two"
    return None


def _belongs(row: OptionRow, event: HookEvent) -> str:
    if event not in row.events:
        return f"in hooks of {', '.join(one for one in HookEvent if one in row.events)}"
    return f"with {Option.TYPE}: {', '.join(one for one in HookType if one in row.types)}"


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _is_runnable(script: str) -> bool:
    return interpreter(script) is not None


def _text(read: Table, key: Option, holds: Callable[[str], bool] = bool) -> str | None:
    row = _ROWS[key]
    # Prompts and programs may be long, and hold what a log should not.
    secret = key not in {Option.MATCHER, Option.MODEL}
    return read.text(key, row.form, lambda text: _is_sound(text, row.text_limit) and holds(text), secret=secret)


def _is_sound(text: str, limit: int) -> bool:
    """Tell whether a text can be handed to a program, and is not too long; 0 is no limit."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return False
    return "\0" not in text and (not limit or size <= limit)


def _rejections(read: Table, kind: HookType | None) -> int:
    return read.whole(_quantity(Option.MAX_REJECTIONS)) or REJECTIONS[kind or HookType.PROMPT]


def _quantity(key: Option) -> Quantity:
    quantity = _ROWS[key].quantity
    if quantity is None:
        raise KeyError(key)
    return quantity
