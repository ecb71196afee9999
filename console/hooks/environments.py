"""Read the hooks that an environment's settings name, as its agent does when it starts."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from agent_image.agent import NAME
from agent_image.contract import Regime, Setting
from agent_image.errors import SettingsError
from agent_image.hooks.hook import Hook
from agent_image.hooks.settings import declared_hooks, parse_hooks
from agent_image.settings import Settings

ENVIRONMENTS: Final = Path("environments")
"""Where the settings of environments lie, seen from the project's folder."""


def environment_hooks(folder: Path, name: str) -> tuple[Hook, ...]:
    """Read the hooks of an environment, the deployment's first; the rest of its settings is the synthesis's affair.

    Raises:
        SettingsError: there is no such file, it is no TOML, or with every fault of the hooks and of their models.
    """
    path = folder / f"{name}.toml"
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = ", ".join(sorted(one.stem for one in folder.glob("*.toml"))) or "none"
        raise SettingsError([f"{path} is not there; environments here: {known}"]) from None
    except (OSError, ValueError) as error:
        raise SettingsError([f"{path} cannot be read: {error}"]) from None
    settings = Settings(
        environment=name,
        capture=Regime.METADATA,
        models=tuple(_models(declared)) or ("offline:",),
        hooks=MappingProxyType(_table(declared, Setting.HOOKS)),
    )
    return declared_hooks(parse_hooks(settings), NAME)


def _models(declared: Mapping[str, Any]) -> list[str]:
    models = _table(declared, "agent").get("models")
    return [str(model) for model in models] if isinstance(models, list) else []


def _table(declared: Mapping[str, Any], key: str) -> dict[str, Any]:
    table = declared.get(key)
    return dict(table) if isinstance(table, dict) else {}
