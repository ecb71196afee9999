"""Build the guard that a laptop has, in a folder, and let one run of it work."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strands import tool

from agent_image.agent import AgentPlan
from agent_image.contract import Kind, Outcome, Regime, Setting, Zone
from agent_image.digest import Digest
from agent_image.guard.budget import Amount, Limits
from agent_image.guard.carrying import Admitted
from agent_image.guard.checkpoint import Call
from agent_image.guard.gate import Gate
from agent_image.guard.spending import Spending
from agent_image.guard.work import Run, Work
from agent_image.guard_of import guard_of
from agent_image.models.offline import OfflineModel
from agent_image.settings import Settings
from agent_image.tools.zoned import ZonedTool

SESSION = "session-" + "0" * 32
RESULT: dict[str, Any] = {"status": "success", "content": [{"text": "A passage of some length. " * 40}]}


@tool
def look(at: str) -> str:
    """Look."""
    return at


@dataclass
class Calls:
    """Make calls of one tool, each under a message of its own."""

    work: Work
    gate: Gate
    numbers: Iterator[int]
    tool: str = "look"

    def one(self) -> None:
        """Let one call through the whole guard, with its result kept."""
        number = str(next(self.numbers))
        call = Call(session_id=SESSION, message=number, tool_use_id=number, tool=self.tool, arguments={"at": number})
        admitted = self.gate.admit(call)
        if not isinstance(admitted, Admitted):
            raise TypeError(admitted)
        self.gate.finish(admitted, RESULT, None)


@contextmanager
def calls_in(folder: Path) -> Iterator[Calls]:
    """Open a session on SQLite in a folder, with the audit in a file."""
    places = {
        Setting.STORE.value: f"sqlite:///{folder / 'guard.db'}",
        Setting.AUDIT.value: f"file:{folder / 'audit.jsonl'}",
    }
    with _calls(places) as calls:
        yield calls


@contextmanager
def calls_in_memory() -> Iterator[Calls]:
    """Open a session whose store and audit are the process's own."""
    with _calls({}) as calls:
        yield calls


@contextmanager
def _calls(places: Mapping[str, Any]) -> Iterator[Calls]:
    plan = AgentPlan(OfflineModel(), [ZonedTool(look, Zone.GREEN)])
    settings = Settings(
        **{
            Setting.ENVIRONMENT.value: "local",
            "capture": Regime.ADDRESS,
            Setting.MODELS.value: ("offline:",),
            **places,
        }
    )
    built = guard_of(settings, plan, Digest(b"k" * 32), plan.stages)
    # More steps than any setting allows.
    endless = Amount(10**18, 10**18, 10**9)
    guard = replace(built, settings=replace(built.settings, limits=Limits(endless, endless)))
    work = Work(guard, Run("run", SESSION, Kind.PROMPT, lambda: ("", ""), lambda: None))
    yield Calls(work, Gate(work, Spending(work)), itertools.count(1))
    work.close(Outcome.COMPLETED)
