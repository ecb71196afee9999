"""Tell what a call may do: the zone of its tool, moved by its arguments, as the code declares and the settings change.

The settings may only tighten what the code says, unless they give a written reason: green to yellow to red, a higher
level, a higher price, more rules. Whatever nobody classified is red.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Final, Protocol

from agent_image.contract import GuardSetting, Level, Setting, ToolSetting, Zone
from agent_image.errors import SettingsError
from agent_image.guard.canonical import digest
from agent_image.guard.rules import UNKNOWN, Rule, ToolRule
from agent_image.guard.settings import GuardSettings, ToolSettings

UNCLASSIFIED: Final = "unclassified"
ZONE_RED: Final = "zone_red"
BY_CODE: Final = "declared in the code"
BY_SETTINGS: Final = "set by the settings"
BY_NOBODY: Final = "nobody classified it"
_TOOLS: Final = f"{Setting.GUARD}.{GuardSetting.TOOLS}"
_STRICT: Final = (Zone.GREEN, Zone.YELLOW, Zone.RED)


class Declared(Protocol):
    """A tool with the rules that its code states."""

    @property
    def name(self) -> str:
        """Give the name that the model calls it by."""
        ...

    @property
    def rule(self) -> ToolRule:
        """Give its rules."""
        ...


@dataclass(frozen=True, slots=True)
class Classified:
    """Hold what one call may do.

    Attributes:
        zone: the tool's, or red for what the call's arguments say.
        reasons: a code for each cause to ask a person; all that hold.
    """

    zone: Zone
    level: Level
    reasons: tuple[str, ...]
    rule: ToolRule

    @property
    def asks(self) -> bool:
        """Tell whether a person is asked before the call."""
        return bool(self.reasons)


@dataclass(frozen=True, slots=True)
class Row:
    """Show one tool: what it may do, and who said so."""

    tool: str
    zone: Zone
    level: Level
    why: str
    price_usd: Decimal
    red_when: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """Hold the rules of every tool.

    Attributes:
        whys: who says so, by tool.
        version: a digest of all rules, reasons and limits: another policy has another.
    """

    rules: Mapping[str, ToolRule]
    whys: Mapping[str, str]
    version: str

    @classmethod
    def of(cls, tools: Iterable[Declared], settings: GuardSettings) -> Policy:
        """Join what the code declares and what the settings change.

        Raises:
            SettingsError: with every fault: a tool that is not there, a change that loosens and gives no reason.
        """
        declared: dict[str, ToolRule] = {}
        faults = []
        for tool in tools:
            if tool.name in declared:
                faults.append(f"{tool.name} is the name of two tools; allowed: one each")
            declared[tool.name] = tool.rule
        faults.extend(_unknown(settings.tools, declared))
        changes = {name: settings.tools.get(name, ToolSettings()) for name in declared}
        for name, rule in declared.items():
            faults.extend(_faults(f"{_TOOLS}.{name}", rule, changes[name]))
        if faults:
            raise SettingsError(faults)
        rules = {name: _changed(rule, changes[name]) for name, rule in declared.items()}
        whys = {name: _why(declared[name], changes[name]) for name in declared}
        return cls(MappingProxyType(rules), MappingProxyType(whys), _version(rules, whys, settings))

    def classify(self, tool: str, arguments: object) -> Classified:
        """Tell what a call may do, and each reason why a person is asked."""
        rule = self.rules.get(tool, UNKNOWN)
        held = [one.code for one in rule.red_when if one.holds(arguments)]
        zone = Zone.RED if held else rule.zone
        reasons = [
            *([] if rule.classified else [UNCLASSIFIED]),
            *([ZONE_RED] if rule.zone is Zone.RED else []),
            *held,
            *([f"level_{rule.level.name.lower()}"] if rule.level and rule.level > Level.NOTIFY else []),
        ]
        return Classified(zone, rule.level_of(zone), tuple(dict.fromkeys(reasons)), rule)

    def rows(self) -> Sequence[Row]:
        """List the tools by name."""
        return [
            Row(name, rule.zone, rule.level_of(rule.zone), self.whys[name], rule.price_usd, rule.red_when)
            for name, rule in sorted(self.rules.items())
        ]


def _unknown(named: Iterable[str], declared: Iterable[str]) -> Iterator[str]:
    for name in named:
        if name not in declared:
            yield f"{_TOOLS}.{name} is no tool of this agent; allowed: {', '.join(sorted(declared)) or 'none'}"


def _faults(path: str, rule: ToolRule, change: ToolSettings) -> Iterator[str]:
    zone = change.zone or rule.zone
    if zone is Zone.RED and change.level is Level.NOTIFY:
        yield f"{path}.{ToolSetting.LEVEL} is 1; allowed: 2 or 3, for a red tool is asked for before it runs"
    if change.reason is None:
        for key, declared in _loosened(rule, change):
            yield f"{path}.{key} loosens what the code says ({declared}); allowed: with a {ToolSetting.REASON}"


def _loosened(rule: ToolRule, change: ToolSettings) -> Iterator[tuple[ToolSetting, str]]:
    if change.zone is not None and _STRICT.index(change.zone) < _STRICT.index(rule.zone):
        yield ToolSetting.ZONE, rule.zone
    if change.level is not None and change.level < rule.level_of(rule.zone):
        yield ToolSetting.LEVEL, str(int(rule.level_of(rule.zone)))
    if change.price_usd is not None and change.price_usd < rule.price_usd:
        yield ToolSetting.PRICE_USD, f"{rule.price_usd:f}"
    for one in change.red_when:
        before = _bound(rule.red_when, one.argument)
        if one.over is not None and before is not None and one.over > before:
            yield ToolSetting.RED_WHEN, f"{one.argument} over {before:f}"
    if change.poll and not rule.poll:
        yield ToolSetting.POLL, "false"
    if change.min_interval_seconds is not None and change.min_interval_seconds < rule.min_interval_seconds:
        yield ToolSetting.MIN_INTERVAL_SECONDS, str(rule.min_interval_seconds)
    if change.notify is False and rule.notify:
        yield ToolSetting.NOTIFY, "true"


def _bound(rules: Iterable[Rule], argument: str) -> Decimal | None:
    return min((one.over for one in rules if one.over is not None and one.argument == argument), default=None)


def _changed(rule: ToolRule, change: ToolSettings) -> ToolRule:
    zone = change.zone or rule.zone
    # What the code says of the level was meant for the zone that the code says.
    stated = None if zone is Zone.RED and rule.level is Level.NOTIFY else rule.level
    bounds = {one.argument for one in change.red_when if one.over is not None}
    kept = (one for one in rule.red_when if one.over is None or one.argument not in bounds)
    return replace(
        rule,
        zone=zone,
        level=change.level or stated,
        price_usd=rule.price_usd if change.price_usd is None else change.price_usd,
        red_when=(*kept, *change.red_when),
        poll=rule.poll if change.poll is None else change.poll,
        min_interval_seconds=(
            rule.min_interval_seconds if change.min_interval_seconds is None else change.min_interval_seconds
        ),
        volatile=tuple(dict.fromkeys((*rule.volatile, *change.volatile))),
        notify=rule.notify if change.notify is None else change.notify,
        classified=rule.classified or change.zone is not None,
    )


def _why(rule: ToolRule, change: ToolSettings) -> str:
    if _changed(rule, change) != rule:
        return f"{BY_SETTINGS}: {change.reason}" if change.reason else BY_SETTINGS
    return BY_CODE if rule.classified else BY_NOBODY


def _version(rules: Mapping[str, ToolRule], whys: Mapping[str, str], settings: GuardSettings) -> str:
    # A record's repr tells 5 from "5", which its JSON does not.
    each = (part for name, rule in sorted(rules.items()) for part in (name, repr(rule), whys[name]))
    return digest(repr(settings.limits), *each)
