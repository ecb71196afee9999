"""Hold one hook as its file declares it, and what it may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from agent_image.guard.verdict import Say


class HookEvent(StrEnum):
    """Name when a hook fires."""

    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"
    STOP = "Stop"


class HookType(StrEnum):
    """Name what judges: a model, or a program."""

    PROMPT = "prompt"
    COMMAND = "command"


class FailMode(StrEnum):
    """Name what a hook that fails counts as."""

    ALLOW = "allow"
    BLOCK = "block"


class HookLevel(StrEnum):
    """Name whose hook it is; those of the whole deployment fire first."""

    DEPLOYMENT = "deployment"
    AGENT = "agent"


TOOL_EVENTS: Final = frozenset({HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """Hold one hook, checked and with every default filled in.

    Attributes:
        number: its place among the hooks of its event in its file, from 1.
        matcher: a regular expression over the whole name of a tool, or `*`; None for Stop.
        timeout: seconds.
        model: the name under which a prompt hook's model stands; None for the agent's own.
        prompt: what a prompt hook asks.
        command: one line for bash.
        script: a text whose first line may name its interpreter.
        max_rejections: how often Stop hooks may send an answer back; None for the other events.
    """

    level: HookLevel
    event: HookEvent
    number: int
    type: HookType
    matcher: str | None = None
    timeout: int = 30
    fail_mode: FailMode = FailMode.ALLOW
    model: str | None = None
    prompt: str | None = None
    command: str | None = None
    script: str | None = None
    max_rejections: int | None = None

    @property
    def id(self) -> str:
        """Name it as the trail does: no text of the file is in it."""
        return f"{self.level}/{self.event}/{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Hold what a hook said.

    Attributes:
        reason: of a refusal, for the model; empty where none was given.
        context: what the model is to read beside.
        arguments: what the call is to run with in the place of its own; PreToolUse alone.
        alert: the name of an alert that people are to get; empty for none.
    """

    say: Say = Say.ALLOW
    reason: str = ""
    context: str = ""
    arguments: Mapping[str, Any] | None = field(default=None)
    alert: str = ""


class HookFault(StrEnum):
    """Name how a hook fails, for the trail: its words stay out of it."""

    MISSING = "hook_missing"
    NOT_EXECUTABLE = "hook_not_executable"
    EXIT = "hook_exit"
    SIGNAL = "hook_killed"
    TIMEOUT = "hook_timeout"
    OUTPUT = "hook_output_too_large"
    MALFORMED = "hook_answer_malformed"
    MODEL = "hook_model_failed"
    BUDGET = "hook_over_budget"
    ABANDONED = "hook_abandoned"
    BROKEN = "hook_failed"


class HookFailed(Exception):  # noqa: N818 - failMode says what it counts as
    """Say that a hook gave no verdict."""

    def __init__(self, fault: HookFault, detail: str = "") -> None:
        """Take how it failed, and a sentence for the audit and for `rastro hooks try`."""
        super().__init__(detail or fault.value)
        self.fault = fault
        self.detail = detail
