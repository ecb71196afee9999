"""Describe a check and what comes of it: ok, or what is wrong and how to mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from console.doctor.account import Account, Failed
from console.doctor.declared import Declared


class State(StrEnum):
    """Name what may come of a check, in the order in which it is shown."""

    FAULT = "fault"
    WARNING = "warning"
    UNKNOWN = "unknown"
    OK = "ok"
    SKIPPED = "skipped"


_ORDER: Final = {state: position for position, state in enumerate(State)}
_READING: Final = frozenset({"logs:FilterLogEvents", "logs:StartQuery"})
"""Rights to read events, which the doctor's own policy has none of."""


@dataclass(frozen=True, slots=True)
class Result:
    """Hold what came of one check.

    Attributes:
        state: whether it is right.
        says: one sentence; parts of it come from the account.
        found: the values that were found, where something is wrong.
        wanted: the values that are wanted instead.
        mend: what to set or to do; empty where nothing is wrong.
        commands: commands that do it, each as it can be pasted.
    """

    state: State
    says: str
    found: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    mend: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """Name a check.

    Attributes:
        name: one or two words, joined by hyphens.
        looks_at: what it reads.
        why: what goes wrong where this is wrong.
        run: compares what was declared with what the account answered; pure.
        of_cloudwatch: it is about spans in CloudWatch, and has no meaning where they go elsewhere.
    """

    name: str
    looks_at: str
    why: str
    run: Callable[[Declared, Account], Result]
    of_cloudwatch: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """Hold a check and its result."""

    check: Check
    result: Result


def examine(checks: Iterable[Check], declared: Declared, account: Account) -> tuple[Checked, ...]:
    """Run checks, and give their results with the worst first; within a state in the order of the checks."""
    found = [Checked(check, _result(check, declared, account)) for check in checks]
    return tuple(sorted(found, key=lambda one: _ORDER[one.result.state]))


def _result(check: Check, declared: Declared, account: Account) -> Result:
    if check.of_cloudwatch and not declared.to_cloudwatch:
        return skipped(f"spans go to {declared.destination}, not to CloudWatch: what is there is not looked at")
    return check.run(declared, account)


def ok(says: str) -> Result:
    """Build the result of what is right."""
    return Result(State.OK, says)


def skipped(says: str) -> Result:
    """Build the result of what was not to be looked at."""
    return Result(State.SKIPPED, says)


def fault(
    says: str,
    *,
    found: Iterable[str] = (),
    wanted: Iterable[str] = (),
    mend: Iterable[str] = (),
    commands: Iterable[str] = (),
) -> Result:
    """Build the result of what is wrong."""
    return Result(State.FAULT, says, tuple(found), tuple(wanted), tuple(mend), tuple(commands))


def warning(
    says: str,
    *,
    found: Iterable[str] = (),
    wanted: Iterable[str] = (),
    mend: Iterable[str] = (),
    commands: Iterable[str] = (),
) -> Result:
    """Build the result of what works, and should be otherwise."""
    return Result(State.WARNING, says, tuple(found), tuple(wanted), tuple(mend), tuple(commands))


def unknown(says: str, *, mend: Iterable[str] = (), commands: Iterable[str] = ()) -> Result:
    """Build the result of what could not be looked at."""
    return Result(State.UNKNOWN, says, mend=tuple(mend), commands=tuple(commands))


def could_not(failed: Failed) -> Result:
    """Build the result of a check whose question AWS did not answer."""
    policy = "investigator" if failed.action in _READING else "doctor"
    mend = (f"give the caller {failed.action}: the environment's policy `{policy}` has it",) if failed.denied else ()
    return unknown(failed.says, mend=mend)


def undeclared(what: str) -> Result:
    """Build the result where the discovery document is older than the check."""
    return unknown(
        f"the discovery document does not say {what}", mend=("deploy the environment again, which writes it anew",)
    )
