"""Put the agent together: the one place that knows every part."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from bedrock_agentcore.runtime import BedrockAgentCoreApp
from opentelemetry import trace
from opentelemetry.trace import Tracer
from starlette.applications import Starlette

from agent_image.agent import AgentPlan
from agent_image.app import Lifespan, Run, build
from agent_image.contract import SCOPE
from agent_image.conversation import StoredConversations
from agent_image.ground import Ground
from agent_image.guard.courier import Courier
from agent_image.guard.sweep import Sweeper
from agent_image.guard_of import guard_of
from agent_image.hooking import Hooking, hooking_of
from agent_image.invocation import Feedback, Invocation, Prompt, Resume, Sweep
from agent_image.models.by_url import model_for
from agent_image.places import alert_channels_at, archive_at, knowledge_base_at, ledger_at
from agent_image.retrieval.archive import Archive, NoArchive
from agent_image.retrieval.retriever import Keeper, Retriever
from agent_image.run import FeedbackRun, PromptRun, ResumeRun, SweepRun
from agent_image.settings import Settings
from agent_image.telemetry.setup import Telemetry, start
from agent_image.tools.open_ticket import open_ticket
from agent_image.tools.refund_order import refund_order
from agent_image.tools.search_knowledge import search_knowledge
from agent_image.turns import Turns

FLUSH_SECONDS: Final = 5.0
"""How long passages, and spans after them, may take to leave at the end."""

Planner = Callable[[Settings, Retriever | None], AgentPlan]
"""Says what the agent is made of; a team that brings its own agent brings one of these."""


def plan(settings: Settings, retriever: Retriever | None) -> AgentPlan:
    """Plan the agent that ships with the kit: it answers from the knowledge base."""
    tools = [] if retriever is None else [search_knowledge(retriever)]
    ledger = ledger_at(settings)
    if ledger is not None:
        tools += [open_ticket(ledger), refund_order(ledger)]
    return AgentPlan(model_for(settings.models[0], settings.region), tools)


def assemble(settings: Settings, planner: Planner = plan) -> BedrockAgentCoreApp:
    """Assemble the application: telemetry first, so that nothing the rest does is said unguarded.

    Raises:
        SettingsError: a setting names something that is not there.
        TelemetryError: something may export past the trail.
    """
    telemetry = start(settings)
    archive = archive_at(settings)
    tracer = trace.get_tracer(SCOPE)
    retriever = _retriever(settings, archive, tracer)
    ground = Ground(settings.capture, tracer, telemetry.digest, archive, _new_id)
    planned = planner(settings, retriever)
    hooking = hooking_of(settings, planned, tracer)
    guard = guard_of(settings, planned, telemetry.digest, hooking.stages)
    courier = Courier(guard.outbox, alert_channels_at(settings, guard.settings))
    sweeper = Sweeper(guard, courier.call)
    conversations = StoredConversations(guard.store, guard.clock)
    turns = Turns(guard, planned.agent_for, conversations, tracer, settings.capture)
    runs: dict[type[Invocation], Run] = {
        Prompt: PromptRun(ground, turns, sweeper),
        Resume: ResumeRun(ground, turns, guard, sweeper),
        Feedback: FeedbackRun(ground),
        Sweep: SweepRun(ground, sweeper),
    }
    app = build(runs, lifespan=_lifespan(telemetry, archive, courier, hooking), new_session=_new_session)
    # Frameworks add span processors of their own while they are set up.
    telemetry.verify()
    return app


def _retriever(settings: Settings, archive: Keeper, tracer: Tracer) -> Retriever | None:
    knowledge_base = knowledge_base_at(settings)
    if knowledge_base is None:
        return None
    return Retriever(knowledge_base, regime=settings.capture, top_k=settings.top_k, archive=archive, tracer=tracer)


def _lifespan(telemetry: Telemetry, archive: Archive | NoArchive, courier: Courier, hooking: Hooking) -> Lifespan:
    """Flush at the end: SIGTERM ends the server, and nothing else would send what waits."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        hooking.close()
        archive.close(FLUSH_SECONDS)
        courier.close(FLUSH_SECONDS)
        telemetry.flush(FLUSH_SECONDS)

    return lifespan


def _new_id() -> str:
    return uuid.uuid4().hex


def _new_session() -> str:
    return str(uuid.uuid4())
