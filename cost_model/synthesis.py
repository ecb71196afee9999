"""Read a folder of synthesised Terraform into environments, each with the stacks it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agent_image.contract import AGENT_STACK_PREFIX
from cost_model.documents import read_json
from cost_model.errors import CostError, SynthesisError
from cost_model.terraform import Stack, objects

MANIFEST: Final = "manifest.json"
_SUFFIX: Final = ".tf.json"


@dataclass(frozen=True, slots=True)
class Environment:
    """Hold an environment: its own stack first, then those it depends on.

    Attributes:
        shared: stacks whose pieces another environment counts already, by its name.
    """

    name: str
    stacks: tuple[Stack, ...]
    shared: Mapping[str, str] = field(default_factory=dict)


def read_environments(folder: Path, only: str | None = None) -> tuple[Environment, ...]:
    """Read the environments under a synthesis folder, or the one asked for.

    Without a manifest, the folder's `*.tf.json` files together, or a single file, are one environment.
    """
    if not folder.exists():
        message = f"{folder}: no such folder; run `make synth`, or name the folder that holds {MANIFEST}"
        raise SynthesisError(message)
    if (folder / MANIFEST).is_file():
        return _from_manifest(folder, only)
    paths = [folder] if folder.is_file() else sorted(folder.glob(f"*{_SUFFIX}"))
    if not paths:
        message = f"{folder}: neither {MANIFEST} nor {_SUFFIX} files here; run `make synth`"
        raise SynthesisError(message)
    name = folder.resolve().name.removesuffix(_SUFFIX)
    _require_known(only, {name: name}, folder)
    return (Environment(name, tuple(_read_stack(path.name.removesuffix(_SUFFIX), path) for path in paths)),)


def _from_manifest(folder: Path, only: str | None) -> tuple[Environment, ...]:
    manifest = folder / MANIFEST
    entries = next(objects(read_json(manifest).get("stacks")), {})
    needs = {name: _names(entry, "dependencies") for name, entry in entries.items()}
    mains = _main_stacks(needs)
    if not mains:
        message = f"{manifest}: names no stack"
        raise SynthesisError(message)
    _require_known(only, mains, folder)
    wanted = {environment: stack for environment, stack in mains.items() if only in {None, environment}}
    members = {environment: _with_dependencies(stack, needs, manifest) for environment, stack in wanted.items()}
    stacks = _read_stacks(folder, entries, dict.fromkeys(name for names in members.values() for name in names))
    first: dict[str, str] = {}
    for environment, names in members.items():
        for stack in names:
            first.setdefault(stack, environment)
    return tuple(
        Environment(name, tuple(stacks[stack] for stack in names), {s: first[s] for s in names if first[s] != name})
        for name, names in members.items()
    )


def _main_stacks(needs: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Map environments to their stacks: ours by prefix, else every stack that no other one needs."""
    ours = {name.removeprefix(AGENT_STACK_PREFIX): name for name in needs if name.startswith(AGENT_STACK_PREFIX)}
    needed = {name for names in needs.values() for name in names}
    return ours or {name: name for name in needs if name not in needed}


def _with_dependencies(stack: str, needs: Mapping[str, tuple[str, ...]], manifest: Path) -> tuple[str, ...]:
    found: dict[str, None] = {}
    waiting = [stack]
    while waiting:
        name = waiting.pop(0)
        if name not in needs:
            message = f"{manifest}: {stack} depends on {name!r}, which is not there; run `make synth`"
            raise SynthesisError(message)
        if name not in found:
            found[name] = None
            waiting.extend(needs[name])
    return tuple(found)


def _read_stacks(folder: Path, entries: Mapping[str, object], names: Mapping[str, None]) -> dict[str, Stack]:
    stacks, errors = {}, []
    for name in names:
        try:
            stacks[name] = _read_stack(name, _path(folder, name, entries[name]))
        except CostError as error:
            errors.append(error)
    if errors:
        raise CostError.all_of(errors)
    return stacks


def _path(folder: Path, name: str, entry: object) -> Path:
    relative = next(objects(entry), {}).get("synthesizedStackPath")
    path = folder / str(relative)
    if not isinstance(relative, str) or not path.resolve().is_relative_to(folder.resolve()):
        message = f"{folder / MANIFEST}: stack {name!r}: synthesizedStackPath must name a file under {folder}"
        raise SynthesisError(message)
    return path


def _read_stack(name: str, path: Path) -> Stack:
    stack = Stack(name, read_json(path))
    if not stack.is_terraform:
        message = f"{path}: JSON, but not Terraform: none of resource, provider, terraform, data is there"
        raise SynthesisError(message)
    return stack


def _names(entry: object, key: str) -> tuple[str, ...]:
    value = next(objects(entry), {}).get(key)
    return tuple(name for name in value if isinstance(name, str)) if isinstance(value, list) else ()


def _require_known(only: str | None, environments: Mapping[str, str], folder: Path) -> None:
    if only is not None and only not in environments:
        message = (
            f"{folder}: no environment {only!r}; it holds: {', '.join(environments)}; run `make synth` if it is new"
        )
        raise SynthesisError(message)
