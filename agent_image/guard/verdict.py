"""Let others have a say before a tool runs, after it, and before an answer: the stages that hooks stand in.

A stage is asked in the order of the list, and every one is asked; the strictest verdict holds. One that raises counts
as a refusal: what cannot be judged does not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Final, Protocol, TypeVar

from agent_image.guard.checkpoint import Call

T = TypeVar("T")


class Say(IntEnum):
    """Name what a stage may say, the strictest last."""

    ALLOW = 0
    ASK = 1
    DENY = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """Hold what one stage says: a word, who says it, a code for the trail, a text for the model."""

    say: Say = Say.ALLOW
    source: str = ""
    code: str = ""
    text: str = ""


ALLOWED: Final = Verdict()
UNSAID: Final = "A check refused this, and gave no reason."


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold what a tool answered, as a stage after it sees it."""

    call: Call
    result: Mapping[str, Any]
    succeeded: bool


class BeforeTool(Protocol):
    """Judge a call before it runs."""

    def __call__(self, call: Call) -> Verdict:
        """Give a verdict."""
        ...


class AfterTool(Protocol):
    """Judge what a tool answered: DENY hides the result from the model, a text is added to it."""

    def __call__(self, outcome: Outcome) -> Verdict:
        """Give a verdict."""
        ...


class BeforeAnswer(Protocol):
    """Judge the answer: DENY sends the model back to work with the text as the reason."""

    def __call__(self, answer: str) -> Verdict:
        """Give a verdict."""
        ...


@dataclass(frozen=True, slots=True)
class Stages:
    """Hold who has a say, and how often a stage may send an answer back."""

    before_tool: Sequence[BeforeTool] = ()
    after_tool: Sequence[AfterTool] = ()
    stop: Sequence[BeforeAnswer] = ()
    stop_rejections: int = 3


def judge(stages: Iterable[Callable[[T], Verdict]], subject: T) -> tuple[Verdict, ...]:
    """Ask every stage; what is not a plain yes comes back, the strictest first."""
    verdicts = [_asked(stage, subject) for stage in stages]
    return tuple(sorted((one for one in verdicts if one != ALLOWED), key=lambda one: -one.say))


def _asked(stage: Callable[[T], Verdict], subject: T) -> Verdict:
    try:
        verdict: Verdict | None = stage(subject)
    except Exception:  # noqa: BLE001 - whatever a hook raises, the call waits for one that works
        verdict = None
    # A hook that forgets to answer has not said yes.
    if not isinstance(verdict, Verdict):
        return Verdict(Say.DENY, type(stage).__name__, "hook_failed", "A check failed, so the call did not run.")
    if verdict.say is not Say.ALLOW and not verdict.text:
        # A model takes no empty text.
        return replace(verdict, text=verdict.code or UNSAID)
    return verdict
