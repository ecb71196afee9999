"""Build an agent in the test's own process: a scripted model, a knowledge base of records, spans kept in memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bedrock_agentcore.runtime import BedrockAgentCoreApp
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent_image.agent import AgentPlan
from agent_image.app import build
from agent_image.contract import SCOPE, Regime
from agent_image.conversation import MemoryConversations
from agent_image.digest import Digest
from agent_image.invocation import Feedback, Prompt
from agent_image.retrieval.knowledge_base import Retrieval
from agent_image.retrieval.passage import Passage
from agent_image.retrieval.retriever import Retriever
from agent_image.run import FeedbackRun, Ground, PromptRun
from agent_image.tools.search_knowledge import search_knowledge
from agent_image.tools.zoned import ZonedTool
from tests.agent_image.scripted import Calls, Says, ScriptedModel, Turn

SESSION = "session-" + "0" * 32
RETURNS = Passage("s3://kb/returns.md", "Goods may be returned within 30 days of delivery.", 0.9)
REFUNDS = Passage("s3://kb/refunds.md", "A refund is paid within 5 days of the return.", 0.8)
LONG_ANSWER = "Goods may be returned within 30 days [1], and the money is back 5 days later [2]. " * 4
SEARCHES: tuple[Turn, ...] = (Calls("search_knowledge", '{"query": "returns"}'), Says(LONG_ANSWER))


@dataclass
class Records:
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


class Stage:
    """Hold an agent and what it left behind."""

    def __init__(
        self,
        turns: Sequence[Turn] = SEARCHES,
        *,
        regime: Regime = Regime.ADDRESS,
        records: Records | None = None,
        tools: Sequence[ZonedTool] = (),
    ) -> None:
        self.model = ScriptedModel(turns)
        self.records = records or Records()
        self.archive = Kept()
        self.conversations = MemoryConversations()
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        tracer = provider.get_tracer(SCOPE)
        retriever = Retriever(self.records, regime=regime, top_k=5, archive=self.archive, tracer=tracer)
        plan = AgentPlan(self.model, [search_knowledge(retriever), *tools], attempts=1)
        ground = Ground(regime, tracer, Digest(b"k" * 32), self.archive, map(str, itertools.count(1)).__next__)
        self.prompt = PromptRun(ground, plan.agent_for, self.conversations)
        self.feedback = FeedbackRun(ground)

    def app(self) -> BedrockAgentCoreApp:
        """Serve this agent."""

        @asynccontextmanager
        async def lifespan(_: Any) -> Any:
            yield

        sessions = (f"made-{n:032}" for n in itertools.count(1))
        runs: dict[Any, Any] = {Prompt: self.prompt, Feedback: self.feedback}
        return build(runs, lifespan=lifespan, new_session=sessions.__next__)

    @property
    def spans(self) -> list[ReadableSpan]:
        """Give the spans that ended, in their order."""
        return list(self._exporter.get_finished_spans())

    def span(self, prefix: str) -> ReadableSpan:
        """Give the one span whose name begins so."""
        (found,) = [span for span in self.spans if span.name.startswith(prefix)]
        return found
