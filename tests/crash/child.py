"""Do one thing with the production parts, as a process of its own: ask, resume, decide, resolve or sweep."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from strands import tool

from agent_image.agent import AgentPlan
from agent_image.answer import Event
from agent_image.contract import SCOPE, Choice, Regime, Zone
from agent_image.conversation import StoredConversations
from agent_image.digest import Digest
from agent_image.ground import Ground
from agent_image.guard.audit_file import FileOutlet
from agent_image.guard.checkpoint import Decision, Resolution
from agent_image.guard.claim import current_claim
from agent_image.guard.guard import Guard
from agent_image.guard.moments import Clock
from agent_image.guard.people import PeopleStore
from agent_image.guard.records import Conflict, Records
from agent_image.guard.scene import Scene
from agent_image.guard.sweep import Sweeper
from agent_image.guard.verdict import ALLOWED, Outcome, Say, Stages, Verdict
from agent_image.invocation import Prompt, Resume, Sweep
from agent_image.run import PromptRun, ResumeRun, SweepRun
from agent_image.stores.by_url import records_at
from agent_image.tools.open_ticket import open_ticket
from agent_image.tools.refund_order import refund_order
from agent_image.tools.zoned import ZonedTool
from agent_image.turns import Turns
from tests.agent_image.grounds import Kept, guard_over
from tests.crash.strikes import Attempts, Boundary, FatalLedger, FatalOutlet, FatalRecords, Strike, Striker
from tests.crash.wishes import LOOK_UP, WishingModel
from tests.loopback.table import REGION

LEASE_SECONDS = 60
WITHHELD = "Nobody reads this."


class Do(StrEnum):
    """Name what a process is started for."""

    ASK = "ask"
    RESUME = "resume"
    SWEEP = "sweep"
    DECIDE = "decide"
    RESOLVE = "resolve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Tell a process what to do.

    Attributes:
        ahead: how far its clock is ahead of the machine's.
        text: the question, or the checkpoint's id.
        took_effect: what a person found out about an action in doubt.
        withheld: a check lets the model read nothing of what the red and the yellow tool answer.
    """

    do: Do
    folder: Path
    url: str
    large: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    ahead: timedelta = timedelta()
    session: str = ""
    text: str = ""
    choice: Choice = Choice.APPROVE
    arguments: Mapping[str, Any] | None = None
    approver: str = "approver"
    took_effect: bool = False
    strike: Strike | None = None
    gate: Any = None
    withheld: bool = False


def clock_ahead(ahead: timedelta) -> Clock:
    """Give a clock that shows milliseconds, as the agent's does."""

    def now() -> datetime:
        moment = datetime.now(UTC) + ahead
        return moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)

    return now


def main(order: Order, pipe: Connection) -> None:
    """Do it, and say how it ended."""
    os.environ.update(order.variables)
    # What a framework says of a run that was meant to fail is no finding.
    os.dup2(os.open(order.folder / "stderr.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    striker = Striker(order.strike)
    records = FatalRecords(records_at(order.url, REGION, large=order.large), striker)
    pipe.send("ready")
    if order.gate is not None:
        order.gate.wait()
    document = _done(order, records, striker)
    records.close()
    pipe.send({**document, "passed": [boundary.value for boundary in striker.passed]})


def _done(order: Order, records: Records, striker: Striker) -> dict[str, Any]:
    clock = clock_ahead(order.ahead)
    match order.do:
        case Do.DECIDE:
            return _said(
                lambda people: people.decide(
                    Decision(
                        checkpoint_id=order.text,
                        choice=order.choice,
                        approver=order.approver,
                        at=clock(),
                        arguments=order.arguments,
                    )
                ),
                records,
            )
        case Do.RESOLVE:
            return _said(
                lambda people: people.resolve(
                    Resolution(
                        checkpoint_id=order.text,
                        took_effect=order.took_effect,
                        approver=order.approver,
                        at=clock(),
                        reason="The ledger says so.",
                    )
                ),
                records,
            )
        case _:
            return asyncio.run(_closing(_invoked(order, records, striker, clock)))


def _said(say: Callable[[PeopleStore], None], records: Records) -> dict[str, Any]:
    try:
        say(PeopleStore(records))
    except Conflict:
        return {"status": "conflict"}
    return {"status": "written"}


async def _closing(events: AsyncIterator[Event]) -> dict[str, Any]:
    return [event async for event in events][-1].document


def _invoked(order: Order, records: Records, striker: Striker, clock: Clock) -> AsyncIterator[Event]:
    tools = tools_in(order.folder, striker)
    plan = AgentPlan(WishingModel(), tools, attempts=1)
    guard = _guard(order, records, striker, clock, tools)
    tracer = TracerProvider().get_tracer(SCOPE)
    ground = Ground(Regime.ADDRESS, tracer, guard.digest, Kept(), _new_id)
    conversations = StoredConversations(guard.store, clock)
    turns = Turns(guard, plan.agent_for, conversations, tracer, Regime.ADDRESS)
    sweeper = Sweeper(guard, lambda: None)
    match order.do:
        case Do.ASK:
            return PromptRun(ground, turns, sweeper)(order.session, Prompt(order.text))
        case Do.RESUME:
            return ResumeRun(ground, turns, guard, sweeper)(order.session, Resume(order.text))
        case _:
            return SweepRun(ground, sweeper)(order.session or "sweep", Sweep())


def _guard(order: Order, records: Records, striker: Striker, clock: Clock, tools: list[ZonedTool]) -> Guard:
    outlet = FatalOutlet(FileOutlet(order.folder / "audit.jsonl", time.sleep), striker)
    settings = {"lease_seconds": LEASE_SECONDS, "budget_usd": 50, "budget_steps": 500, "budget_tokens": 10_000_000}
    guard = guard_over(records, tools, clock=clock, outlet=outlet, settings=settings)
    stages = Stages(after_tool=[_Withholding(striker)]) if order.withheld else Stages()
    return replace(guard, new_id=_new_id, digest=Digest(b"k" * 32), stages=stages)


class _Withholding:
    """A check after a tool, in the middle of which a process can be ended."""

    def __init__(self, striker: Striker) -> None:
        self._striker = striker

    def __call__(self, outcome: Outcome, _: Scene) -> Verdict:
        if outcome.call.tool == LOOK_UP:
            return ALLOWED
        with self._striker.around(Boundary.CHECK):
            return Verdict(Say.DENY, "check", "secret", WITHHELD)


def tools_in(folder: Path, striker: Striker) -> list[ZonedTool]:
    """Build a green, a yellow and a red tool over the files of a folder."""
    attempts = Attempts(folder / "attempts.jsonl")
    ledger = FatalLedger(folder / "ledger.jsonl", attempts, striker)

    @tool(name=LOOK_UP)
    def look_up(order_id: str) -> str:
        """Look an order up.

        Args:
            order_id: The order's number.
        """
        claim = current_claim()
        with striker.around(Boundary.READ):
            attempts.note(LOOK_UP, "" if claim is None else claim.key, "read")
        return f"Order {order_id} was delivered."

    return [ZonedTool(look_up, Zone.GREEN), open_ticket(ledger), refund_order(ledger)]


def _new_id() -> str:
    return uuid.uuid4().hex
