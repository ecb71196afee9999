"""Prompt hooks whose models say what a test tells them to, paid for by whom a test can ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strands.models import Model

from agent_image.errors import AgentError
from agent_image.guard.scene import Scene, SideCalls
from agent_image.hooks.hook import FailMode, Hook, HookEvent, HookFailed, HookLevel, HookType, Said
from agent_image.hooks.prompt import PromptHooks
from tests.agent_image.scripted import Says, ScriptedModel, Turn

TEXT = "[1] user\n    Where is my order?\n"


@dataclass
class Paid:
    """What became of one call."""

    begun: tuple[Any, ...]
    told: list[tuple[Any, ...]] = field(default_factory=list)
    refuses: AgentError | None = None

    def end(self, usage: Mapping[str, Any], stop_reason: str) -> None:
        """Note it."""
        if self.refuses is not None:
            raise self.refuses
        self.told.append(("end", usage["inputTokens"], usage["outputTokens"], stop_reason))

    def fail(self, code: str) -> None:
        """Note it."""
        self.told.append(("fail", code))


@dataclass
class Purse:
    """Pays for so many calls."""

    holds: int = 1_000
    refusal: str = "budget_limit"
    refuses_to_settle: AgentError | None = None
    calls: list[Paid] = field(default_factory=list)

    def begin(self, hook: str, model: str, projected_tokens: int | None, output_tokens: int | None) -> Paid:
        """Note the call, or refuse it."""
        if len(self.calls) >= self.holds:
            raise AgentError(self.refusal, "No.")
        self.calls.append(paid := Paid((hook, model, projected_tokens, output_tokens), [], self.refuses_to_settle))
        return paid

    @property
    def told(self) -> list[list[tuple[Any, ...]]]:
        """Give what was said of each call."""
        return [call.told for call in self.calls]


def hook_of(event: HookEvent = HookEvent.STOP, **facts: Any) -> Hook:
    """Build a prompt hook."""
    given = {"prompt": "Is it complete? $ARGUMENTS", "max_rejections": 3, "fail_mode": FailMode.ALLOW, **facts}
    return Hook(level=HookLevel.AGENT, event=event, number=1, type=HookType.PROMPT, **given)


def scene_of(calls: SideCalls, gone: Callable[[], bool] = lambda: False) -> Scene:
    """Build a scene."""
    return Scene(
        session_id="s",
        agent="rastro",
        turn=1,
        max_turns=10,
        sent_back=0,
        transcript=lambda: TEXT,
        calls=calls,
        gone=gone,
    )


class Asked:
    """Ask prompt hooks as their stage does."""

    def __init__(
        self, folder: Path, turns: Sequence[Turn] = (), *, model: Model | None = None, text: str = TEXT
    ) -> None:
        self.scripted = ScriptedModel(turns or [Says('{"ok": true}')])
        self.model: Model = model or self.scripted
        self.asked_for: list[str | None] = []
        self.purse = Purse()
        self.transcript = folder / "transcript.txt"
        self.transcript.write_text(text, encoding="utf-8")
        self.gone: Callable[[], bool] = lambda: False
        self.hooks = PromptHooks(self._model_for, attempts=1)

    def _model_for(self, name: str | None) -> Model:
        self.asked_for.append(name)
        return self.model

    def said(self, hook: Hook | None = None, *, calls: SideCalls | None = None, **context: Any) -> Said:
        """Ask, and give what the hook said."""
        given = {"hook_event_name": "Stop", "execution_summary": str(self.transcript), **context}
        return self.hooks.run(hook or hook_of(), given, self.transcript, scene_of(calls or self.purse, self.gone))

    def failed(self, hook: Hook | None = None, **context: Any) -> tuple[str, str]:
        """Ask, and give how the hook failed."""
        try:
            said = self.said(hook, **context)
        except HookFailed as failed:
            return failed.fault.value, failed.detail
        message = f"it said {said}"
        raise AssertionError(message)

    def results(self) -> list[str]:
        """Give what the model's tools answered, in the order of its calls."""
        return [
            "".join(part["text"] for part in block["toolResult"]["content"])
            for message in self.scripted.seen[-1]
            for block in message["content"]
            if "toolResult" in block
        ]
