"""Generate the JSON Schema of hook files, so that an editor completes options and marks faults while one types.

It says what a schema can: not how many bytes a text has, nor which names an agent, a model or a tool has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agent_image.hooks.file import AZURE_KIND, HOOKS, KIND, METADATA, NAME, SPEC
from agent_image.hooks.hook import HookEvent, HookType
from agent_image.hooks.matcher import EVERY, MATCHER_LIMIT
from agent_image.hooks.options import ROWS, Option, OptionRow
from agent_image.hooks.shebang import HIDDEN_SHEBANG, SHEBANG

PATH: Final = Path(__file__).parent / "hooks.schema.json"
_WHEN: Final[Mapping[HookEvent, str]] = {
    HookEvent.PRE_TOOL_USE: "Hooks that fire before a tool runs: they allow, block, ask a person or change the input.",
    HookEvent.POST_TOOL_USE: "Hooks that fire after a tool answered, failed or was refused: they allow, block the "
    "result or add context.",
    HookEvent.STOP: "Hooks that fire before the final answer: they allow it, or send the agent back to work.",
}
# Half a character, or the one that ends a text for the system, reaches no program.
_UNSOUND: Final = r"[\u0000\ud800-\udfff]"


def text() -> str:
    """Render the schema as the committed file holds it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def schema() -> dict[str, Any]:
    """Give the schema: hooks alone, or within the document of an Azure agent."""
    by_event = {"$ref": "#/$defs/hooks"}
    metadata = {"type": "object", "properties": {NAME: {"type": "string", "description": "The agent's name."}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Hooks of an agent",
        "if": {"anyOf": [{"required": [KIND]}, {"required": [SPEC]}]},
        "then": {
            "type": "object",
            "properties": {
                KIND: {"const": AZURE_KIND, "description": "What the document declares."},
                METADATA: {"description": "Whose hooks these are.", **metadata},
                SPEC: {
                    "description": "The agent; nothing of it is read but its hooks.",
                    "type": "object",
                    "properties": {HOOKS: by_event},
                    "required": [HOOKS],
                },
                HOOKS: False,
            },
            "required": [KIND, SPEC],
        },
        "else": {
            "type": "object",
            "properties": {HOOKS: by_event},
            "required": [HOOKS],
            "additionalProperties": False,
        },
        "$defs": {
            HOOKS: {
                "description": "Lists of hooks, by event.",
                "type": "object",
                "properties": {event.value: _listed(event) for event in HookEvent},
                "additionalProperties": False,
            },
            **{event.value: _hook(event) for event in HookEvent},
        },
    }


def _listed(event: HookEvent) -> dict[str, Any]:
    return {"description": _WHEN[event], "type": "array", "items": {"$ref": f"#/$defs/{event}"}}


def _hook(event: HookEvent) -> dict[str, Any]:
    program = {"properties": {Option.TYPE.value: {"const": HookType.COMMAND.value}}, "required": [Option.TYPE.value]}
    return {
        "description": f"A hook of {event}.",
        "type": "object",
        "if": program,
        "then": _options(event, HookType.COMMAND),
        "else": _options(event, HookType.PROMPT),
    }


def _options(event: HookEvent, kind: HookType) -> dict[str, Any]:
    rows = [row for row in ROWS if event in row.events and kind in row.types]
    alternatives = [row.key.value for row in rows if row.one_of]
    options = {
        "properties": {row.key.value: {"description": row.meaning, **_value(row)} for row in rows},
        "required": [row.key.value for row in rows if row.required],
        "additionalProperties": False,
    }
    return {**options, "oneOf": [{"required": [key]} for key in alternatives]} if alternatives else options


def _value(row: OptionRow) -> dict[str, Any]:
    if row.choices:
        return {"enum": list(row.choices), **_default(row)}
    if row.quantity is not None:
        least, most = row.quantity.minimum, row.quantity.maximum
        return {"type": "integer", "minimum": int(least), "maximum": int(most or 0), **_default(row)}
    value: dict[str, Any] = {"type": "string", "pattern": r"\S", "not": {"pattern": _UNSOUND}}
    if row.text_limit:
        value["maxLength"] = row.text_limit
    match row.key:
        case Option.MATCHER:
            return {**value, "maxLength": MATCHER_LIMIT, "anyOf": [{"const": EVERY}, {"format": "regex"}]}
        case Option.SCRIPT:
            return {**value, "anyOf": [{"pattern": SHEBANG}, {"not": {"pattern": HIDDEN_SHEBANG}}]}
        case _:
            return value


def _default(row: OptionRow) -> dict[str, Any]:
    if row.quantity is not None and row.quantity.default is not None:
        return {"default": int(row.quantity.default)}
    return {"default": row.default} if row.default in row.choices else {}


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
