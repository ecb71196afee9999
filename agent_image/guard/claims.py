"""Carry out what a person approved: claim it once, record what became of it, and own up to what nobody knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from agent_image.contract import EventName, Ruling
from agent_image.errors import AgentError
from agent_image.guard.alerts import CHECKPOINT_ID
from agent_image.guard.checkpoint import Case, Checkpoint, Progress, State
from agent_image.guard.lease import LeaseLost
from agent_image.guard.watch import Severity
from agent_image.guard.work import Work

REMIND: Final = timedelta(days=1)
"""How long after an action was found in doubt a sweep says so again."""
_RULINGS: Final = {
    Progress.REJECTED: Ruling.REJECTED,
    Progress.CANCELLED: Ruling.CANCELLED,
    Progress.EXPIRED: Ruling.EXPIRED,
}


class Claims:
    """Move the checkpoints of one run."""

    def __init__(self, work: Work) -> None:
        """Take the run's bookkeeping."""
        self._work = work

    def claim(self, case: Case) -> Checkpoint | None:
        """Take an approved action for this run alone; None where another was faster.

        Raises:
            LeaseLost: another run has the session.
        """
        work = self._work
        # Only the owner of the session claims, and it owns it now, whatever the time says.
        work.lease.update(lambda session: session)
        now, before = work.guard.clock(), case.checkpoint
        edited = case.decision is not None and case.decision.arguments is not None
        after = before.advanced(
            Progress.EXECUTING,
            now,
            owner=work.run.id,
            fence=work.lease.fence,
            due_at=now,
            executed=dict(case.effective) if edited else None,
        )
        return after if work.guard.store.advance(before, after) else None

    def give_back(self, claimed: Checkpoint) -> None:
        """Let go of an action that has not begun: the approval holds, and another run may carry it out."""
        work = self._work
        work.guard.store.advance(
            claimed,
            replace(claimed, progress=Progress.OPEN, owner=None, fence=0, executed=None, due_at=claimed.expires_at),
        )

    def record(self, claimed: Checkpoint, progress: Progress, result: Mapping[str, Any] | None) -> Checkpoint:
        """Keep what became of an action, as its owner; give the checkpoint as it is kept.

        Raises:
            LeaseLost: another run took the session over; nothing was recorded.
        """
        work = self._work
        work.lease.update(lambda session: session)
        now = work.guard.clock()
        after = claimed.advanced(progress, now, result=None if result is None else dict(result))
        if progress is Progress.IN_DOUBT:
            after = replace(after, due_at=now + REMIND)
        if not work.guard.store.advance(claimed, after):
            raise LeaseLost
        if progress is Progress.IN_DOUBT:
            self._tell_doubt(after)
        return after

    def amend(self, recorded: Checkpoint, result: Mapping[str, Any]) -> None:
        """Keep what an action answered, which was recorded before anybody had checked its answer.

        Raises:
            LeaseLost: another run took the session over; the earlier record holds.
        """
        if not self._work.guard.store.advance(recorded, replace(recorded, result=dict(result))):
            raise LeaseLost

    def doubt(self, checkpoint: Checkpoint) -> Case | None:
        """Own up to an action whose owner is gone: it may have happened, and it is not tried again.

        The tool is told first, so that a lost owner that wakes up comes too late.

        Raises:
            AgentError: the tool cannot be told.
        """
        work = self._work
        fenced(work, checkpoint, work.lease.fence)
        now = work.guard.clock()
        after = replace(checkpoint.advanced(Progress.IN_DOUBT, now), due_at=now + REMIND)
        if not work.guard.store.advance(checkpoint, after):
            return None
        self._tell_doubt(after)
        return work.guard.store.case(checkpoint.id)

    def close(self, case: Case, state: State) -> None:
        """Keep that nothing is to follow on a checkpoint that a person or the time has closed."""
        decision = case.decision
        self._close(
            case,
            state,
            approver=None if decision is None else decision.approver,
            reason=None if decision is None else decision.reason,
        )

    def refuse(self, case: Case, result: Mapping[str, Any] | None, code: str | None) -> None:
        """Keep that an action does not run which a person approved, what the model is told of it, and why."""
        self._close(case, State.REJECTED, result=result, code=code)

    def _close(self, case: Case, state: State, result: Mapping[str, Any] | None = None, **said: Any) -> None:
        work, now, progress = self._work, self._work.guard.clock(), Progress(state)
        kept = None if result is None else dict(result)
        work.guard.store.advance(case.checkpoint, case.checkpoint.advanced(progress, now, result=kept))
        work.note(
            EventName.GATE,
            checkpoint_id=case.checkpoint.id,
            tool=case.checkpoint.tool,
            tool_use_id=case.checkpoint.tool_use_id,
            zone=case.checkpoint.zone.value,
            decision=_RULINGS[progress].value,
            **said,
        )

    def _tell_doubt(self, checkpoint: Checkpoint) -> None:
        work = self._work
        work.note(
            EventName.GATE,
            checkpoint_id=checkpoint.id,
            tool=checkpoint.tool,
            tool_use_id=checkpoint.tool_use_id,
            zone=checkpoint.zone.value,
            decision=Ruling.IN_DOUBT.value,
        )
        work.alert("in_doubt", Severity.CRITICAL, {CHECKPOINT_ID: checkpoint.id, "tool": checkpoint.tool})


def fenced(work: Work, checkpoint: Checkpoint, fence: int) -> None:
    """Tell a tool to refuse tokens below a new owner's.

    Raises:
        AgentError: the tool cannot be told.
    """
    fence_off = work.guard.fences.get(checkpoint.tool)
    if fence_off is None:
        return
    try:
        fence_off(checkpoint.session_id, fence)
    except AgentError:
        raise
    except Exception as error:
        raise AgentError("fence_failed", "The tool cannot be told that its caller is gone.") from error
