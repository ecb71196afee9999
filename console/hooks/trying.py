"""Run hooks once, in order, each in a folder of its own that is gone afterwards."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from agent_image.guard.scene import Scene, SideCall
from agent_image.guard.verdict import Say, Verdict
from agent_image.hooks.command import CommandHooks
from agent_image.hooks.context import Field
from agent_image.hooks.hook import Hook, HookEvent, HookFailed, HookFault, HookType, Said
from agent_image.hooks.matcher import matches
from agent_image.hooks.stage import TRANSCRIPT, Prompts, failure, verdict_of

UNJUDGED: Final = "not_judged"
"""What stands for a verdict where nobody could be asked."""


class Meter:
    """Count the tokens of prompt hooks; nothing is paid for, and nothing is refused."""

    def __init__(self) -> None:
        """Begin with none."""
        self.tokens = 0

    def begin(self, hook: str, model: str, projected_tokens: int | None, output_tokens: int | None) -> SideCall:  # noqa: ARG002 - the port's
        """Let any call be made."""
        return _Counted(self)


class _Counted:
    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def end(self, usage: Mapping[str, Any], stop_reason: str) -> None:  # noqa: ARG002 - the port's
        self._meter.tokens += int(usage.get("inputTokens", 0)) + int(usage.get("outputTokens", 0))

    def fail(self, code: str) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Tried:
    """Hold what came of one hook; no verdict where nobody could be asked."""

    hook: Hook
    verdict: Verdict | None
    took_ms: int


@dataclass(frozen=True, slots=True)
class Trial:
    """Hold what came of all that match.

    Attributes:
        tried: each, in order.
        say: the strictest verdict.
        arguments: the input as the last hook left it; None where none changed it.
        tokens: what models used.
    """

    tried: tuple[Tried, ...]
    say: Say
    arguments: Mapping[str, Any] | None
    tokens: int

    @property
    def whole(self) -> bool:
        """Tell whether every hook could be asked."""
        return all(one.verdict is not None for one in self.tried)


def run_hooks(hooks: Sequence[Hook], event: HookEvent, context: Mapping[str, Any], prompts: Prompts | None) -> Trial:
    """Run the hooks that match a context; without `prompts`, prompt hooks are not judged."""
    meter, edited = Meter(), None
    tried: list[Tried] = []
    with _commands() as commands:
        for hook in hooks:
            if hook.event is not event or not _is_meant(hook, context):
                continue
            seen = context if edited is None else {**context, Field.INPUT.value: dict(edited)}
            began = time.monotonic()
            verdict = _verdict(hook, seen, commands, prompts, meter)
            tried.append(Tried(hook, verdict, round((time.monotonic() - began) * 1_000)))
            if verdict is not None and verdict.arguments is not None:
                edited = verdict.arguments
    say = max((one.verdict.say for one in tried if one.verdict is not None), default=Say.ALLOW)
    return Trial(tuple(tried), say, edited if say is not Say.DENY else None, meter.tokens)


@contextmanager
def _commands() -> Iterator[CommandHooks]:
    commands = CommandHooks()
    try:
        yield commands
    finally:
        commands.close()


def _is_meant(hook: Hook, context: Mapping[str, Any]) -> bool:
    return hook.event is HookEvent.STOP or matches(hook, context[Field.TOOL])


def _verdict(
    hook: Hook, context: Mapping[str, Any], commands: CommandHooks, prompts: Prompts | None, meter: Meter
) -> Verdict | None:
    if hook.type is HookType.PROMPT and prompts is None:
        return None
    try:
        with TemporaryDirectory(prefix="rastro-hook-", ignore_cleanup_errors=True) as made:
            return verdict_of(hook, _said(hook, context, Path(made), commands, prompts, meter))
    except HookFailed as failed:
        return failure(hook, failed)
    except Exception as error:  # noqa: BLE001 - as in a run: failMode says what that counts as
        return failure(hook, HookFailed(HookFault.BROKEN, type(error).__name__))


def _said(  # noqa: PLR0917 - a hook, what it reads, where, and what runs it
    hook: Hook,
    context: Mapping[str, Any],
    folder: Path,
    commands: CommandHooks,
    prompts: Prompts | None,
    meter: Meter,
) -> Said:
    transcript = folder / TRANSCRIPT
    transcript.write_bytes(_transcript(context))
    transcript.chmod(stat.S_IRUSR)
    shown = {**context, Field.EVENT.value: hook.event.value, Field.TRANSCRIPT.value: str(transcript)}
    if prompts is None or hook.type is HookType.COMMAND:
        return commands.run(hook, shown, folder, lambda: False)
    return prompts.run(hook, shown, transcript, _scene(shown, meter))


def _transcript(context: Mapping[str, Any]) -> bytes:
    """Give the transcript that a context names; an empty one where there is none."""
    try:
        path = Path(context.get(Field.TRANSCRIPT) or "")
        return path.read_bytes() if path.is_file() else b""
    except (OSError, ValueError):
        return b""


def _scene(context: Mapping[str, Any], meter: Meter) -> Scene:
    return Scene(
        session_id="",
        agent=context[Field.AGENT],
        turn=context[Field.TURN],
        max_turns=context[Field.MAX_TURNS],
        sent_back=context.get(Field.REJECTIONS, 0),
        transcript=lambda: "",
        calls=meter,
        gone=lambda: False,
    )
