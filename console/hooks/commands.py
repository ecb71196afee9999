"""Carry out the commands about hooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_image.agent import NAME
from agent_image.errors import SettingsError
from agent_image.hooks.hook import Hook, HookEvent, HookLevel, HookType
from agent_image.hooks.settings import read_hook_file
from agent_image.models.offline import MODEL_ID
from console.errors import FAILURE, BadInputError
from console.hooks import showing
from console.hooks.contexts import read_context
from console.hooks.environments import ENVIRONMENTS, environment_hooks
from console.hooks.trying import run_hooks
from console.options import write
from console.screen import standard

if TYPE_CHECKING:
    from agent_image.hooks.prompt import PromptHooks


def check_files(files: Sequence[Path], level: HookLevel, agent: str | None, *, as_json: bool) -> int:
    """Check files, and list their hooks.

    Raises:
        BadInputError: with every fault of all files.
    """
    found: list[tuple[Path, tuple[Hook, ...]]] = []
    faults: list[str] = []
    for path in files:
        try:
            found.append((path, _read(path, level, agent)))
        except SettingsError as error:
            faults += error.faults
    if faults:
        raise BadInputError("\n".join(faults))
    screen = standard(write)
    if as_json:
        listed = [{"file": str(path), "hooks": [*map(showing.hook_document, hooks)]} for path, hooks in found]
        screen.document({"files": listed})
        return 0
    for position, (path, hooks) in enumerate(found):
        if position:
            screen.line()
        screen.table(showing.hooks_table(path, hooks))
    return 0


def check_environment(name: str, *, as_json: bool) -> int:
    """Check the hooks that an environment's settings name, as its agent does when it starts, and list them.

    Raises:
        BadInputError: there is no such environment, or with every fault of its hooks.
    """
    try:
        hooks = environment_hooks(ENVIRONMENTS, name)
    except SettingsError as error:
        raise BadInputError("\n".join(error.faults)) from None
    screen = standard(write)
    if as_json:
        screen.document({"environment": name, "hooks": [*map(showing.hook_document, hooks)]})
    elif hooks:
        screen.table(showing.hooks_table(ENVIRONMENTS / f"{name}.toml", hooks))
    else:
        screen.line(f"{name}: no hooks")
    return 0


def try_file(  # noqa: PLR0917 - one for each option
    path: Path, event: HookEvent, source: str, level: HookLevel, agent: str | None, model: str, *, as_json: bool
) -> int:
    """Run the hooks of a file that match a context, and show what they say; 1 where one could not be asked.

    Raises:
        BadInputError: the file, the context or the model's reference is refused.
    """
    try:
        hooks = _read(path, level, agent)
        context = read_context(source, event)
        prompts = _prompts(model) if any(hook.type is HookType.PROMPT for hook in hooks) else None
    except SettingsError as error:
        raise BadInputError("\n".join(error.faults)) from None
    try:
        trial = run_hooks(hooks, event, context, prompts)
    finally:
        if prompts is not None:
            prompts.close()
    screen = standard(write)
    if as_json:
        screen.document(showing.trial_document(trial, event))
    else:
        for card in showing.cards(trial):
            screen.card(card)
            screen.line()
        screen.line(showing.combined(trial, event))
    return 0 if trial.whole else FAILURE


def _read(path: Path, level: HookLevel, agent: str | None) -> tuple[Hook, ...]:
    return read_hook_file(path, name=str(path), level=level, agent=agent or NAME)


def _prompts(model: str) -> PromptHooks | None:
    """Build what asks prompt hooks; None for the offline model, which cannot judge."""
    from agent_image.models.by_url import model_for  # noqa: PLC0415 - models take packages that command hooks do not

    if model.partition(":")[0] == MODEL_ID:
        return None
    model_for(model)
    from agent_image.hooks.prompt import PromptHooks  # noqa: PLC0415

    # Every name stands for the one model that there is.
    return PromptHooks(lambda _: model_for(model))
