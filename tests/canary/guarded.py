"""Give the agent of the canary tools that the guard stands before, and checks that have a say."""

from __future__ import annotations

from typing import Final

from strands import tool

from agent_image.contract import Zone
from agent_image.guard.checkpoint import Call
from agent_image.guard.scene import Scene
from agent_image.guard.verdict import ALLOWED, Outcome, Say, Stages, Verdict
from agent_image.tools.zoned import ZonedTool
from tests.canary import hooked, scenes


@tool
def wire(note: str) -> str:
    """Wire money."""
    return f"{scenes.WIRE_RESULT} {note}"


@tool
def crash(note: str) -> str:
    """Begin something, and fail."""
    message = f"{scenes.RED_EXCEPTION} {note}"
    raise RuntimeError(message)


@tool
def draft(note: str, tail: str = "") -> str:
    """Write something down."""
    return f"{scenes.DRAFT_RESULT} {note} {tail}"


@tool(name=hooked.JOT)
def jot(note: str) -> str:
    """Jot something down."""
    return f"{hooked.RESULT} {note}"


@tool(name=hooked.WEIGH)
def weigh(note: str) -> str:
    """Weigh something."""
    return f"weighed {note}"


@tool
def buy(note: str) -> str:
    """Buy something dear."""
    return f"bought {note}"


TOOLS: Final = (
    ZonedTool(wire, Zone.RED),
    ZonedTool(crash, Zone.RED),
    ZonedTool(draft, Zone.YELLOW, notify=True),
    ZonedTool(jot, Zone.GREEN),
    ZonedTool(weigh, Zone.GREEN),
    ZonedTool(buy, Zone.YELLOW, price_usd=scenes.PRICE),
)


def _before(call: Call, _: Scene) -> Verdict:
    said = str(call.arguments)
    if any(str(words.marker) in said for words in (scenes.FORBIDDEN, scenes.INSISTED)):
        return Verdict(Say.DENY, "canary", str(scenes.VERDICT_CODE), str(scenes.VERDICT))
    return ALLOWED


def _after(outcome: Outcome, _: Scene) -> Verdict:
    return Verdict(context=str(scenes.AFTERWARDS)) if outcome.call.tool == draft.tool_name else ALLOWED


def _stop(answer: str, _: Scene) -> Verdict:
    if str(scenes.UNCHECKED.marker) in answer:
        return Verdict(Say.DENY, "canary", "unchecked", str(scenes.OBJECTION))
    return ALLOWED


STAGES: Final = Stages(before_tool=(_before,), after_tool=(_after,), stop=(_stop,))
