"""Check what no single value of the `[hooks]` table can tell: files that are there, models that may be called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from agent_image import contract
from agent_image.contract import HOOK_FILE_BYTES, HookSetting
from stacks.settings.fault import Fault, shown
from stacks.settings.rules import Table, look_up
from stacks.settings.types import is_hook_file

IMAGE: Final = Path(contract.__file__).parent
"""The folder that the image and the bundle are made of."""


def hook_faults(file: str, table: Table, image: Path) -> Iterator[Fault]:
    """Apply the rules of the `[hooks]` table of one environment file, whose hook files are in the image's folder."""
    hooks = table.get("hooks")
    if not isinstance(hooks, Mapping):
        return
    for key in (HookSetting.DEPLOYMENT, HookSetting.AGENT):
        found = hooks.get(key)
        if isinstance(found, str) and is_hook_file(found) and (problem := _problem(image, found)):
            yield Fault(file, f"hooks.{key}", problem, shown(found), _ALLOWED)
    yield from _one_level_each(file, hooks)
    yield from _models_of_the_agent(file, hooks, look_up(table, "agent.models"))


_ALLOWED: Final = f"allowed: a file in {IMAGE.name}/ of at most {HOOK_FILE_BYTES:,} bytes"


def _problem(image: Path, name: str) -> str | None:
    # The image holds what stands in its folder, not what a link there points to.
    path = image / name
    inside = [path, *(part for part in path.parents if part.is_relative_to(image) and part != image)]
    try:
        if any(part.is_symlink() for part in inside):
            return "is a link, or behind one"
        if not path.is_file():
            return "there is no such file"
        size = path.stat().st_size
    except OSError as error:
        return f"cannot be read ({type(error).__name__})"
    return f"has {size:,} bytes" if size > HOOK_FILE_BYTES else None


def _one_level_each(file: str, hooks: Table) -> Iterator[Fault]:
    found = hooks.get(HookSetting.AGENT)
    if isinstance(found, str) and found == hooks.get(HookSetting.DEPLOYMENT):
        problem = f"is {HookSetting.DEPLOYMENT}'s file too: each of its hooks would run twice"
        yield Fault(file, f"hooks.{HookSetting.AGENT}", problem, shown(found), "keep one of the two")


def _models_of_the_agent(file: str, hooks: Table, models: Any) -> Iterator[Fault]:
    named = hooks.get(HookSetting.MODELS)
    if not (isinstance(named, Mapping) and isinstance(models, list)):
        return
    for name, model in named.items():
        # What is no ARN at all is a fault of its own.
        if isinstance(model, str) and model.startswith("arn:") and model not in models:
            problem = "is none of agent.models: the agent's role may call no other"
            yield Fault(file, f"hooks.{HookSetting.MODELS}.{name}", problem, shown(model), "add it there, or name one")
