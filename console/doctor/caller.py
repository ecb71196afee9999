"""Check who asks, and what the caller may not see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Final

from console.doctor.account import Account, Failed
from console.doctor.check import Check, Result, could_not, fault, ok, warning
from console.doctor.declared import Declared

TRACE_ACTION: Final = "logs:StartQuery"
"""What `rastro trace` cannot do without."""
_OF_OTHERS: Final = frozenset({"query", "astray"})
"""Answers that come with other policies than the doctor's own."""


def judge(declared: Declared, account: Account) -> Result:
    """Name the caller, and each right that is lacking."""
    if isinstance(account.identity, Failed):
        return could_not(account.identity)
    who = str(account.identity.get("Arn") or "")
    if (found := account.identity.get("Account")) != declared.account_id:
        return fault(
            f"{who} belongs to another account than the environment",
            found=(str(found),),
            wanted=(declared.account_id,),
            mend=("AWS_PROFILE chooses other credentials",),
        )
    lacking = sorted(set(denied(account)))
    reads = f"; to read the trail it lacks {TRACE_ACTION} (policy `investigator`)" if _cannot_query(account) else ""
    if lacking:
        return warning(
            f"{who} cannot look at everything{reads}",
            found=tuple(f"{action} is denied" for action in lacking),
            wanted=("the rights of the environment's policy `doctor`",),
            mend=(f"attach the policy rastro-{declared.environment}-doctor to the caller's role",),
        )
    return ok(f"{who} may look at everything{reads}")


def denied(account: Account) -> Iterator[str]:
    """Name the rights of the doctor that the caller lacks, as AWS's answers tell."""
    for name in (field.name for field in fields(Account)):
        answer = getattr(account, name)
        if isinstance(answer, Failed) and answer.denied and name not in _OF_OTHERS:
            yield answer.action


def _cannot_query(account: Account) -> bool:
    return isinstance(account.query, Failed) and account.query.denied


CHECK: Final = Check(
    name="caller",
    looks_at="who the credentials belong to, and which questions AWS refused to answer",
    why="What may not be looked at is not known to be right.",
    run=judge,
)
