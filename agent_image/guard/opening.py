"""Open a checkpoint: write down what waits for a person, then say so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from agent_image.contract import EventName, Ruling
from agent_image.guard.alerts import CHECKPOINT_ID
from agent_image.guard.checkpoint import Case, Checkpoint
from agent_image.guard.findings import Severity
from agent_image.guard.work import Work


def opened(work: Work, **facts: Any) -> Case:
    """Write a checkpoint of this run, once; where it is there, give what is there.

    `facts` are what is particular to it; times, policy, cost and who asks follow from the run.
    """
    settings, now = work.guard.settings, work.guard.clock()
    expires = now + timedelta(minutes=settings.minutes_to_answer(facts["zone"]))
    checkpoint = Checkpoint(
        **facts,
        session_id=work.run.session_id,
        run=work.run.id,
        agent=work.guard.agent,
        policy=work.guard.policy.version,
        cost_usd=str(work.session.budget.committed.usd),
        requester=work.run.requester,
        created_at=now,
        expires_at=expires,
        due_at=expires,
        execute_minutes=settings.execute_minutes,
        traceparent=work.run.traceparent(),
    )
    # In the session first: no process may forget what it waits for.
    work.await_checkpoint(checkpoint.id)
    case = work.guard.store.open(checkpoint)
    work.note(
        EventName.GATE,
        checkpoint_id=checkpoint.id,
        tool=checkpoint.tool,
        tool_use_id=checkpoint.tool_use_id or None,
        zone=checkpoint.zone.value,
        decision=Ruling.ASKED.value,
        reasons=list(checkpoint.reasons),
        args=dict(checkpoint.arguments),
    )
    evidence = {CHECKPOINT_ID: checkpoint.id, "tool": checkpoint.tool, "zone": checkpoint.zone.value}
    work.alert("approval_needed", Severity.WARNING, evidence)
    return case
