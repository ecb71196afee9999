"""Read policy documents of IAM and of CloudWatch Logs: what a statement says, and whom and what it is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

_EXACT: Final = frozenset({"stringequals", "stringnotequals"})
_PATTERNS: Final = frozenset({"stringlike", "stringnotlike", "arnlike", "arnnotlike", "arnequals", "arnnotequals"})


class MalformedPolicyError(Exception):
    """Say why a text is no policy document."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Hold one condition: an operator, a key of the request, and the values that it is compared with."""

    operator: str
    key: str
    values: tuple[str, ...]

    @property
    def _plain(self) -> str:
        return self.operator.casefold().rpartition(":")[2].removesuffix("ifexists")

    @property
    def known(self) -> bool:
        """Tell whether the operator is one that can be judged here."""
        return self._plain in _EXACT | _PATTERNS

    @property
    def takes_stars(self) -> bool:
        """Tell whether a `*` in a value stands for anything, rather than for itself."""
        return self._plain in _PATTERNS

    def holds(self, value: str) -> bool:
        """Tell whether it holds for a request whose key has this value."""
        matched = any(matches(one, value) if self.takes_stars else one == value for one in self.values)
        return matched != ("not" in self._plain)


@dataclass(frozen=True, slots=True)
class Rule:
    """Hold one statement.

    Attributes:
        name: its `Sid`, or its place.
        allows: false where it denies.
        services: principals of type Service; `*` for everyone. Empty in a policy of IAM, which has none.
        actions, resources: patterns.
        conditions: all of them have to hold.
        inverted: it says NotPrincipal, NotAction or NotResource, or names a principal of another type.
    """

    name: str
    allows: bool
    services: tuple[str, ...]
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: tuple[Condition, ...]
    inverted: frozenset[str] = frozenset()

    def speaks_to(self, service: str) -> bool:
        """Tell whether it is about a service."""
        return any(one in {"*", service} for one in self.services) != ("NotPrincipal" in self.inverted)

    def covers(self, action: str) -> bool:
        """Tell whether it is about an action."""
        wanted = action.casefold()
        return any(matches(one.casefold(), wanted) for one in self.actions) != ("NotAction" in self.inverted)

    def reaches(self, *resources: str) -> bool:
        """Tell whether it is about one of several resources."""
        turned = "NotResource" in self.inverted
        return any(any(matches(one, resource) for one in self.resources) != turned for resource in resources)


def rules(document: str) -> tuple[Rule, ...]:
    """Read the statements of a document.

    Raises:
        MalformedPolicyError: it is no policy document.
    """
    try:
        found = json.loads(document)
    except (ValueError, RecursionError):
        message = "it is no JSON"
        raise MalformedPolicyError(message) from None
    statements = found.get("Statement") if isinstance(found, dict) else None
    if isinstance(statements, dict):
        statements = [statements]
    if not isinstance(statements, list) or not all(isinstance(one, dict) for one in statements):
        message = "it has no list of statements"
        raise MalformedPolicyError(message)
    return tuple(_rule(position, one) for position, one in enumerate(statements, start=1))


def _rule(position: int, statement: Mapping[str, Any]) -> Rule:
    name = statement.get("Sid") or f"statement {position}"
    effect = statement.get("Effect")
    if effect not in ("Allow", "Deny"):  # it may be of any type, and no member of a set
        message = f"{name} has the effect {effect!r}"
        raise MalformedPolicyError(message)
    inverted = frozenset({"NotPrincipal", "NotAction", "NotResource"} & statement.keys())
    return Rule(
        name=str(name),
        allows=effect == "Allow",
        services=_services(statement.get("Principal", statement.get("NotPrincipal"))),
        actions=_texts(statement.get("Action", statement.get("NotAction"))),
        resources=_texts(statement.get("Resource", statement.get("NotResource"))),
        conditions=tuple(_conditions(statement.get("Condition"), str(name))),
        inverted=inverted,
    )


def _services(principal: object) -> tuple[str, ...]:
    if principal == "*":
        return ("*",)
    if not isinstance(principal, dict):
        return ()
    # A principal of AWS that is `*` is everyone, and so every service too.
    everyone = ("*",) if "*" in _texts(principal.get("AWS")) else ()
    return (*_texts(principal.get("Service")), *everyone)


def _conditions(block: object, name: str) -> Iterator[Condition]:
    if block is None:
        return
    if not isinstance(block, dict) or not all(isinstance(keys, dict) for keys in block.values()):
        message = f"the condition of {name} is no object of objects"
        raise MalformedPolicyError(message)
    for operator, keys in block.items():
        for key, values in keys.items():
            yield Condition(operator, key, _texts(values))


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str | int | float):
        # An account's number without its quotes is one all the same.
        return (str(value),)
    return tuple(str(one) for one in value) if isinstance(value, list) else ()


def matches(pattern: str, text: str) -> bool:
    """Tell whether a pattern of IAM matches a whole text: `*` is any run, `?` any one character.

    In time of at most one's length times the other's, whatever the pattern: it comes from the account.
    """
    at = place = 0
    star, resume = -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "*":
            star, resume, place = place, at, place + 1
        elif place < len(pattern) and pattern[place] in {"?", text[at]}:
            at, place = at + 1, place + 1
        elif star >= 0:
            resume += 1
            at, place = resume, star + 1
        else:
            return False
    return not pattern[place:].strip("*")


NO_CONTEXT: Final[Mapping[str, str]] = MappingProxyType({})
"""What is known of a request of which nothing is known."""


def applies(rule: Rule, context: Mapping[str, str]) -> bool | None:
    """Tell whether every condition of a rule holds for a request; None where that cannot be known here.

    `context` has keys in lower case.
    """
    undecided = False
    for condition in rule.conditions:
        value = context.get(condition.key.casefold())
        if value is None or not condition.known:
            undecided = True
        elif not condition.holds(value):
            return False
    return None if undecided else True
