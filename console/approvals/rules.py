"""Say why a wish about a checkpoint is refused: pure, from the case, the time and who asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final

from jsonschema.exceptions import ValidationError

from agent_image.contract import Choice, Level
from agent_image.guard.checkpoint import SKEW, Action, Case, State
from agent_image.guard.moments import written
from agent_image.guard.schema import misfits
from console.approvals.wish import DONE, Wish
from console.identity import same_person
from console.terminal import shown_line

CONFLICT: Final = "conflict"
"""The code of a wish that came after another, or after the agent was done."""
EXPIRED: Final = "expired"
"""The code of a wish that came after its time."""
INVALID_EDIT: Final = "invalid_edit"
"""The code of arguments that the tool does not take: whoever wrote them can write others."""
FAULTS_SHOWN: Final = 10
"""Faults of edited arguments that are told at once."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Hold why something is refused: a code for the audit, and words for who asked."""

    code: str
    text: str


def refused(case: Case, wish: Wish, approver: str, now: datetime) -> Refusal | None:
    """Tell why a decision is refused, or None where it may be written."""
    return next(_refusals(case, wish, approver, now), None)


def past(case: Case, now: datetime) -> Refusal:
    """Tell what became of a checkpoint that no decision is waited for any more."""
    checkpoint, decision = case.checkpoint, case.decision
    state = case.state(now)
    code = EXPIRED if state is State.EXPIRED else CONFLICT
    if decision is None:
        at = f" since {written(checkpoint.expires_at)}: nobody decided in time" if state is State.EXPIRED else ""
        return Refusal(code, f"{checkpoint.id} is {state}{at}")
    told = f"{shown_line(decision.approver)} {DONE[decision.choice]} it at {written(decision.at)}"
    if state is State.EXPIRED and now >= case.execute_by(decision):
        told += f", and it was not carried out by {written(case.execute_by(decision))}"
    elif state is State.EXPIRED:
        told += ", which was too late"
    return Refusal(code, f"{checkpoint.id} is {state}: {told}")


def unresolvable(case: Case, now: datetime) -> Refusal | None:
    """Tell why nobody can say now whether an action took effect, or None where it is in doubt."""
    state, resolution = case.state(now), case.resolution
    if state is State.IN_DOUBT:
        return None
    if resolution is not None:
        found = "took effect" if resolution.took_effect else "had no effect"
        who = shown_line(resolution.approver)
        text = f"{case.checkpoint.id} is {state}: {who} found at {written(resolution.at)} that it {found}"
        return Refusal(CONFLICT, text)
    hint = "; if its agent is gone, rastro approvals sweep says so" if state is State.EXECUTING else ""
    return Refusal("not_in_doubt", f"{case.checkpoint.id} is {state}; only what is in doubt is resolved{hint}")


def _refusals(case: Case, wish: Wish, approver: str, now: datetime) -> Iterator[Refusal]:
    checkpoint = case.checkpoint
    if case.state(now) is not State.PENDING:
        yield past(case, now)
    if now < checkpoint.created_at - SKEW:
        behind = f"it asked at {written(checkpoint.created_at)}, and it is {written(now)} here"
        yield Refusal("clock_behind", f"this machine's clock is behind the agent's: {behind}; set the clock")
    if not wish.releases:
        return
    if not checkpoint.genuine:
        text = f"the arguments of {checkpoint.id} are not those that its id was made from: it can only be rejected"
        yield Refusal("checkpoint_changed", text)
    if checkpoint.requester is not None and same_person(approver, checkpoint.requester):
        yield Refusal("own_request", f"{shown_line(approver)} asked for this: somebody else has to approve it")
    if wish.choice is Choice.EDIT:
        yield from _edit_refusals(case, wish.arguments or {})


def _edit_refusals(case: Case, arguments: Mapping[str, Any]) -> Iterator[Refusal]:
    checkpoint = case.checkpoint
    if checkpoint.action is Action.BUDGET:
        yield Refusal("not_editable", "a budget cannot be edited: approve it, or reject it")
    elif checkpoint.level is not Level.STEER:
        level = f"{shown_line(checkpoint.tool)} is supervised at level {checkpoint.level:d}"
        yield Refusal("not_editable", f"{level}: its calls can be approved or rejected, and not edited")
    elif faults := schema_faults(checkpoint.schema, arguments):
        yield Refusal(INVALID_EDIT, "\n".join(("the tool does not take these arguments:", *faults)))


def schema_faults(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """List what does not fit a tool's schema, one line each; a schema that cannot be read fits nothing."""
    try:
        faults = list(islice(misfits(schema, arguments), FAULTS_SHOWN))
    except Exception:  # noqa: BLE001 - what comes out of a store may be anything; then nothing fits it
        return ["the tool's schema cannot be read"]
    return [_fault(error) for error in faults]


def _fault(error: ValidationError) -> str:
    return shown_line(f"{error.json_path}: {error.message}")
