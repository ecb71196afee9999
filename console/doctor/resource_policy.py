"""Check that X-Ray may write spans into the environment's log group, and that nobody else may in its name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from agent_image.contract import RUNTIME_LOG_GROUPS
from console.doctor.account import Account, Failed, Found
from console.doctor.check import Check, Result, could_not, fault, ok, unknown, warning
from console.doctor.command import aws, deploy
from console.doctor.declared import Declared
from console.doctor.policy_text import Condition, MalformedPolicyError, Rule, applies, rules

SERVICE: Final = "xray.amazonaws.com"
ACTIONS: Final = ("logs:PutLogEvents", "logs:CreateLogStream")
POLICY_NAME: Final = "rastro-transaction-search"
"""The name under which the account's stack writes it."""
_SOURCE_ARN: Final = "aws:SourceArn"
_SOURCE_ACCOUNT: Final = "aws:SourceAccount"
_CONFUSED: Final = "confused deputy: X-Ray could be made to write here on behalf of another account"


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
                    "ArnLike": {_SOURCE_ARN: declared.arn("xray", "*")},
                    "StringEquals": {_SOURCE_ACCOUNT: declared.account_id},
                },
            }
        ],
    }


@dataclass(frozen=True, slots=True)
class Problem:
    """Say what keeps a statement from letting X-Ray in, and what is wanted instead."""

    found: str
    wanted: str


@dataclass(slots=True)
class Reading:
    """Hold what every resource policy of an account comes to.

    Attributes:
        granted: by action, the statements that allow it.
        denied: statements that deny it, and those that may.
        unsure: statements whose conditions cannot be judged here.
        broken: documents that are none.
        open: statements that let X-Ray in on behalf of anybody.
        nearly: by statement, what keeps those about X-Ray from letting it in.
    """

    granted: dict[str, list[str]] = field(default_factory=lambda: {action: [] for action in ACTIONS})
    denied: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    open: list[Problem] = field(default_factory=list)
    nearly: dict[str, list[Problem]] = field(default_factory=dict)

    @property
    def lacking(self) -> tuple[str, ...]:
        """Name the actions that nothing allows."""
        return tuple(action for action, statements in self.granted.items() if not statements)


def read(declared: Declared, policies: Iterable[Found]) -> Reading:
    """Read resource policies as they bear on X-Ray and the environment's group."""
    reading = Reading()
    for policy in policies:
        name = _name(policy)
        try:
            found = rules(str(policy.get("policyDocument", "")))
        except MalformedPolicyError as error:
            reading.broken.append(f"{name}: {error}")
            continue
        for rule in found:
            if rule.speaks_to(SERVICE):
                _weigh(declared, rule, f"{name}, {rule.name}", reading)
    return reading


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


def _name(policy: Found) -> str:
    name = str(policy.get("policyName") or "the group's own policy")
    return f"{name} (of the group alone)" if policy.get("resourceArn") else name


def _nothing(reading: Reading) -> str:
    broken = f"; {'; '.join(reading.broken)}" if reading.broken else ""
    return f"no resource policy speaks of {SERVICE}{broken}"


def _nearest(reading: Reading) -> list[Problem]:
    """Give what is wrong with the statement that lacks the least: it is the one that was meant."""
    meant = min(reading.nearly.values(), key=len, default=[])
    return list(dict.fromkeys(meant))


def _weigh(declared: Declared, rule: Rule, name: str, reading: Reading) -> None:
    context = {
        _SOURCE_ARN.casefold(): declared.arn("xray", "any"),
        _SOURCE_ACCOUNT.casefold(): declared.account_id,
    }
    touched = [action for action in ACTIONS if rule.covers(action)]
    if not rule.allows:
        if touched and _reaches(declared, rule) and (held := applies(rule, context)) is not False:
            told = "denies" if held else "denies, under conditions that are not judged here,"
            reading.denied.append(f"{name} {told} {' and '.join(touched)}")
        return
    problems = list(_problems(declared, rule, name))
    if not problems:
        if applies(rule, context) is None:
            reading.unsure.append(name)
            return
        for action in touched:
            reading.granted[action].append(name)
        reading.open.extend(_open(declared, rule, name) if touched else ())
    missing = [action for action in ACTIONS if action not in touched]
    lacks = Problem(f"{name}: does not allow {' and '.join(missing)}", f"allow {' and '.join(ACTIONS)}")
    if missing or problems:
        reading.nearly[name] = [*([lacks] if missing else []), *problems]


def _reaches(declared: Declared, rule: Rule) -> bool:
    group = declared.group_arn
    return rule.reaches(group, f"{group}:*", f"{group}:log-stream:spans")


def _problems(declared: Declared, rule: Rule, name: str) -> Iterator[Problem]:
    if not _reaches(declared, rule):
        yield Problem(
            f"{name}: its resources are {', '.join(rule.resources) or 'none'}",
            declared.arn("logs", f"log-group:{RUNTIME_LOG_GROUPS}*"),
        )
    for condition in rule.conditions:
        match condition.key.casefold():
            case "aws:sourcearn" if condition.known and not condition.holds(declared.arn("xray", "any")):
                yield Problem(f"{name}: {_source_arn(declared, condition)}", declared.arn("xray", "*"))
            case "aws:sourceaccount" if condition.known and not condition.holds(declared.account_id):
                yield Problem(f"{name}: {_SOURCE_ACCOUNT} is {', '.join(condition.values)}", declared.account_id)


def _source_arn(declared: Declared, condition: Condition) -> str:
    """Say what is wrong with a source: the usual mistakes by name."""
    says = f"{_SOURCE_ARN} is {', '.join(condition.values)}"
    if any(value.split(":")[2:3] == ["logs"] for value in condition.values):
        return (
            f"{says}: that is CloudWatch Logs, and X-Ray is who writes. A widely copied example has this value; "
            "with it X-Ray is never authorised"
        )
    if declared.arn("xray", "*") in condition.values and not condition.takes_stars:
        return f"{says} under {condition.operator}, which takes the star as it stands: it has to be ArnLike"
    return says


def _open(declared: Declared, rule: Rule, name: str) -> Iterator[Problem]:
    present = {condition.key.casefold() for condition in rule.conditions}
    wanted = {_SOURCE_ARN: declared.arn("xray", "*"), _SOURCE_ACCOUNT: declared.account_id}
    for key, value in wanted.items():
        if key.casefold() not in present:
            yield Problem(f"{name}: no condition on {key} ({_CONFUSED})", f"{key} = {value}")


CHECK: Final = Check(
    name="xray-policy",
    looks_at="every resource policy of CloudWatch Logs in the account, and those of the live group alone",
    why="Without it X-Ray drops every span, and no error says so.",
    run=judge,
    of_cloudwatch=True,
)
