"""List what the agent's tools may do alone, and who says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opentelemetry import trace

from agent_image.assemble import plan
from agent_image.contract import SCOPE, Level, Regime
from agent_image.errors import SettingsError
from agent_image.guard.policy import Policy, Row
from agent_image.guard.rules import Rule
from agent_image.guard.settings import parse_guard
from agent_image.places import knowledge_base_at
from agent_image.retrieval.archive import NoArchive
from agent_image.retrieval.retriever import Retriever
from agent_image.settings import Settings, parse
from console.errors import BadInputError, ConsoleError
from console.laptop import laptop
from console.screen import Screen
from console.table import Table
from console.where import Where

HEADER = ("tool", "zone", "level", "USD a call", "red when", "why")
_LEVELS = {Level.NOTIFY: "1, runs", Level.BLOCK: "2, asks", Level.STEER: "3, asks, may be edited"}


def show(where: Where, screen: Screen, *, as_json: bool) -> None:
    """List the tools of this machine's agent; it need not run.

    Raises:
        ConsoleError: an environment is named: nobody but its runtime knows.
    """
    if where.environment is not None:
        message = (
            f"which tools the agent of {where.environment!r} has, and what its settings make of them, only its runtime "
            "knows: people may not read its settings document\n"
            f"what its tools did: rastro audit report{where.option}\n"
            f"what waits, with zone, level and all reasons: rastro approvals list{where.option}\n"
            "what the settings say: [guard.tools] in the environment's file"
        )
        raise ConsoleError(message)
    policy = policy_of(where)
    rows = policy.rows()
    if as_json:
        screen.document({"policy": policy.version, "tools": [document(row) for row in rows]})
        return
    screen.table(table(rows))
    screen.line()
    screen.line(f"policy {policy.version}")


def policy_of(where: Where) -> Policy:
    """Build the policy that `rastro dev` gives its agent on a state folder."""
    machine = laptop(where.state, None, window=None, overlap=None, model="offline:", capture=Regime.ARCHIVE)
    try:
        settings = parse(machine.settings(), machine.capture)
        return Policy.of(plan(settings, _retriever(settings)).tools, parse_guard(settings.guard))
    except SettingsError as error:
        raise BadInputError(str(error)) from None


def _retriever(settings: Settings) -> Retriever | None:
    knowledge_base = knowledge_base_at(settings)
    if knowledge_base is None:
        return None
    tracer = trace.get_tracer(SCOPE)
    return Retriever(knowledge_base, regime=settings.capture, top_k=settings.top_k, archive=NoArchive(), tracer=tracer)


def table(rows: Sequence[Row]) -> Table:
    """Lay the tools out."""
    return Table(
        HEADER,
        tuple(
            (
                row.tool,
                row.zone.value,
                _LEVELS[row.level],
                f"{row.price_usd:f}",
                "; ".join(map(rule_text, row.red_when)),
                row.why,
            )
            for row in rows
        ),
        frozenset({3}),
    )


def document(row: Row) -> dict[str, Any]:
    """Write a tool for a program."""
    return {
        "tool": row.tool,
        "zone": row.zone.value,
        "level": int(row.level),
        "price_usd": f"{row.price_usd:f}",
        "red_when": [rule_text(rule) for rule in row.red_when],
        "why": row.why,
    }


def rule_text(rule: Rule) -> str:
    """Say what makes a call red."""
    if rule.over is not None:
        return f"{rule.argument} over {rule.over:f}"
    if rule.outside is not None:
        return f"{rule.argument} outside {', '.join(map(str, rule.outside))}"
    return f"{rule.argument} equals {rule.equals}"
