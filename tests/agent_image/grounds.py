"""Build an agent in the test's own process: a scripted model, a knowledge base of records, spans kept in memory."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bedrock_agentcore.runtime import BedrockAgentCoreApp
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from strands import Agent

from agent_image.agent import AgentPlan
from agent_image.answer import Event
from agent_image.app import build
from agent_image.contract import SCOPE, Choice, Regime
from agent_image.conversation import Conversation, StoredConversations
from agent_image.digest import Digest
from agent_image.ground import Ground
from agent_image.guard.checkpoint import Decision
from agent_image.guard.guard import Guard
from agent_image.guard.outbox import Outbox
from agent_image.guard.outlet import MemoryOutlet, Outlet
from agent_image.guard.people import PeopleStore
from agent_image.guard.policy import Policy
from agent_image.guard.prices import Prices
from agent_image.guard.records import Records
from agent_image.guard.settings import ModelPrice, parse_guard
from agent_image.guard.slim import SlimLine
from agent_image.guard.store import GuardStore
from agent_image.guard.sweep import Sweeper
from agent_image.guard.verdict import Stages
from agent_image.guard.watch import WatchRules
from agent_image.invocation import Feedback, Prompt, Resume, Sweep
from agent_image.retrieval.knowledge_base import Retrieval
from agent_image.retrieval.passage import Passage
from agent_image.retrieval.retriever import Retriever
from agent_image.run import FeedbackRun, PromptRun, ResumeRun, SweepRun
from agent_image.stores.memory import MemoryRecords
from agent_image.tools.search_knowledge import search_knowledge
from agent_image.tools.zoned import ZonedTool
from agent_image.turns import Turns
from tests.agent_image.scripted import Calls, Says, ScriptedModel, Turn

SESSION = "session-" + "0" * 32
RETURNS = Passage("s3://kb/returns.md", "Goods may be returned within 30 days of delivery.", 0.9)
REFUNDS = Passage("s3://kb/refunds.md", "A refund is paid within 5 days of the return.", 0.8)
LONG_ANSWER = "Goods may be returned within 30 days [1], and the money is back 5 days later [2]. " * 4
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
SCRIPTED_PRICE = ModelPrice(
    input=Decimal(3), output=Decimal(15), cache_read=None, cache_write=None, source="the test", date="2026-01-01"
)
SEARCHES: tuple[Turn, ...] = (Calls("search_knowledge", '{"query": "returns"}'), Says(LONG_ANSWER))


@dataclass
class FoundPassages:
    """A knowledge base that gives what it was given, or raises it."""

    found: Retrieval | Exception = field(default_factory=lambda: Retrieval((RETURNS, REFUNDS), "v1"))
    asked: list[tuple[str, int]] = field(default_factory=list)
    id: str = "KB1"

    def retrieve(self, query: str, top_k: int) -> Retrieval:
        self.asked.append((query, top_k))
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@dataclass
class Kept:
    """An archive that remembers what it was told to keep, and loses what it is told to."""

    kept: list[Passage] = field(default_factory=list)
    lost: int = 0

    def keep(self, passages: Sequence[Passage]) -> None:
        self.kept.extend(passages)

    def take_lost(self) -> int:
        lost, self.lost = self.lost, 0
        return lost


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> None:
        self.now += timedelta(**by)


def guard_over(
    records: Records,
    tools: Sequence[ZonedTool],
    *,
    clock: Callable[[], datetime],
    outlet: Outlet | None = None,
    settings: Mapping[str, Any] | None = None,
    stages: Stages | None = None,
    slim: Callable[[bytes], object] = lambda _: None,
) -> Guard:
    """Build a guard whose parts a test can look into."""
    guarding = parse_guard(settings or {})
    policy = Policy.of(tools, guarding)
    digest = Digest(b"k" * 32)
    ids = itertools.count(1)
    return Guard(
        store=GuardStore(records),
        settings=guarding,
        policy=policy,
        prices=Prices({**guarding.prices, "scripted": SCRIPTED_PRICE}, clock),
        outlet=outlet or MemoryOutlet(),
        slim=SlimLine(digest, slim),
        outbox=Outbox(records, clock, timedelta(minutes=guarding.alert_cooldown_minutes)),
        redact=lambda value: value,
        digest=digest,
        clock=clock,
        new_id=lambda: f"id-{next(ids)}",
        agent="rastro",
        watch=WatchRules(limits=guarding.limits),
        schemas={zoned.name: zoned.schema for zoned in tools},
        fences={zoned.name: zoned.fence for zoned in tools if zoned.fence is not None},
        stages=stages or Stages(),
    )


class Stage:
    """Hold an agent and what it left behind."""

    def __init__(
        self,
        turns: Sequence[Turn] = SEARCHES,
        *,
        regime: Regime = Regime.ADDRESS,
        found: FoundPassages | None = None,
        tools: Sequence[ZonedTool] = (),
        records: Records | None = None,
        outlet: Outlet | None = None,
        settings: Mapping[str, Any] | None = None,
        stages: Stages | None = None,
        clock: Clock | None = None,
        runs: str = "",
        model: ScriptedModel | None = None,
        slim: Callable[[bytes], object] = lambda _: None,
    ) -> None:
        self.model = model or ScriptedModel(turns)
        self.knowledge = found or FoundPassages()
        self.archive = Kept()
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        tracer = provider.get_tracer(SCOPE)
        retriever = Retriever(self.knowledge, regime=regime, top_k=5, archive=self.archive, tracer=tracer)
        plan = AgentPlan(self.model, [search_knowledge(retriever), *tools], attempts=1)
        numbers = itertools.count(1)
        ground = Ground(regime, tracer, Digest(b"k" * 32), self.archive, lambda: f"{runs}{next(numbers)}")
        self.clock = clock or Clock()
        self.records = records or MemoryRecords()
        self.outlet = outlet or MemoryOutlet()
        self.guard = guard_over(
            self.records,
            plan.tools,
            clock=self.clock,
            outlet=self.outlet,
            settings=settings,
            stages=stages,
            slim=slim,
        )
        self.people = PeopleStore(self.records)
        self.conversations = StoredConversations(self.guard.store, self.clock)
        self.changes: list[Callable[[Agent], object]] = []
        self._plan = plan
        taken = Turns(self.guard, self._agent, self.conversations, tracer, regime)
        self.delivered = 0
        sweeper = Sweeper(self.guard, self._deliver)
        self.prompt = PromptRun(ground, taken, sweeper)
        self.resume = ResumeRun(ground, taken, self.guard, sweeper)
        self.sweep = SweepRun(ground, sweeper)
        self.feedback = FeedbackRun(ground)

    def _agent(self, conversation: Conversation, attach: Callable[[Agent], None]) -> Agent:
        agent = self._plan.agent_for(conversation, attach)
        for change in self.changes:
            change(agent)
        return agent

    def _deliver(self) -> None:
        self.delivered += 1

    def ask(self, text: str = "?", session: str = SESSION) -> dict[str, Any]:
        """Ask, and give the closing document."""
        return closing(self.prompt(session, Prompt(text)))

    def go_on(self, checkpoint: str, session: str = SESSION) -> dict[str, Any]:
        """Resume, and give the closing document."""
        return closing(self.resume(session, Resume(checkpoint)))

    def decide(self, checkpoint: str, choice: Choice, **facts: Any) -> None:
        """Decide as a person does."""
        facts = {"approver": "approver", "at": self.clock(), **facts}
        self.people.decide(Decision(checkpoint_id=checkpoint, choice=choice, **facts))

    @property
    def events(self) -> list[dict[str, Any]]:
        """Give the audit's events."""
        assert isinstance(self.outlet, MemoryOutlet)
        return [json.loads(line) for line in self.outlet.lines]

    def messages(self, session: str = SESSION) -> list[Any]:
        """Give the conversation as the store holds it."""
        return self.conversations.load(session).messages

    def app(self) -> BedrockAgentCoreApp:
        """Serve this agent."""

        @asynccontextmanager
        async def lifespan(_: Any) -> Any:
            yield

        sessions = (f"made-{n:032}" for n in itertools.count(1))
        runs: dict[Any, Any] = {
            Prompt: self.prompt,
            Resume: self.resume,
            Feedback: self.feedback,
            Sweep: self.sweep,
        }
        return build(runs, lifespan=lifespan, new_session=sessions.__next__)

    @property
    def spans(self) -> list[ReadableSpan]:
        """Give the spans that ended, in their order."""
        return list(self._exporter.get_finished_spans())

    def span(self, prefix: str) -> ReadableSpan:
        """Give the one span whose name begins so."""
        (found,) = [span for span in self.spans if span.name.startswith(prefix)]
        return found


def closing(events: AsyncIterator[Event]) -> dict[str, Any]:
    """Run an invocation to its end, and give its closing document."""
    return events_of(events)[-1].document


def events_of(events: AsyncIterator[Event]) -> list[Event]:
    """Run an invocation to its end."""

    async def run() -> list[Event]:
        return [event async for event in events]

    return asyncio.run(run())
