"""Read the hooks that the settings name, and give prompt hooks their models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from threading import Lock

from strands.models import Model

from agent_image.errors import SettingsError
from agent_image.hooks.hook import Hook
from agent_image.hooks.matcher import EVERY, matches
from agent_image.hooks.settings import HookSettings, declared_hooks, parse_hooks
from agent_image.models.by_url import model_for
from agent_image.notice import notice
from agent_image.settings import Settings


def hooks_of(settings: Settings, agent: str) -> tuple[Hook, ...]:
    """Read the hooks of an agent of this name, the deployment's first; none where the settings name no file.

    Raises:
        SettingsError: with every fault of the settings, or of the files that they name.
    """
    return declared_hooks(parse_hooks(settings), agent)


class HookModels:
    """Give prompt hooks their models, each built when it is first asked for.

    They are the hooks' own: one that the agent calls may belong to the loop that it answers in.
    """

    def __init__(self, settings: Settings, build: Callable[[str, str | None], Model] = model_for) -> None:
        """Take the settings, and what builds a model from its reference and a Region.

        Raises:
            SettingsError: with every fault of what the settings say of hooks.
        """
        self._declared: HookSettings = parse_hooks(settings)
        self._own = settings.models[0]
        self._region = settings.region
        self._build = build
        self._built: dict[str, Model] = {}
        self._lock = Lock()

    def __call__(self, name: str | None) -> Model:
        """Give the model that a hook names, or the one that the agent calls where it names none; for any thread.

        Raises:
            SettingsError: nobody declared a model of this name, or it cannot be built.
        """
        reference = self._own if name is None else self._declared.reference(name)
        if reference is None:
            raise SettingsError([f"no model is declared as {name!r}"])
        # Hooks of several sessions may ask at once: each model is built once.
        with self._lock:
            if reference not in self._built:
                self._built[reference] = self._build(reference, self._region)
            return self._built[reference]


def matching_nothing(hooks: Iterable[Hook], tools: Collection[str]) -> Iterator[Hook]:
    """Give the hooks that no tool of the agent will ever fire."""
    for hook in hooks:
        # What matches every tool is no slip of the hand, however few there are.
        if hook.matcher not in {None, EVERY} and not any(matches(hook, tool) for tool in tools):
            yield hook


def tell_dead_hooks(hooks: Iterable[Hook], tools: Collection[str]) -> None:
    """Leave a notice of each hook that matches no tool: its matcher is mistyped, or a tool has another name now."""
    for hook in matching_nothing(hooks, tools):
        notice("hook_matches_nothing", hook=hook.id)
