"""Say which hooks the agent on this machine runs under: files anywhere, checked before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from agent_image.contract import HookSetting
from console.errors import BadInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class LaptopHooks:
    """Hold the hook files that a person chose; the paths are absolute.

    Attributes:
        deployment: the file of the whole deployment's hooks, which fire first.
        agent: the file of the agent's own.
        models: the names that their prompt hooks call models by.
        count: how many hooks there are.
    """

    deployment: Path | None = None
    agent: Path | None = None
    models: tuple[str, ...] = ()
    count: int = 0

    def settings(self, model: str) -> dict[str, object]:
        """Write what the agent's settings say of hooks: each name of a model stands for the one model that there is."""
        files = {HookSetting.DEPLOYMENT: self.deployment, HookSetting.AGENT: self.agent}
        named = {str(key): f"file:{quote(str(path))}" for key, path in files.items() if path is not None}
        models = dict.fromkeys(self.models, model)
        return {**named, **({str(HookSetting.MODELS): models} if models else {})}


NO_HOOKS: Final = LaptopHooks()


def laptop_hooks(deployment: Path | None, agent: Path | None) -> LaptopHooks:
    """Read the hook files that a person chose; None for a level without one.

    Raises:
        BadInputError: with every fault of both files.
    """
    if deployment is None and agent is None:
        return NO_HOOKS
    # Reading them takes packages that no agent without hooks waits for.
    from agent_image.agent import NAME  # noqa: PLC0415
    from agent_image.errors import SettingsError  # noqa: PLC0415
    from agent_image.hooks.hook import Hook, HookLevel  # noqa: PLC0415
    from agent_image.hooks.settings import read_hook_file  # noqa: PLC0415

    hooks: list[Hook] = []
    faults: list[str] = []
    for level, path in ((HookLevel.DEPLOYMENT, deployment), (HookLevel.AGENT, agent)):
        try:
            hooks += [] if path is None else read_hook_file(path, name=str(path), level=level, agent=NAME)
        except SettingsError as error:
            faults += error.faults
    if faults:
        raise BadInputError("\n".join(faults))
    return LaptopHooks(
        deployment=None if deployment is None else deployment.absolute(),
        agent=None if agent is None else agent.absolute(),
        models=tuple(dict.fromkeys(hook.model for hook in hooks if hook.model is not None)),
        count=len(hooks),
    )
