"""Write cases as JSON, for programs: moments and amounts as text, what is not known as null."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from agent_image.contract import Choice
from agent_image.guard.checkpoint import Case, Decision, Resolution
from agent_image.guard.moments import written
from console.approvals.cards import ends_at, resume


def document(case: Case, now: datetime, option: str) -> dict[str, Any]:
    """Write a case, with what it is worth now."""
    checkpoint, decision, end = case.checkpoint, case.decision, ends_at(case)
    return {
        "checkpoint_id": checkpoint.id,
        "state": case.state(now).value,
        "genuine": checkpoint.genuine,
        "action": checkpoint.action.value,
        "tool": checkpoint.tool,
        "arguments": dict(checkpoint.arguments),
        "schema": dict(checkpoint.schema),
        "zone": checkpoint.zone.value,
        "level": int(checkpoint.level),
        "reasons": list(checkpoint.reasons),
        "cost_usd": checkpoint.cost_usd,
        "requester": checkpoint.requester,
        "session_id": checkpoint.session_id,
        "run": checkpoint.run,
        "agent": checkpoint.agent,
        "policy": checkpoint.policy,
        "created_at": written(checkpoint.created_at),
        "expires_at": written(checkpoint.expires_at),
        "execute_minutes": checkpoint.execute_minutes,
        "ends_at": None if end is None else written(end),
        "decision": None if decision is None else _decision(case, decision),
        "resolution": None if case.resolution is None else _resolution(case.resolution),
        "resume": resume(checkpoint.id, option),
    }


def _decision(case: Case, decision: Decision) -> dict[str, Any]:
    released = decision.choice in {Choice.APPROVE, Choice.EDIT}
    return {
        "choice": decision.choice.value,
        "approver": decision.approver,
        "at": written(decision.at),
        "reason": decision.reason,
        "arguments": None if decision.arguments is None else dict(decision.arguments),
        "execute_by": written(case.execute_by(decision)) if released else None,
        "event": decision.event,
    }


def _resolution(resolution: Resolution) -> dict[str, Any]:
    return {
        "took_effect": resolution.took_effect,
        "approver": resolution.approver,
        "at": written(resolution.at),
        "reason": resolution.reason,
        "event": resolution.event,
    }
