"""Put the hooks of a process together: read them, give them what runs them, and stand them in the guard's stages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from opentelemetry.trace import Tracer

from agent_image.agent import NAME, AgentPlan
from agent_image.guard.verdict import Stages
from agent_image.hooks.command import CommandHooks
from agent_image.hooks.prompt import PromptHooks
from agent_image.hooks.stage import stages_of
from agent_image.hooks_of import HookModels, hooks_of, tell_dead_hooks
from agent_image.settings import Settings


@dataclass(frozen=True, slots=True)
class Hooking:
    """Hold the stages of a process, and what ends what runs its hooks."""

    stages: Stages
    close: Callable[[], None]


def hooking_of(settings: Settings, plan: AgentPlan, tracer: Tracer) -> Hooking:
    """Read the hooks that the settings name, and stand them behind the plan's own stages.

    Raises:
        SettingsError: with every fault of the settings, or of the files that they name.
    """
    hooks = hooks_of(settings, NAME)
    if not hooks:
        return Hooking(plan.stages, lambda: None)
    tell_dead_hooks(hooks, {tool.name for tool in plan.tools})
    commands, prompts = CommandHooks(), PromptHooks(HookModels(settings))

    def close() -> None:
        commands.close()
        prompts.close()

    return Hooking(plan.stages.before(stages_of(hooks, commands, prompts, tracer, time.monotonic)), close)
