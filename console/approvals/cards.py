"""Lay a case out as a card: one call, whole, as its approver has to see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from agent_image.contract import Choice, Level
from agent_image.guard.budget import Over
from agent_image.guard.checkpoint import Action, Case, Decision, Progress, Resolution, State
from agent_image.guard.findings import Anomaly
from agent_image.guard.moments import written
from agent_image.guard.policy import UNCLASSIFIED, ZONE_RED
from agent_image.guard.verdict import HOOK_ASKED, HOOK_EDITED
from console.approvals.wish import DONE, ID_FORM
from console.card import Card, Row, json_row, row
from console.moments import lasting

CHANGED: Final = (
    "the arguments below are not those that this checkpoint's id was made from. Somebody changed them in the store. "
    "It cannot be approved: reject it, and find out who did."
)
IN_DOUBT: Final = (
    "nobody knows whether this took effect. Find out where the tool acts, then say it: it is not run again by itself."
)
_LEVELS: Final[Mapping[Level, str]] = {
    Level.NOTIFY: "runs, and somebody is told",
    Level.BLOCK: "may be approved or rejected",
    Level.STEER: "may be approved, edited or rejected",
}
_REASONS: Final[Mapping[str, str]] = {
    ZONE_RED: "the tool is red",
    UNCLASSIFIED: "nobody classified the tool",
    HOOK_ASKED: "a check of the deployment asks; its words are in the audit",
    HOOK_EDITED: "a check changed what the model asked for",
    "level_block": "its level asks before every call",
    "level_steer": "its level asks before every call",
    Anomaly.EDITED_RETRY: "a call that was refused has come back with other arguments",
    Over.USD: "the session is over its budget in USD",
    Over.TOKENS: "the session is over its budget of tokens",
    Over.STEPS: "the session is over its budget of steps",
    Over.UNPRICED: "the model has no price, so nobody knows what it costs",
}
_RULE: Final = "red_when:"
_UNKNOWN: Final = "not known"


def card(case: Case, now: datetime, option: str) -> Card:
    """Lay a case out; `option` is what its commands have to say to reach the same agent."""
    checkpoint = case.checkpoint
    state = case.state(now)
    whole = checkpoint.genuine
    warnings = [] if whole else [CHANGED]
    if state is State.IN_DOUBT:
        warnings.append(IN_DOUBT)
    return Card(
        title=title(checkpoint.tool, budget=checkpoint.action is Action.BUDGET),
        badge=badge(case, now),
        warnings=tuple(warnings),
        rows=tuple(_rows(case)),
        commands=tuple(commands(checkpoint.id, state, option, editable=_editable(case), whole=whole)),
    )


def title(tool: str, *, budget: bool) -> str:
    """Say in a few words what waits."""
    return "the session's going on beyond its budget" if budget else tool


def badge(case: Case, now: datetime) -> str:
    """Say what a case is worth, and for how long."""
    state, end = case.state(now), ends_at(case)
    if state is State.PENDING:
        return f"{state}, {lasting(case.checkpoint.expires_at - now)} left"
    if state is State.APPROVED and end is not None:
        return f"{state}, to be carried out within {lasting(end - now)}"
    return str(state)


def ends_at(case: Case) -> datetime | None:
    """Tell when a case ends by itself; None for what only somebody ends."""
    if case.checkpoint.progress is not Progress.OPEN:
        return None
    decision = case.decision
    if decision is None or decision.choice not in {Choice.APPROVE, Choice.EDIT}:
        return case.checkpoint.expires_at
    return case.execute_by(decision)


def reason(code: str) -> str:
    """Say in words what a reason's code stands for, beside the code."""
    if code.startswith(_RULE):
        return f"{code} (the argument {code.removeprefix(_RULE)} makes the call red)"
    return f"{code} ({_REASONS[code]})" if code in _REASONS else code


def commands(
    checkpoint_id: str, state: str, option: str, *, editable: bool, whole: bool = True
) -> Iterator[tuple[str, str]]:
    """Give the commands that lead on from a state, with the whole id: a beginning might come to mean another one."""
    approvals = f"rastro approvals {{}} {checkpoint_id}"
    if state == State.PENDING:
        if whole:
            yield "approve", f"{approvals.format('approve')} --resume{option}"
            if editable:
                yield "edit", f"{approvals.format('edit')} --arguments '{{…}}' --resume{option}"
        yield "reject", f"{approvals.format('reject')} --reason '…' --resume{option}"
    elif state == State.IN_DOUBT:
        yield "it did", f"{approvals.format('resolve')} --took-effect --reason '…' --resume{option}"
        yield "it did not", f"{approvals.format('resolve')} --no-effect --reason '…' --resume{option}"
    else:
        yield "resume", resume(checkpoint_id, option)


def resume(checkpoint_id: str, option: str) -> str:
    """Give the command that lets the agent go on."""
    return f"rastro approvals resume {checkpoint_id}{option}"


def _editable(case: Case) -> bool:
    return case.checkpoint.action is Action.TOOL and case.checkpoint.level is Level.STEER


def _rows(case: Case) -> Iterator[Row]:
    checkpoint, decision = case.checkpoint, case.decision
    yield row("checkpoint", checkpoint.id)
    if checkpoint.action is Action.TOOL:
        yield row("tool", checkpoint.tool)
    yield json_row("arguments", checkpoint.arguments)
    if decision is not None and decision.arguments is not None:
        yield json_row("edited to", decision.arguments)
    yield row("zone", checkpoint.zone)
    yield row("level", f"{checkpoint.level:d} ({_LEVELS[checkpoint.level]})")
    yield row("reasons", *(map(reason, checkpoint.reasons) if checkpoint.reasons else ("none",)))
    yield row("cost", f"{checkpoint.cost_usd} USD spent by the session when it asked")
    yield row("requester", checkpoint.requester or _UNKNOWN)
    yield row("session", checkpoint.session_id)
    yield row("run", checkpoint.run)
    yield row("policy", checkpoint.policy)
    yield row("created", written(checkpoint.created_at))
    yield row("expires", written(checkpoint.expires_at))
    if decision is None:
        yield row("execute by", f"{lasting(timedelta(minutes=checkpoint.execute_minutes))} after its approval")
    else:
        if decision.choice in {Choice.APPROVE, Choice.EDIT}:
            yield row("execute by", written(case.execute_by(decision)))
        yield from _said("decision", decision, DONE[decision.choice])
    if case.resolution is not None:
        found = "took effect" if case.resolution.took_effect else "had no effect"
        yield from _said("resolution", case.resolution, f"it {found}")


def _said(label: str, said: Decision | Resolution, what: str) -> Iterator[Row]:
    yield row(label, f"{what} by {said.approver} at {written(said.at)}")
    if said.reason:
        yield row("reason", said.reason)


def asked(waiting: Mapping[str, Any], option: str) -> Card:
    """Lay out what an agent's answer says of a call that waits."""
    checkpoint_id, tool = str(waiting.get("checkpoint_id", "")), str(waiting.get("tool", ""))
    state = str(waiting.get("state", State.PENDING))
    given = waiting.get("reasons")
    reasons = given if isinstance(given, list) and given else [_UNKNOWN]
    rows = (
        row("checkpoint", checkpoint_id),
        json_row("arguments", waiting.get("arguments")),
        row("zone", str(waiting.get("zone", _UNKNOWN))),
        row("reasons", *(reason(str(code)) for code in reasons)),
        row("expires", str(waiting.get("expires_at", _UNKNOWN))),
    )
    # Whoever copies a command runs it: nothing but an id stands in one.
    known = ID_FORM.fullmatch(checkpoint_id) is not None
    return Card(
        title=title(tool, budget=tool == Action.BUDGET),
        badge=f"{state}, a person has to decide" if state == State.PENDING else state,
        rows=rows,
        commands=_asked_commands(checkpoint_id, state, option) if known else (),
    )


def _asked_commands(checkpoint_id: str, state: str, option: str) -> tuple[tuple[str, str], ...]:
    show = f"rastro approvals show {checkpoint_id}{option}"
    return ("show", show), *commands(checkpoint_id, state, option, editable=False)
