"""Let stages hear what a tool answered, and make of it what the model is to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_image.guard import sayings
from agent_image.guard.checkpoint import Call
from agent_image.guard.sayings import ToolResult
from agent_image.guard.scenes import scene_of
from agent_image.guard.verdict import Outcome, contexts, judge, refusals
from agent_image.guard.work import Work


def heard(work: Work, call: Call, result: Mapping[str, Any], *, succeeded: bool, ruling: str) -> ToolResult:
    """Ask every stage after a tool; give the answer with what they add, and without what they hide.

    Raises:
        AuditError: what they said cannot be written down.
    """
    content = [sayings.kept(block) for block in result.get("content") or ()]
    answer = {"status": "success" if succeeded else "error", "content": content}
    stages = work.guard.stages.after_tool
    if not stages:
        return answer
    verdicts = judge(stages, Outcome(call, answer, succeeded, ruling), scene_of(work))
    for verdict in verdicts:
        work.hooked(verdict, call)
    refused, added = [verdict.text for verdict in refusals(verdicts)], list(contexts(verdicts))
    if refused:
        content = [{"text": sayings.withheld(refused)}]
    if added:
        content = [*content, {"text": sayings.added(added)}]
    return {**answer, "content": content}
