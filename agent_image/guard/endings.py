"""Answer a call in the place of its tool: what was turned away, and what people and the time have ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from agent_image.contract import EventName, Ruling, Zone
from agent_image.guard import sayings
from agent_image.guard.checkpoint import Call, Case, Progress, Resolution, State
from agent_image.guard.claims import Claims
from agent_image.guard.rules import UNKNOWN
from agent_image.guard.sayings import ToolResult
from agent_image.guard.work import Work, cancelled

LOOP: Final = "loop"
REPEATED: Final = "call_repeated"
NOT_RUN: Final = frozenset({Ruling.BLOCKED, Ruling.REJECTED, Ruling.CANCELLED, Ruling.EXPIRED})
"""What is said of a call that did not run, and will not."""
RULINGS: Final[Mapping[State, Ruling]] = MappingProxyType(
    {State.REJECTED: Ruling.REJECTED, State.CANCELLED: Ruling.CANCELLED, State.EXPIRED: Ruling.EXPIRED}
)


@dataclass(frozen=True, slots=True)
class Answered:
    """Hold what the model gets in the place of a run of the tool."""

    call: Call
    ruling: Ruling
    result: ToolResult


class Endings:
    """Answer the calls of one run that no tool answers."""

    def __init__(self, work: Work, claims: Claims) -> None:
        """Take the run's bookkeeping, and its claims."""
        self._work = work
        self._claims = claims

    def refused(self, call: Call, zone: Zone, text: str, code: str) -> Answered:
        """Turn a call away, in a sentence of ours.

        Raises:
            AuditError: it cannot be written down.
        """
        return self.answered(call, Ruling.BLOCKED, sayings.refusal(text), zone, code)

    def answered(self, call: Call, ruling: Ruling, result: ToolResult, zone: Zone, code: str | None = None) -> Answered:
        """Note an answer that no tool gave."""
        work = self._work
        work.note(
            EventName.TOOL_RESULT,
            tool=call.tool,
            tool_use_id=call.tool_use_id,
            zone=zone.value,
            decision=ruling.value,
            code=code,
            is_error=result["status"] != "success",
            result=result["content"],
        )
        held = code in {LOOP, REPEATED}
        refused = not held and ruling in {Ruling.BLOCKED, Ruling.REJECTED, Ruling.EXPIRED}
        volatile = work.guard.policy.rules.get(call.tool, UNKNOWN).volatile
        work.seen(call, result, volatile, refused=refused, held=held)
        return Answered(call, ruling, result)

    def ended(self, case: Case, call: Call, state: State) -> ToolResult | None:
        """Give the model's answer of a checkpoint that nothing is to follow on; None where something is."""
        work, checkpoint = self._work, case.checkpoint
        if state in RULINGS:
            if not checkpoint.closed:
                self._claims.close(case, state)
            if state is State.CANCELLED:
                work.halt(cancelled())
            if state is State.REJECTED:
                work.reset_watch()
            told = sayings.closed(case, state) if checkpoint.result is None else dict(checkpoint.result)
            return self.answered(call, RULINGS[state], told, checkpoint.zone).result
        if state not in {State.DONE, State.FAILED}:
            return None
        if checkpoint.progress is Progress.IN_DOUBT and case.resolution is not None:
            return self._resolved(case, call, case.resolution)
        return None if checkpoint.result is None else dict(checkpoint.result)

    def _resolved(self, case: Case, call: Call, resolution: Resolution) -> ToolResult:
        """Keep what a person found out about an action in doubt."""
        work, result = self._work, sayings.resolved(resolution)
        progress = Progress.DONE if resolution.took_effect else Progress.FAILED
        after = case.checkpoint.advanced(progress, work.guard.clock(), result=result)
        work.guard.store.advance(case.checkpoint, after)
        return self.answered(call, Ruling.REPLAYED, result, case.checkpoint.zone).result
