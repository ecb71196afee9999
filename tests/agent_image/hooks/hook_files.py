"""Hook files for tests: written as JSON, which YAML holds, and read at one level of one agent."""

from __future__ import annotations

import json
from typing import Any

from agent_image.errors import SettingsError
from agent_image.hooks.file import read_hooks
from agent_image.hooks.hook import Hook, HookEvent, HookLevel, HookType

AGENT = "shop_agent"
FILE = "hooks.yaml"


def read(text: str | bytes, level: HookLevel = HookLevel.AGENT) -> tuple[Hook, ...]:
    """Read a file."""
    return read_hooks(text.encode() if isinstance(text, str) else text, name=FILE, level=level, agent=AGENT)


def read_value(document: Any) -> tuple[Hook, ...]:
    """Read a file that holds this value."""
    return read(json.dumps(document, ensure_ascii=False))


def faults(text: str | bytes) -> list[str]:
    """Give the faults of a file, without its name, which each begins with."""
    try:
        read(text)
    except SettingsError as error:
        found = error.faults
    else:
        return []
    assert found
    assert all(fault.startswith(f"{FILE}: ") for fault in found)
    return [fault.removeprefix(f"{FILE}: ") for fault in found]


def faults_of(document: Any) -> list[str]:
    """Give the faults of a file that holds this value."""
    return faults(json.dumps(document, ensure_ascii=False))


def plainest(event: HookEvent, kind: HookType) -> dict[str, Any]:
    """Give the fewest options that a hook can have."""
    options: dict[str, Any] = {"prompt": "Is it done?"} if kind is HookType.PROMPT else {"command": "true"}
    if kind is HookType.COMMAND:
        options["type"] = "command"
    if event is not HookEvent.STOP:
        options["matcher"] = "*"
    return options


def file_of(event: HookEvent, *hooks: Any) -> dict[str, Any]:
    """Give a document with hooks of one event."""
    return {"hooks": {event.value: list(hooks)}}
