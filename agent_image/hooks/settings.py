"""Read what the settings say of hooks: a file for each level, and the models that prompt hooks may name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote

from agent_image.contract import HOOK_FILE_BYTES, HookSetting, Setting
from agent_image.errors import SettingsError
from agent_image.guard.document import Table
from agent_image.hooks.file import read_hooks
from agent_image.hooks.hook import Hook, HookLevel
from agent_image.settings import Settings

IMAGE: Final = Path(__file__).parent.parent
"""The image's folder: hook files are named relative to it."""
_LEVELS: Final = ((HookSetting.DEPLOYMENT, HookLevel.DEPLOYMENT), (HookSetting.AGENT, HookLevel.AGENT))
_SCHEME: Final = "file:"
_FORM: Final = "a path in the image's folder, or file: and an absolute path"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSettings:
    """Hold what the settings say of hooks.

    Attributes:
        files: the file of each level that has one, as the settings name it; the deployment's comes first.
        models: references of models, by the names that prompt hooks call them.
        references: the references that the agent's settings list, which hooks may name as they are.
    """

    files: Mapping[HookLevel, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    references: tuple[str, ...] = ()

    def reference(self, name: str) -> str | None:
        """Give the reference of the model that a prompt hook names, or None where nobody declared it."""
        return self.models.get(name) or (name if name in self.references else None)


def parse_hooks(settings: Settings) -> HookSettings:
    """Check what the settings say of hooks, and freeze it.

    Raises:
        SettingsError: with every fault.
    """
    faults: list[str] = []
    table = Table(Setting.HOOKS, settings.hooks, faults)
    table.only(HookSetting)
    files = {level: table.text(key, _FORM, _is_place) for key, level in _LEVELS}
    models = _models(table.table(HookSetting.MODELS), settings)
    if faults:
        raise SettingsError(faults)
    return HookSettings(
        files=MappingProxyType({level: name for level, name in files.items() if name is not None}),
        models=MappingProxyType(models),
        references=settings.models,
    )


def _models(table: Table, settings: Settings) -> dict[str, str]:
    named = settings.hooks.get(HookSetting.MODELS)
    allowed = f"one of {Setting.MODELS}: {', '.join(settings.models)}"
    return {
        name: table.required_text(name, allowed, settings.models.__contains__)
        for name in (named if isinstance(named, Mapping) else ())
    }


def _is_place(name: str) -> bool:
    if name.startswith(_SCHEME):
        return PurePosixPath(_shown(name)).is_absolute()
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def declared_hooks(declared: HookSettings, agent: str, image: Path = IMAGE) -> tuple[Hook, ...]:
    """Read the hooks of both levels, the deployment's first, for an agent of this name.

    Raises:
        SettingsError: with every fault of every file, and every model that a hook names and nobody declared.
    """
    hooks: list[Hook] = []
    faults: list[str] = []
    for level, name in declared.files.items():
        try:
            read = read_hook_file(_place(name, image), name=_shown(name), level=level, agent=agent)
        except SettingsError as error:
            faults.extend(error.faults)
            continue
        hooks.extend(read)
        faults.extend(_unknown_model(_shown(name), hook, declared) for hook in read if _is_unknown(hook, declared))
    if faults:
        raise SettingsError(faults)
    return tuple(hooks)


def read_hook_file(path: Path, *, name: str, level: HookLevel, agent: str) -> tuple[Hook, ...]:
    """Read the hooks of one file.

    Raises:
        SettingsError: with every fault of the file; each begins with `name`.
    """
    try:
        # A pipe, or a device, would keep the start waiting.
        size = path.stat().st_size if path.is_file() else None
        text = b"" if size is None or size > HOOK_FILE_BYTES else path.read_bytes()
    except (OSError, ValueError) as error:
        raise SettingsError([f"{name}: cannot be read ({type(error).__name__}); {_FILE}"]) from None
    if size is None:
        raise SettingsError([f"{name}: is not there; {_FILE}"])
    if size > HOOK_FILE_BYTES:
        raise SettingsError([f"{name}: has {size:,} bytes; {_FILE}"])
    return read_hooks(text, name=name, level=level, agent=agent)


_FILE: Final = f"allowed: a file of at most {HOOK_FILE_BYTES:,} bytes"


def _place(name: str, image: Path) -> Path:
    return Path(_shown(name)) if name.startswith(_SCHEME) else image / name


def _shown(name: str) -> str:
    return unquote(name.removeprefix(_SCHEME)) if name.startswith(_SCHEME) else name


def _is_unknown(hook: Hook, declared: HookSettings) -> bool:
    return hook.model is not None and declared.reference(hook.model) is None


def _unknown_model(name: str, hook: Hook, declared: HookSettings) -> str:
    allowed = ", ".join([*sorted(declared.models), *declared.references])
    return f"{name}: {hook.event}[{hook.number - 1}].model is {hook.model!r}; allowed: {allowed}"
