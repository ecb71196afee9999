"""Write what a hook reads of the moment it stands at: one JSON object, the same fields for programs and for models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from agent_image.guard.canonical import NotCanonical, canonical
from agent_image.guard.checkpoint import Call
from agent_image.guard.plain import compact, plain
from agent_image.guard.scene import Scene
from agent_image.guard.verdict import Outcome
from agent_image.hooks.hook import HookEvent


class Field(StrEnum):
    """Name the fields of a context."""

    EVENT = "hook_event_name"
    AGENT = "agent_name"
    TURN = "current_turn"
    MAX_TURNS = "max_turns"
    TRANSCRIPT = "execution_summary"
    FINAL_OUTPUT = "final_output"
    ACTIVE = "stop_hook_active"
    REJECTIONS = "stop_rejection_count"
    TOOL = "tool_name"
    INPUT = "tool_input"
    TOOL_USE_ID = "tool_use_id"
    RESULT = "tool_result"
    SUCCEEDED = "tool_succeeded"
    DECISION = "tool_decision"


def before_context(scene: Scene, transcript: Path, call: Call) -> dict[str, Any]:
    """Tell a PreToolUse hook of a call that has not run."""
    return {
        **_common(HookEvent.PRE_TOOL_USE, scene, transcript),
        **_called(call),
        Field.TOOL_USE_ID.value: call.tool_use_id,
    }


def after_context(scene: Scene, transcript: Path, outcome: Outcome) -> dict[str, Any]:
    """Tell a PostToolUse hook of a call that ran, failed or was kept from running."""
    return {
        **_common(HookEvent.POST_TOOL_USE, scene, transcript),
        **_called(outcome.call),
        Field.RESULT.value: result_text(outcome.result),
        Field.SUCCEEDED.value: outcome.succeeded,
        Field.DECISION.value: outcome.ruling,
    }


def stop_context(scene: Scene, transcript: Path, answer: str) -> dict[str, Any]:
    """Tell a Stop hook of the answer that the agent is about to give."""
    return {
        **_common(HookEvent.STOP, scene, transcript),
        Field.FINAL_OUTPUT.value: answer,
        Field.ACTIVE.value: scene.sent_back > 0,
        Field.REJECTIONS.value: scene.sent_back,
    }


def result_text(result: Mapping[str, Any]) -> str:
    """Give what a tool answered as one text: a line for each block; JSON compact, and other blocks by their kind."""
    content = result.get("content")
    return "\n".join(_block(block) for block in content) if isinstance(content, list | tuple) else ""


def _common(event: HookEvent, scene: Scene, transcript: Path) -> dict[str, Any]:
    return {
        Field.EVENT.value: event.value,
        Field.AGENT.value: scene.agent,
        Field.TURN.value: scene.turn,
        Field.MAX_TURNS.value: scene.max_turns,
        Field.TRANSCRIPT.value: str(transcript),
    }


def _called(call: Call) -> dict[str, Any]:
    return {Field.TOOL.value: call.tool, Field.INPUT.value: _arguments(call)}


def _arguments(call: Call) -> Any:  # noqa: ANN401 - JSON of any shape
    try:
        # What the call's id binds, and so what runs.
        return json.loads(canonical(dict(call.arguments)))
    except NotCanonical:
        # Such a call does not run; a hook may still hear of it.
        return plain(dict(call.arguments))


def _block(block: object) -> str:
    match block:
        case {"text": str(text)}:
            return text
        case {"json": value}:
            return compact(plain(value), sort_keys=True)
        case Mapping():
            return f"({', '.join(str(kind) for kind in block)})"
        case _:
            return ""
