"""Check that X-Ray may write spans into the environment's log group, and that nobody else may in its name."""

from __future__ import annotations

import json
from typing import Any, Final

from agent_image.contract import RUNTIME_LOG_GROUPS
from console.doctor.account import Account, Failed
from console.doctor.check import Check, Result, could_not, fault, ok, unknown, warning
from console.doctor.command import aws, deploy
from console.doctor.declared import Declared
from console.doctor.xray_rights import ACTIONS, SERVICE, SOURCE_ACCOUNT, SOURCE_ARN, Problem, Reading, read

POLICY_NAME: Final = "rastro-transaction-search"
"""The name under which the account's stack writes it."""


def wanted_policy(declared: Declared) -> dict[str, Any]:
    """Build the policy that lets X-Ray in: the very one that the account's stack declares."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "TransactionSearchXRayAccess",
                "Effect": "Allow",
                "Principal": {"Service": SERVICE},
                "Action": list(ACTIONS),
                "Resource": [
                    declared.arn("logs", "log-group:aws/spans:*"),
                    declared.arn("logs", "log-group:/aws/application-signals/data:*"),
                    declared.arn("logs", f"log-group:{RUNTIME_LOG_GROUPS}*"),
                ],
                "Condition": {
                    "ArnLike": {SOURCE_ARN: declared.arn("xray", "*")},
                    "StringEquals": {SOURCE_ACCOUNT: declared.account_id},
                },
            }
        ],
    }


def judge(declared: Declared, account: Account) -> Result:
    """Compare every policy that bears on the group with what X-Ray needs."""
    if isinstance(account.policies, Failed):
        return could_not(account.policies)
    own = () if isinstance(account.group_policies, Failed) else account.group_policies
    reading = read(declared, (*account.policies, *own))
    if reading.denied or reading.lacking:
        return _shut_out(declared, reading)
    if isinstance(account.group_policies, Failed):
        return unknown(f"X-Ray may write; whether a policy of the group alone denies it: {account.group_policies.says}")
    return _let_in(declared, reading)


def _shut_out(declared: Declared, reading: Reading) -> Result:
    if reading.denied:
        return fault(
            "X-Ray is denied writing spans into the group: whatever else allows it, none is stored",
            found=reading.denied,
            wanted=("no statement that denies X-Ray",),
            mend=("take the denial out of that policy",),
            commands=(aws(declared, "logs", "describe-resource-policies"),),
        )
    commands = (put_command(declared),)
    if reading.unsure:
        unsure = "; ".join(reading.unsure)
        return unknown(
            f"whether X-Ray may write depends on conditions that are not judged here: {unsure}",
            mend=_mend(declared),
            commands=commands,
        )
    problems = _nearest(reading) or [
        Problem(_nothing(reading), f"{SERVICE} may {' and '.join(ACTIONS)} on {declared.log_group}")
    ]
    return fault(
        f"X-Ray may not write spans into {declared.log_group}: they vanish, and no error says so",
        found=[problem.found for problem in problems],
        wanted=[problem.wanted for problem in problems],
        mend=_mend(declared),
        commands=commands,
    )


def _let_in(declared: Declared, reading: Reading) -> Result:
    if reading.open:
        return warning(
            "X-Ray may write, and not only on behalf of this account",
            found=[problem.found for problem in reading.open],
            wanted=[problem.wanted for problem in reading.open],
            mend=_mend(declared),
            commands=(put_command(declared),),
        )
    if reading.broken:
        return warning(
            "X-Ray may write; another resource policy cannot be read",
            found=reading.broken,
            wanted=("a policy document",),
            mend=("look at it, and delete it where nobody needs it",),
            commands=(aws(declared, "logs", "describe-resource-policies"),),
        )
    names = sorted({name for statements in reading.granted.values() for name in statements})
    return ok(f"X-Ray may write, on behalf of this account alone ({'; '.join(names)})")


def put_command(declared: Declared) -> str:
    """Give the command that writes the wanted policy."""
    document = json.dumps(wanted_policy(declared), separators=(",", ":"))
    return aws(declared, "logs", "put-resource-policy", policy_name=POLICY_NAME, policy_document=document)


def _mend(declared: Declared) -> tuple[str, ...]:
    return (f"{deploy(declared)}; where somebody else manages Transaction Search, the command below",)


def _nothing(reading: Reading) -> str:
    broken = f"; {'; '.join(reading.broken)}" if reading.broken else ""
    return f"no resource policy speaks of {SERVICE}{broken}"


def _nearest(reading: Reading) -> list[Problem]:
    """Give what is wrong with the statement that lacks the least: it is the one that was meant."""
    meant = min(reading.nearly.values(), key=len, default=[])
    return list(dict.fromkeys(meant))


CHECK: Final = Check(
    name="xray-policy",
    looks_at="every resource policy of CloudWatch Logs in the account, and those of the live group alone",
    why="Without it X-Ray drops every span, and no error says so.",
    run=judge,
    of_cloudwatch=True,
)
