"""Define the `[hooks]` table from the contract's keys, which the image reads by the same names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from agent_image.contract import HookSetting
from stacks.settings import types
from stacks.settings.quantity import record


def _file(whose: str) -> tuple[Any, Any]:
    return types.HookFile | None, Field(default=None, description=f"Hooks of the {whose}: a file in agent_image/.")


_HOOK_FIELDS: Final[Mapping[str, Any]] = {
    HookSetting.DEPLOYMENT: _file("deployment, which fire first"),
    HookSetting.AGENT: _file("agent"),
    HookSetting.MODELS: (
        dict[types.HookModelName, types.ModelArn],
        Field(default={}, description="Models that prompt hooks name, each one of agent.models."),
    ),
}
Hooks = record(
    "Hooks",
    "Who has a say before a tool runs, after it, and before an answer.",
    {key: _HOOK_FIELDS[key] for key in HookSetting},
)
