"""Say what happens under the guard, and where its markers stand: what models call, what people answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from agent_image.contract import Choice, Status
from tests.canary import hooked
from tests.canary.markers import Marker, Words
from tests.loopback.bedrock import Answer, Step, ToolCall

PRICE: Final = Decimal(60)
BUDGET: Final = Decimal(50)
"""One purchase is over the budget; an approval lets one through."""
WAITED: Final = Words("question while another waits")
WIRE_RESULT: Final = Words("result of wire")
DRAFT_RESULT: Final = Words("result of draft")
RED_EXCEPTION: Final = Words("exception of a red tool")
CONSENT: Final = Words("reason of an approval")
GUIDANCE: Final = Words("guidance of an edit")
EDITED: Final = Words("edited argument")
REJECTION: Final = Words("reason of a rejection")
CANCELLATION: Final = Words("reason of a cancellation")
FINDING: Final = Words("what was found of an action in doubt")
BUDGET_CONSENT: Final = Words("reason to let a budget grow")
BUDGET_REFUSAL: Final = Words("reason to end a budget")
FORBIDDEN: Final = Words("argument that a hook forbids")
INSISTED: Final = Words("argument that a hook forbids again")
VERDICT: Final = Words("verdict before a tool")
VERDICT_CODE: Final = Marker("code of a verdict")
AFTERWARDS: Final = Words("verdict after a tool")
UNCHECKED: Final = Words("answer that is sent back")
OBJECTION: Final = Words("why an answer is sent back")
LONG: Final = Words("long argument")
TAIL: Final = Marker("long argument, behind the cut")
INVENTED: Final = Marker("tool that a hostile model invents")
INVENTED_ARGUMENT: Final = Words("argument of a tool that a hostile model invents")


@dataclass(frozen=True)
class Ask:
    """Ask something else while a person is waited for."""

    question: Words


@dataclass(frozen=True)
class Decide:
    """Decide about what waits."""

    choice: Choice
    reason: Words
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Resolve:
    """Say that an action in doubt had no effect."""

    reason: Words


Act = Ask | Decide | Resolve


@dataclass(frozen=True)
class Scene:
    """Hold one question in a session of its own: what the model does, what people do, and how it ends.

    People approve, and find that what is in doubt had no effect, beyond their `acts`.
    """

    name: str
    steps: tuple[Step, ...]
    acts: tuple[Act, ...] = ()
    ends: str = Status.COMPLETED

    @property
    def question(self) -> Words:
        return Words(f"{self.name}: question")

    @property
    def answer(self) -> Words:
        return Words(f"{self.name}: answer")

    @property
    def session(self) -> str:
        """Name its session."""
        return f"canary-{self.name.replace(' ', '-'):0>32}"


def argument(name: str) -> Words:
    """Give what the model of a scene hands to a tool."""
    return Words(f"{name}: argument")


def _call(tool: str, words: object, **more: Any) -> ToolCall:
    return ToolCall(tool, {"note": str(words), **more})


def _answer(name: str) -> Answer:
    return Answer(f"{Words(f'{name}: answer')}\n")


SCENES: Final = (
    Scene(
        "edited",
        (_call("wire", argument("edited")), _answer("edited")),
        (Ask(WAITED), Decide(Choice.EDIT, GUIDANCE, {"note": str(EDITED)})),
    ),
    Scene("rejected", (_call("wire", argument("rejected")), _answer("rejected")), (Decide(Choice.REJECT, REJECTION),)),
    Scene(
        "cancelled", (_call("wire", argument("cancelled")),), (Decide(Choice.CANCEL, CANCELLATION),), ends="cancelled"
    ),
    Scene("in doubt", (_call("crash", argument("in doubt")), _answer("in doubt"))),
    Scene(
        "bought",
        (_call("buy", argument("bought")), _call("buy", argument("bought again"))),
        (Decide(Choice.APPROVE, BUDGET_CONSENT), Decide(Choice.REJECT, BUDGET_REFUSAL)),
        ends="budget_refused",
    ),
    Scene(
        "judged",
        (
            _call("draft", argument("judged")),
            _call("draft", LONG, tail=f"{'…' * 200}{TAIL}"),
            _call("draft", FORBIDDEN),
            _call("draft", INSISTED),
            Answer(f"{UNCHECKED}\n"),
        ),
    ),
    Scene(
        "hooked",
        (
            _call(hooked.JOT, hooked.FORBIDDEN),
            _call(hooked.JOT, hooked.ALLOWED),
            _call(hooked.JOT, hooked.STOPPED),
            _call(hooked.JOT, hooked.CHANGED),
            _call(hooked.WEIGH, hooked.WEIGHED),
            Answer(f"{hooked.UNCHECKED}\n"),
        ),
    ),
    Scene(
        "hostile",
        (
            *(ToolCall("_".join(INVENTED.halves), {"argument": str(INVENTED_ARGUMENT)}),) * 2,
            _answer("hostile"),
        ),
    ),
)
SENT_BACK: Final[Mapping[Words, Step]] = {OBJECTION: _answer("judged"), hooked.OBJECTION: _answer("hooked")}
"""What the model says when its answer was refused, by the reason."""

_ANSWERED: Final = tuple(scene.answer for scene in SCENES if scene.ends == Status.COMPLETED)
QUESTIONS: Final = (*(scene.question for scene in SCENES), WAITED)
ARGUMENTS: Final = (
    *(argument(name) for name in ("edited", "rejected", "cancelled", "in doubt", "bought", "judged")),
    *(EDITED, LONG, hooked.ALLOWED, hooked.INPUT),
)
"""What tools are called with, or would be."""
RESULTS: Final = (WIRE_RESULT, DRAFT_RESULT, AFTERWARDS, hooked.RESULT, hooked.AFTERWARDS)
TOLD: Final = (
    *(GUIDANCE, REJECTION, CONSENT, FINDING, VERDICT, OBJECTION),
    *(hooked.DENIAL, hooked.ADVICE, hooked.COMPLAINT, hooked.OPINION, hooked.OBJECTION),
)
"""What others say, and the model is told."""
UNTOLD: Final = (CANCELLATION, BUDGET_REFUSAL, hooked.WRECKAGE)
"""What people say when they end a run, and a hook that fails: the trail has it, and the model is not told."""
UNSAID: Final = (
    *(argument("bought again"), FORBIDDEN, INSISTED, INVENTED_ARGUMENT),
    *(hooked.FORBIDDEN, hooked.STOPPED, hooked.CHANGED, hooked.WEIGHED),
)
"""Arguments of calls that are turned away, or changed, before anything is written down of them."""
ASIDE: Final = (hooked.PROMPT, hooked.LOOKED_FOR)
"""What a hook's own model reads and writes, beside its verdict."""
SPOKEN: Final = (
    *(scene.question for scene in SCENES),
    *(*ARGUMENTS, *RESULTS, *TOLD, *UNSAID, *ASIDE, UNCHECKED, hooked.UNCHECKED, *_ANSWERED),
)
"""What a model reads or writes."""
RECORDED: Final = (*QUESTIONS, *ARGUMENTS, *RESULTS, *TOLD, *UNTOLD)
"""What events hold as texts."""
CUT_AWAY: Final = (WIRE_RESULT, AFTERWARDS, hooked.AFTERWARDS)
"""What stands in events behind the cut, at the end of long results."""
BEHIND_THE_CUT: Final = (GUIDANCE, *CUT_AWAY)
"""Whose addresses stand there."""
ANSWERS: Final = (*QUESTIONS, *_ANSWERED)
"""What the invocations' own spans hold where the regime says so."""
WORDS: Final = tuple(dict.fromkeys((*SPOKEN, *RECORDED, *ANSWERS, RED_EXCEPTION, BUDGET_CONSENT)))
"""Everything that is said under the guard."""
MARKERS: Final = (
    *(marker for words in WORDS for marker in words.both),
    *(VERDICT_CODE, TAIL, INVENTED, hooked.COMMENT, hooked.CODE),
)
