"""Hold a session as people think of it: turns, and in each what the agent did, step by step, in a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from agent_image.contract import Regime
from agent_image.retrieval.passage import Address
from console.trace.record import Note, Unread


@dataclass(frozen=True, slots=True)
class Words:
    """Hold a text as far as the trail has it: never a guess.

    Attributes:
        text: the words; None where the trail has none.
        size: bytes of UTF-8; None where nobody counted.
        digest: keyed; equal texts of one environment have equal ones.
        why: why there are no words, as a phrase such as `not recorded (regime address)`, or not all of them:
            `cut where it was recorded`; empty where there are, and where there was nothing to say.
    """

    text: str | None = None
    size: int | None = None
    digest: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Count tokens; None is unknown."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


@dataclass(frozen=True, slots=True)
class PassageRead:
    """Hold one passage in the place at which the model was reading it.

    Attributes:
        number: under which the model read it, and by which the answer cites it; None where the trail does not say.
        position: in its retrieval, from 1.
        id: what the span calls it, as it stands there.
        address: None where the id is none, as with spans of other vendors.
        uri: the whole URI of its source; empty where there is no address.
        score: None where the span has none.
        text: the words, where the regime holds them.
        cited: whether an answer names it: that of its turn, or of a later one, for numbers run over a session. Where
            a number was given twice, a later answer means the passage that was read under it last.
    """

    number: int | None
    position: int
    id: str
    address: Address | None
    uri: str
    score: float | None
    text: str | None = None
    cited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Hold what every step has.

    Attributes:
        title: what to call it.
        span_id: empty where only events tell of it.
        started: None where nobody said.
        duration_ms: None where nobody said.
        error: what failed, as a status, a type or a code; empty where nothing did.
        children: in the order of their time.
        attributes: what the span says beside, under names that we do not know.
    """

    title: str
    span_id: str = ""
    started: datetime | None = None
    duration_ms: Decimal | None = None
    error: str = ""
    children: tuple[Step, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall(Step):
    """Hold a call of a model.

    Attributes:
        hook: whose model it is; empty where it is the agent's own, or nobody says.
    """

    model: str = ""
    tokens: Tokens = Tokens()
    cost_usd: Decimal | None = None
    stop_reason: str = ""
    hook: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(Step):
    """Hold a call of a tool; its retrievals and what the guard said of it are children."""

    tool: str = ""
    tool_use_id: str = ""
    zone: str = ""
    ruling: str = ""
    arguments: Words = Words()
    result: Words = Words()
    cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval(Step):
    """Hold a retrieval.

    Attributes:
        count: passages that the model was given; None where the span does not say.
        passages: in context order; None where the regime holds no addresses.
        malformed: the span's list could not be read, or not all of it.
    """

    data_source: str = ""
    top_k: int | None = None
    index_version: str = ""
    count: int | None = None
    passages: tuple[PassageRead, ...] | None = None
    malformed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardStep(Step):
    """Hold what the guard, a person or a hook said: asked, approved, blocked, an alert, a budget.

    Attributes:
        event: the event's name, or `guard` where only a span tells of it.
        waited_ms: how long it waited for a person.
    """

    event: str
    ruling: str = ""
    tool: str = ""
    zone: str = ""
    checkpoint_id: str = ""
    approver: str = ""
    hook: str = ""
    code: str = ""
    severity: str = ""
    reasons: tuple[str, ...] = ()
    reason: Words = Words()
    waited_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherStep(Step):
    """Hold a span of any other kind."""

    operation: str = ""
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """Hold one invocation.

    Attributes:
        kind: prompt, resume, feedback, sweep, or what the span says; empty where only events tell of it.
        outcome: empty where it has not ended, or its end is not in the trail.
        cited: numbers of passages that the answer names.
        unsupported: numbers that the answer names and nobody read.
        resumes: the run that it goes on with; empty where it goes on with none.
        resumed_by: the runs that went on with it.
        checkpoint_id: where it was suspended.
        verdict: of feedback: good or bad.
    """

    run: str
    kind: str = ""
    trace_id: str = ""
    started: datetime | None = None
    duration_ms: Decimal | None = None
    outcome: str = ""
    question: Words = Words()
    answer: Words = Words()
    answer_fingerprint: str = ""
    cited: tuple[int, ...] = ()
    unsupported: tuple[int, ...] = ()
    cost_usd: Decimal | None = None
    tokens: Tokens = Tokens()
    steps: tuple[Step, ...] = ()
    resumes: str = ""
    resumed_by: tuple[str, ...] = ()
    checkpoint_id: str = ""
    archive_lost: int = 0
    verdict: str = ""
    note: Words = Words()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """Hold a session.

    Attributes:
        regimes: those that fit what the spans show, in the contract's order: address and archive look alike, so both
            stand here where neither is known; none where no retrieval tells.
        turns: in the order of their time.
        apart: spans that belong to no turn, such as those whose parents are missing and another vendor's.
        notes: what a reader must know: broken lines, missing spans, gaps between events.
    """

    id: str
    regimes: tuple[Regime, ...] = ()
    turns: tuple[Turn, ...] = ()
    apart: tuple[Step, ...] = ()
    unread: tuple[Unread, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def regime(self) -> Regime | None:
        """Give the only regime that fits; None where none is known, or more than one."""
        return self.regimes[0] if len(self.regimes) == 1 else None


def walk(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Go through steps and what is below them, in order, however deep they lie."""
    stack = list(reversed(steps))
    while stack:
        step = stack.pop()
        yield step
        stack.extend(reversed(step.children))


def retrievals(session: Session) -> Iterator[Retrieval]:
    """List the retrievals of a session, in order."""
    for steps in (*(turn.steps for turn in session.turns), session.apart):
        yield from (step for step in walk(steps) if isinstance(step, Retrieval))
