"""Whatever a model calls, people decide and power cuts interrupt: what happens is what a small model says.

The model knows three sentences: what nobody approved does not run; what is not only reading runs once at most; what
ran, and was not lost in a crash, is what the conversation holds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strands import tool
from strands.types.content import Messages
from strands.types.streaming import StreamEvent
from strands.types.tools import ToolSpec

from agent_image.contract import Choice, Zone
from agent_image.guard.audit_lines import line
from agent_image.guard.checkpoint import Action, Call, Case, Checkpoint, Resolution, State
from agent_image.guard.claim import current_claim
from agent_image.guard.outlet import MemoryOutlet
from agent_image.guard.people import PeopleStore
from agent_image.guard.verify import verify
from agent_image.invocation import Sweep
from agent_image.stores.memory import MemoryRecords
from agent_image.tools.zoned import ZonedTool
from tests.agent_image.grounds import NOON, SESSION, Stage, closing
from tests.agent_image.scripted import Calls, CallsAll, Says, ScriptedModel
from tests.crash.findings import conversation_faults
from tests.crash.power import Power, PowerCut, Powered, PoweredOutlet

ZONES = {"look": Zone.GREEN, "draft": Zone.YELLOW, "pay": Zone.RED}
TURNS = 40
STEPS = 10
"""Fewer writes and effects than an invocation has."""
EDIT = 1_000
"""What is added to the number that a person edits."""
SETTINGS = {
    "budget_usd": 1_000,
    "budget_steps": 10_000,
    "limit_steps": 40_000,
    "budget_tokens": 100_000_000,
    "blocked_streak": 100,
    "error_streak": 100,
}


@dataclass(frozen=True)
class Planned:
    """One call of a batch, and what a person does where one is asked; None where nobody answers."""

    tool: str
    choice: Choice | None


@dataclass(frozen=True)
class Cut:
    """After how many writes and effects of an invocation the power goes, and on which side of the last."""

    after: int
    last_happens: bool


CALLS = st.builds(Planned, st.sampled_from(sorted(ZONES)), st.sampled_from([*Choice, None, Choice.APPROVE]))
BATCHES = st.lists(st.lists(CALLS, min_size=1, max_size=4), min_size=1, max_size=2)
CUTS = st.lists(st.one_of(st.none(), st.builds(Cut, st.integers(1, 40), st.booleans())), max_size=4)


class Batching(ScriptedModel):
    """Call the batches one after the other, as far as the conversation says that they were not called; then speak."""

    def __init__(self, batches: Sequence[Sequence[Planned]]) -> None:
        super().__init__([Says("Done.")])
        self._batches = batches

    async def stream(
        self,
        messages: Messages,
        tool_specs: list[ToolSpec] | None = None,
        system_prompt: str | None = None,
        **kwargs: Any,
    ) -> AsyncIterable[StreamEvent]:
        called = sum(any("toolUse" in block for block in message["content"]) for message in messages)
        self.turns = [self._batch(called) if called < len(self._batches) else Says("Done.")]
        async for event in super().stream(messages, tool_specs, system_prompt, **kwargs):
            yield event

    def _batch(self, number: int) -> CallsAll:
        calls = [
            Calls(planned.tool, json.dumps({"n": number_of(number, place)}), f"use-{place}")
            for place, planned in enumerate(self._batches[number])
        ]
        return CallsAll(tuple(calls))


def number_of(batch: int, place: int) -> int:
    """Give the argument by which a call is known: no two calls of a plan share one."""
    return batch * 10 + place


@dataclass
class Story:
    """Hold what outlives every process, and what tools did."""

    batches: Sequence[Sequence[Planned]]
    cuts: list[Cut | None]
    records: MemoryRecords = field(default_factory=MemoryRecords)
    outlet: MemoryOutlet = field(default_factory=MemoryOutlet)
    now: datetime = NOON
    done: list[tuple[str, int, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    recorded: set[str] = field(default_factory=set)
    crashes: int = 0
    runs: Any = field(default_factory=count)
    limits: Mapping[str, Any] = field(default_factory=lambda: SETTINGS)
    seen: set[str] = field(default_factory=set)

    @property
    def people(self) -> PeopleStore:
        return PeopleStore(self.records)

    @property
    def attentive(self) -> bool:
        """Tell whether everybody answers, and nobody ends the turn."""
        return all(one.choice not in {None, Choice.CANCEL} for batch in self.batches for one in batch)

    @property
    def ended(self) -> bool:
        """Tell whether somebody ends the turn."""
        return any(one.choice is Choice.CANCEL for batch in self.batches for one in batch)

    def planned(self, n: int) -> Planned:
        return self.batches[n // 10][n % 10]

    def invoke(self, go: str, argument: str) -> dict[str, Any] | None:
        """Start a process, let it ask or go on, and end it; None where the power went."""
        cut = self.cuts.pop(0) if self.cuts else None
        power = Power() if cut is None else Power(cut.after, cut.last_happens)
        stage = self.stage(power)
        document: dict[str, Any] | None = None
        with suppress(PowerCut):
            document = stage.ask(argument) if go == "ask" else stage.go_on(argument)
        if not power.on:
            self.crashes += 1
            self.turn(minutes=2)
            return None
        self.turn(seconds=1)
        return document

    def turn(self, **by: float) -> None:
        self.now += timedelta(**by)

    def stage(self, power: Power) -> Stage:
        stage = Stage(
            tools=[self._tool(name, power) for name in ZONES],
            records=Powered(self.records, power, self.recorded),
            outlet=PoweredOutlet(self.outlet, power),
            settings=self.limits,
            runs=f"process-{next(self.runs)}-",
            model=Batching(self.batches),
        )
        stage.clock.now = self.now
        return stage

    def _tool(self, name: str, power: Power) -> ZonedTool:
        def run(n: int) -> str:
            """Do it.

            Args:
                n: which.
            """
            claim = current_claim()
            key = "" if claim is None else claim.key
            over = power.spend()
            if key in self.recorded:
                self.faults.append(f"{name} {n} ran again though its result was kept")
            self.done.append((name, n, key))
            if over:
                raise PowerCut
            return f"{name} {n} is done"

        return ZonedTool(tool(name=name)(run), ZONES[name])

    def settle(self, case: Case) -> None:
        """Do what people do about one checkpoint."""
        asked, state = case.checkpoint, case.state(self.now)
        self.seen.add(asked.id)
        if state is State.PENDING:
            self._answer(asked)
        elif state is State.IN_DOUBT:
            took_effect = any(key == asked.id for _, _, key in self.done)
            found = Resolution(checkpoint_id=asked.id, took_effect=took_effect, approver="ana", at=self.now, reason="")
            self.people.resolve(found)

    def _answer(self, asked: Checkpoint) -> None:
        choice = Choice.APPROVE if asked.action is Action.BUDGET else self.planned(asked.arguments["n"]).choice
        if choice is None:
            self.now = max(self.now, asked.expires_at)
            return
        self._decide(asked.id, choice, {"n": asked.arguments["n"] + EDIT} if choice is Choice.EDIT else None)

    def _decide(self, checkpoint: str, choice: Choice, arguments: dict[str, Any] | None) -> None:
        stage = self.stage(Power())
        stage.decide(checkpoint, choice, at=self.now, arguments=arguments)


def played(story: Story) -> None:
    """Ask, and go on until nothing waits and the last answer stands."""
    document, resumed = story.invoke("ask", "Do it."), None
    for _ in range(TURNS):
        waiting = story.people.waiting(100)
        for case in waiting:
            story.settle(case)
        if document is None and resumed is not None:
            # No answer came: people resume the same once more.
            document, resumed = story.invoke("go_on", resumed), None
        elif waiting:
            resumed = waiting[0].checkpoint.id
            document = story.invoke("go_on", resumed)
        elif document is not None and document["status"] == "completed":
            return
        else:
            document, resumed = story.invoke("ask", "And now?"), None
    pytest.fail(f"it comes to no end: {document}")


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(batches=BATCHES, cuts=CUTS, steps=st.sampled_from([3, 5, 10_000]))
@example(
    batches=[[Planned("pay", Choice.APPROVE), Planned("pay", Choice.CANCEL)]],
    cuts=[Cut(10, last_happens=False)],
    steps=10_000,
)
@example(batches=[[Planned(name, Choice.APPROVE) for name in ("look", "pay", "draft")]], cuts=[], steps=10_000)
@example(batches=[[Planned("pay", Choice.APPROVE)]], cuts=[None, Cut(9, last_happens=True)], steps=10_000)
def test_what_happens_is_what_the_model_says(batches: list[list[Planned]], cuts: list[Cut | None], steps: int) -> None:
    """For every batch, every decision, every budget and every moment at which a process dies."""
    story = Story(batches, list(cuts), limits={**SETTINGS, "budget_steps": steps})

    played(story)

    assert story.faults == []
    hold(story)


def hold(story: Story) -> None:
    """Hold what happened to the three sentences."""
    stage = story.stage(Power())
    messages = stage.messages()
    assert list(conversation_faults(messages)) == []
    runs = Counter(key for _, _, key in story.done)
    for message, results in calls_of(messages):
        for use in (block["toolUse"] for block in message["content"] if "toolUse" in block):
            call = Call(
                session_id=SESSION,
                message=message["tracking_id"],
                tool_use_id=use["toolUseId"],
                tool=use["name"],
                arguments=use["input"],
            )
            hold_call(story, stage, call, results[use["toolUseId"]], runs[call.id])
    known = {case for case in runs if case}
    assert "" not in runs
    assert len(known) == len(runs)
    session = stage.guard.store.session(SESSION).session
    assert (session.owner, session.pending, dict(session.budget.reserved)) == (None, (), {})
    lines = [line("audit", number, raw.rstrip()) for number, raw in enumerate(story.outlet.lines, 1)]
    assert verify(lines, {SESSION: session.head}).faults == ()


def calls_of(messages: list[Any]) -> list[tuple[Any, dict[str, Any]]]:
    """Pair each message that calls tools with the results behind it."""
    return [
        (
            message,
            {
                block["toolResult"]["toolUseId"]: block["toolResult"]
                for block in messages[place + 1]["content"]
                if "toolResult" in block
            },
        )
        for place, message in enumerate(messages)
        if any("toolUse" in block for block in message["content"])
    ]


def hold_call(story: Story, stage: Stage, call: Call, result: dict[str, Any], runs: int) -> None:
    """Hold one call."""
    n = call.arguments["n"]
    planned, case = story.planned(n), stage.guard.store.case(call.id)
    succeeded = result["status"] == "success"
    if call.tool == "look":
        assert runs <= 1 + story.crashes
        assert runs >= 1 or story.crashes or not story.attentive
        assert not succeeded or runs
    elif call.tool == "draft":
        assert runs <= 1
        assert not succeeded or runs == 1
        assert runs == 1 or story.crashes or not story.attentive
    elif case is None:
        # The process died before it asked, or the turn had ended.
        assert runs == 0
        assert story.crashes or not story.attentive
    else:
        hold_red(story, case, planned, runs, result)
    ran = [number for name, number, key in story.done if key == call.id]
    assert set(ran) <= {n + EDIT if planned.choice is Choice.EDIT and call.tool == "pay" else n}


TOLD = {
    State.REJECTED: "A person rejected",
    State.CANCELLED: "A person ended",
    State.EXPIRED: "Nobody approved",
    State.FAILED: "This call was interrupted. A person checked",
}


def hold_red(story: Story, case: Case, planned: Planned, runs: int, result: dict[str, Any]) -> None:
    """Hold a call that somebody was asked about."""
    state = case.state(story.now)
    assert runs <= 1
    assert (runs == 1) is (state is State.DONE)
    assert (result["status"] == "success") is (state is State.DONE)
    assert result["content"][0]["text"].startswith(TOLD.get(state, ""))
    # Who ends a task ends what it had still asked for; somebody's silence took hours.
    ended = {State.CANCELLED} if story.ended else set()
    late = set() if story.attentive else {State.EXPIRED}
    match planned.choice:
        case Choice.APPROVE | Choice.EDIT:
            lost = {State.FAILED} if story.crashes else set()
            assert state in {State.DONE, *lost, *late, *ended}
        case Choice.REJECT:
            assert state in {State.REJECTED, *late, *ended}
        case Choice.CANCEL:
            assert state in {State.CANCELLED, *late}
        case None:
            assert state in {State.EXPIRED, *ended}


@pytest.mark.parametrize("order", [("look", "draft", "pay"), ("pay", "draft", "look")], ids=["red last", "red first"])
@pytest.mark.parametrize("invocation", [0, 1], ids=["asking", "resuming"])
def test_one_cut_at_every_step(invocation: int, order: tuple[str, ...]) -> None:
    """Wherever the first process dies, or the second: a call of each zone."""
    batches = [[Planned(name, Choice.APPROVE) for name in order]]
    after, died = 0, True
    while died:
        after, died = after + 1, False
        for last_happens in (False, True):
            story = Story(batches, [*[None] * invocation, Cut(after, last_happens)])

            played(story)

            assert story.faults == []
            hold(story)
            died = died or story.crashes > 0
    assert after > STEPS


@pytest.mark.parametrize("invocation", [0, 1, 2])
def test_one_cut_at_every_step_past_a_budget(invocation: int) -> None:
    """Who let a session spend more did so once, and it is not said later that nobody had."""
    after, died = 0, True
    while died:
        after, died = after + 1, False
        for last_happens in (False, True):
            story = Story(
                [[Planned("look", None)], [Planned("look", None)]],
                [*[None] * invocation, Cut(after, last_happens)],
                limits={**SETTINGS, "budget_steps": 2},
            )

            played(story)

            assert story.faults == []
            hold(story)
            hold_budget(story)
            died = died or story.crashes > 0
    assert after > STEPS


def hold_budget(story: Story) -> None:
    """Hold the session's account to what people said."""
    story.turn(days=3)
    stage = story.stage(Power())
    closing(stage.sweep(SESSION, Sweep()))
    cases = [case for one in story.seen if (case := story.people.case(one)) is not None]
    assert cases
    assert {case.checkpoint.action for case in cases} == {Action.BUDGET}
    assert {case.state(story.now) for case in cases} == {State.DONE}
    grants = stage.guard.store.session(SESSION).session.budget.grants
    assert set(grants) == story.seen


def test_nobody_is_asked_for_a_budget_that_is_not_needed_any_more() -> None:
    """The red call's approval let the session spend enough for the yellow one beside it, which had asked, too."""
    batches = [[Planned("draft", None)], [Planned("pay", Choice.APPROVE), Planned("draft", None)]]
    story = Story(batches, [], limits={**SETTINGS, "budget_steps": 3})

    played(story)

    hold(story)
    states = [case.state(story.now) for one in story.seen if (case := story.people.case(one)) is not None]
    assert sorted(states) == [State.CANCELLED, State.DONE]
    assert story.people.waiting(10) == []
    withdrawn = [event for raw in story.outlet.lines if (event := json.loads(raw)).get("code") == "not_needed"]
    assert [event["decision"] for event in withdrawn] == ["cancelled"]
