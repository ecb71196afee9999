"""Read every resource policy of an account as it bears on X-Ray: what it is allowed, what it is denied, and why not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from agent_image.contract import RUNTIME_LOG_GROUPS
from console.doctor.account import Found
from console.doctor.declared import Declared
from console.doctor.policy_text import Condition, MalformedPolicyError, Rule, applies, rules

SERVICE: Final = "xray.amazonaws.com"
ACTIONS: Final = ("logs:PutLogEvents", "logs:CreateLogStream")
SOURCE_ARN: Final = "aws:SourceArn"
SOURCE_ACCOUNT: Final = "aws:SourceAccount"
_STRANGER: Final = "000000000000"
"""An account that is nobody's."""
_CONFUSED: Final = "confused deputy: X-Ray could be made to write here on behalf of another account"


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


def _name(policy: Found) -> str:
    name = str(policy.get("policyName") or "the group's own policy")
    return f"{name} (of the group alone)" if policy.get("resourceArn") else name


def _weigh(declared: Declared, rule: Rule, name: str, reading: Reading) -> None:
    context = {
        SOURCE_ARN.casefold(): declared.arn("xray", "any"),
        SOURCE_ACCOUNT.casefold(): declared.account_id,
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
                yield Problem(f"{name}: {SOURCE_ACCOUNT} is {', '.join(condition.values)}", declared.account_id)


def _source_arn(declared: Declared, condition: Condition) -> str:
    """Say what is wrong with a source: the usual mistakes by name."""
    says = f"{SOURCE_ARN} is {', '.join(condition.values)}"
    if any(value.split(":")[2:3] == ["logs"] for value in condition.values):
        return (
            f"{says}: that is CloudWatch Logs, and X-Ray is who writes. A widely copied example has this value; "
            "with it X-Ray is never authorised"
        )
    if declared.arn("xray", "*") in condition.values and not condition.takes_stars:
        return f"{says} under {condition.operator}, which takes the star as it stands: it has to be ArnLike"
    return says


def _open(declared: Declared, rule: Rule, name: str) -> Iterator[Problem]:
    """Name what does not keep X-Ray from writing here on behalf of another account."""
    for key, own, other in (
        (SOURCE_ARN, declared.arn("xray", "*"), f"arn:{declared.partition}:xray:{declared.region}:{_STRANGER}:any"),
        (SOURCE_ACCOUNT, declared.account_id, _STRANGER),
    ):
        about = [condition for condition in rule.conditions if condition.key.casefold() == key.casefold()]
        if all(condition.holds(other) for condition in about):
            says = f"the condition on {key} lets other accounts in" if about else f"no condition on {key}"
            yield Problem(f"{name}: {says} ({_CONFUSED})", f"{key} = {own}")
