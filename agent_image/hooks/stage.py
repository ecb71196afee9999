"""Stand hooks in the guard's stages: each fires on what it matches, and what it says, or fails to say, is a verdict."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Generic, Protocol, TypeVar

from opentelemetry.trace import Tracer

from agent_image.contract import Span
from agent_image.guard.checkpoint import Call
from agent_image.guard.scene import Scene
from agent_image.guard.verdict import ALLOWED, FAILED, UNSAID, Outcome, Say, Stages, Verdict
from agent_image.hooks.context import after_context, before_context, stop_context
from agent_image.hooks.hook import FailMode, Hook, HookEvent, HookFailed, HookFault, HookType, Said
from agent_image.hooks.matcher import matches

SPAN: Final = "guard hook"
TRANSCRIPT: Final = "transcript.txt"
ASKED: Final = "hook_asked"
BLOCKED: Final = "hook_blocked"
EDITED: Final = "hook_edited"
T = TypeVar("T")


class Commands(Protocol):
    """Run command hooks."""

    def run(self, hook: Hook, context: Mapping[str, Any], folder: Path, gone: Callable[[], bool]) -> Said:
        """Run one.

        Raises:
            HookFailed: it gave no verdict.
        """
        ...


class Prompts(Protocol):
    """Ask prompt hooks."""

    def run(self, hook: Hook, context: Mapping[str, Any], transcript: Path, scene: Scene) -> Said:
        """Ask one.

        Raises:
            HookFailed: it gave no verdict.
        """
        ...


@dataclass(frozen=True, slots=True)
class Subject(Generic[T]):
    """Say how an event's subject is matched, and shown to a hook."""

    tool: Callable[[T], str | None]
    context: Callable[[Scene, Path, T], dict[str, Any]]


_CALL: Final[Subject[Call]] = Subject(lambda call: call.tool, before_context)
_OUTCOME: Final[Subject[Outcome]] = Subject(lambda outcome: outcome.call.tool, after_context)
_ANSWER: Final[Subject[str]] = Subject(lambda _: None, stop_context)


class HookStage(Generic[T]):
    """Ask one hook."""

    def __init__(
        self,
        hook: Hook,
        subject: Subject[T],
        runners: tuple[Commands, Prompts],
        tracer: Tracer,
        clock: Callable[[], float],
    ) -> None:
        """Take the hook, how its subject is shown, what runs hooks, the tracer of guard spans, and a clock."""
        self._hook = hook
        self._subject = subject
        self._commands, self._prompts = runners
        self._tracer = tracer
        self._clock = clock

    def __call__(self, subject: T, scene: Scene) -> Verdict:
        """Give the hook's verdict; ALLOWED, untold, where it does not match."""
        tool = self._subject.tool(subject)
        if tool is not None and not matches(self._hook, tool):
            return ALLOWED
        began = self._clock()
        with self._tracer.start_as_current_span(SPAN) as span:
            verdict = self._verdict(subject, scene)
            span.set_attribute(Span.HOOK, self._hook.id)
            span.set_attribute(Span.DECISION, verdict.ruling.value)
            if tool is not None:
                span.set_attribute(Span.TOOL, tool)
            if verdict.code:
                span.set_attribute(Span.REASON, verdict.code)
        return replace(verdict, took_ms=round((self._clock() - began) * 1_000))

    def _verdict(self, subject: T, scene: Scene) -> Verdict:
        try:
            with _folder() as folder:
                return verdict_of(self._hook, self._said(subject, scene, folder))
        except HookFailed as failed:
            return failure(self._hook, failed)
        except Exception as error:  # noqa: BLE001 - a full disk, a broken runner: failMode says what that counts as
            return failure(self._hook, HookFailed(HookFault.BROKEN, type(error).__name__))

    def _said(self, subject: T, scene: Scene, folder: Path) -> Said:
        transcript = folder / TRANSCRIPT
        transcript.write_text(scene.transcript(), encoding="utf-8", errors="replace")
        transcript.chmod(stat.S_IRUSR)
        context = self._subject.context(scene, transcript, subject)
        if self._hook.type is HookType.COMMAND:
            return self._commands.run(self._hook, context, folder, scene.gone)
        return self._prompts.run(self._hook, context, transcript, scene)


@contextmanager
def _folder() -> Iterator[Path]:
    """Make a hook's own folder: nothing of a hook outlives it, neither its processes nor what they wrote."""
    made = TemporaryDirectory(prefix="rastro-hook-", ignore_cleanup_errors=True)
    folder = Path(made.name)
    try:
        yield folder
    finally:
        # What the hook said counts, be it that its folders lie too deep for who clears them away.
        with suppress(Exception):
            (folder / TRANSCRIPT).unlink(missing_ok=True)
        with suppress(Exception):
            made.cleanup()


def stages_of(
    hooks: Iterable[Hook], commands: Commands, prompts: Prompts, tracer: Tracer, clock: Callable[[], float]
) -> Stages:
    """Stand hooks in their stages, in their order: those of the deployment come first in it."""
    of: dict[HookEvent, list[Hook]] = {event: [] for event in HookEvent}
    for hook in hooks:
        of[hook.event].append(hook)
    runners = (commands, prompts)
    stops = [hook.max_rejections for hook in of[HookEvent.STOP] if hook.max_rejections is not None]
    return Stages(
        before_tool=[HookStage(hook, _CALL, runners, tracer, clock) for hook in of[HookEvent.PRE_TOOL_USE]],
        after_tool=[HookStage(hook, _OUTCOME, runners, tracer, clock) for hook in of[HookEvent.POST_TOOL_USE]],
        stop=[HookStage(hook, _ANSWER, runners, tracer, clock) for hook in of[HookEvent.STOP]],
        # Of several the greatest counts.
        stop_rejections=max(stops, default=0),
    )


def verdict_of(hook: Hook, said: Said) -> Verdict:
    """Make a verdict of what a hook said."""
    edits = said.arguments is not None and said.say is not Say.DENY
    codes = {Say.ALLOW: EDITED if edits else "", Say.ASK: ASKED, Say.DENY: BLOCKED}
    return Verdict(
        say=said.say,
        source=hook.id,
        code=codes[said.say],
        # Without a reason it still refuses.
        text="" if said.say is Say.ALLOW else said.reason or UNSAID,
        detail=said.reason,
        context=said.context,
        arguments=said.arguments if edits else None,
        alert=said.alert,
        told=True,
    )


def failure(hook: Hook, failed: HookFailed) -> Verdict:
    """Make a verdict of a hook that gave none: what it wrote is for the audit, and not for the model."""
    blocks = hook.fail_mode is FailMode.BLOCK
    return Verdict(
        say=Say.DENY if blocks else Say.ALLOW,
        source=hook.id,
        code=failed.fault.value,
        text=FAILED if blocks else "",
        detail=failed.detail,
        told=True,
    )
