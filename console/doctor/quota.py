"""Check that the account has room for the resource policies that it needs."""

from __future__ import annotations

from typing import Final

from console.doctor.account import Account, Failed
from console.doctor.check import Check, Result, could_not, fault, ok, warning
from console.doctor.command import aws
from console.doctor.declared import Declared
from console.doctor.xray_rights import read

POLICIES: Final = 10
"""Resource policies of an account in a Region (CloudWatch Logs); nobody can raise it."""
CHARACTERS: Final = 5_120
"""Characters of one document (CloudWatch Logs)."""
_NEARLY: Final = CHARACTERS * 9 // 10


def judge(declared: Declared, account: Account) -> Result:
    """Count policies, and the characters of their documents."""
    if isinstance(account.policies, Failed):
        return could_not(account.policies)
    count = len(account.policies)
    longest = max((len(str(policy.get("policyDocument", ""))) for policy in account.policies), default=0)
    says = f"{count} of {POLICIES} resource policies, the longest of {longest:,} characters of {CHARACTERS:,}"
    mend = (
        "delete a policy that nobody needs, or join several into one: one statement may name many groups",
        f"see them: {aws(declared, 'logs', 'describe-resource-policies')}",
    )
    wanted = (f"at most {POLICIES - 2}", f"at most {_NEARLY:,} characters")
    if count >= POLICIES and read(declared, account.policies).lacking:
        says = f"{says}: there is no room for the one that lets X-Ray in"
        return fault(says, found=(str(count),), wanted=wanted[:1], mend=mend)
    if count >= POLICIES - 1:
        return warning(f"{says}: little or no room is left", found=(str(count),), wanted=wanted[:1], mend=mend)
    if longest > _NEARLY:
        return warning(f"{says}: it can hardly grow", found=(f"{longest:,}",), wanted=wanted[1:], mend=mend)
    return ok(says)


CHECK: Final = Check(
    name="policy-quota",
    looks_at="how many resource policies the account has in the Region, and how long they are",
    why="At ten no further policy can be written: the next one that somebody needs fails to deploy.",
    run=judge,
    of_cloudwatch=True,
)
