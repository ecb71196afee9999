"""Let others have a say before a tool runs, after it, and before an answer: the stages that hooks stand in.

A stage is asked in the order of the list, and every one is asked; the strictest verdict holds. One that raises counts
as a refusal: what cannot be judged does not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Final, Protocol, TypeVar

from agent_image.contract import Ruling
from agent_image.guard.checkpoint import Call
from agent_image.guard.scene import Scene

T_contra = TypeVar("T_contra", contravariant=True)


class Say(IntEnum):
    """Name what a stage may say, the strictest last."""

    ALLOW = 0
    ASK = 1
    DENY = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """Hold what one stage says.

    Attributes:
        source: who says it.
        code: why, for the trail.
        text: why, for the model.
        detail: more of it, for the audit alone.
        context: what the model is to read beside a tool's answer.
        arguments: what a call is to run with in the place of its own; a stage before a tool alone says so.
        alert: the kind of an alert that people are to get.
        took_ms: how long it took to say.
        told: a plain yes is written down, too.
    """

    say: Say = Say.ALLOW
    source: str = ""
    code: str = ""
    text: str = ""
    detail: str = ""
    context: str = ""
    arguments: Mapping[str, Any] | None = None
    alert: str = ""
    took_ms: int | None = None
    told: bool = False

    @property
    def ruling(self) -> Ruling:
        """Name it as events and spans do."""
        if self.say is Say.ALLOW:
            return Ruling.ALLOWED if self.arguments is None else Ruling.EDITED
        return Ruling.ASKED if self.say is Say.ASK else Ruling.BLOCKED


ALLOWED: Final = Verdict()
UNSAID: Final = "A check refused this, and gave no reason."
HOOK_ASKED: Final = "hook_asked"
"""Why a person is asked where the stage that wants it gives no code."""
HOOK_EDITED: Final = "hook_edited"
"""What a person is shown is what a stage made of the model's call."""
FAILED: Final = "A check failed, and nothing may pass without it."


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold what a tool answered, as a stage after it sees it.

    Attributes:
        result: what the model would read.
        ruling: what became of the call at the gate.
    """

    call: Call
    result: Mapping[str, Any]
    succeeded: bool
    ruling: str


class Judges(Protocol[T_contra]):
    """Judge a subject: a call before it runs, what a tool answered, or an answer."""

    def __call__(self, subject: T_contra, scene: Scene, /) -> Verdict:
        """Give a verdict; ALLOWED where the subject is no affair of this stage."""
        ...


BeforeTool = Judges[Call]
"""Judges a call before it runs; may ask a person, and change the arguments."""
AfterTool = Judges[Outcome]
"""Judges what a tool answered: DENY hides the result from the model, a context is added to it."""
BeforeAnswer = Judges[str]
"""Judges the answer: DENY sends the model back to work with the text as the reason."""


@dataclass(frozen=True, slots=True)
class Stages:
    """Hold who has a say, and how often a stage may send an answer back."""

    before_tool: Sequence[BeforeTool] = ()
    after_tool: Sequence[AfterTool] = ()
    stop: Sequence[BeforeAnswer] = ()
    stop_rejections: int = 3

    @property
    def any(self) -> bool:
        """Tell whether anybody has a say."""
        return bool(self.before_tool or self.after_tool or self.stop)

    def before(self, others: Stages) -> Stages:
        """Give these and, behind them, others; of those that send answers back, the more patient counts."""
        patience = [stages.stop_rejections for stages in (self, others) if stages.stop]
        return Stages(
            before_tool=(*self.before_tool, *others.before_tool),
            after_tool=(*self.after_tool, *others.after_tool),
            stop=(*self.stop, *others.stop),
            stop_rejections=max(patience, default=0),
        )


def judge(stages: Iterable[Judges[T_contra]], subject: T_contra, scene: Scene) -> tuple[Verdict, ...]:
    """Ask every stage; give what they say in their order, without the plain yes that nobody wants told."""
    verdicts = [_asked(stage, subject, scene) for stage in stages]
    return tuple(verdict for verdict in verdicts if verdict != ALLOWED)


def judge_call(stages: Iterable[BeforeTool], call: Call, scene: Scene) -> tuple[Call, tuple[Verdict, ...]]:
    """Ask every stage about a call, each about what the one before made of it; give the call as the last left it."""
    said = []
    for stage in stages:
        verdict = _asked(stage, call, scene)
        if verdict == ALLOWED:
            continue
        said.append(verdict)
        if verdict.arguments is not None and verdict.say is not Say.DENY:
            call = replace(call, arguments=dict(verdict.arguments))
    return call, tuple(said)


def refusals(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Give those that refuse."""
    return tuple(verdict for verdict in verdicts if verdict.say is Say.DENY)


def contexts(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Give what the model is to read beside, in order."""
    for verdict in verdicts:
        if verdict.context:
            yield verdict.context


def _asked(stage: Judges[T_contra], subject: T_contra, scene: Scene) -> Verdict:
    try:
        verdict: Verdict | None = stage(subject, scene)
    except Exception:  # noqa: BLE001 - whatever a stage raises, nothing passes that one that works might refuse
        verdict = None
    # One that forgets to answer has not said yes.
    if not isinstance(verdict, Verdict):
        return Verdict(Say.DENY, type(stage).__name__, "hook_failed", FAILED)
    if verdict.say is not Say.ALLOW and not verdict.text:
        # A model takes no empty text.
        return replace(verdict, text=UNSAID)
    return verdict
