"""Check what no single value of the `[guard]` table can tell: rules across its keys, on the raw table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from agent_image.contract import GUARD_NUMBERS, GuardSetting, Level, RuleSetting, ToolSetting, Zone
from stacks.settings.fault import Fault, shown

Table = Mapping[str, Any]
_DEFAULTS: Final = {number.key: number.default for number in GUARD_NUMBERS}
_LIMITS: Final = (
    (GuardSetting.BUDGET_USD, GuardSetting.LIMIT_USD),
    (GuardSetting.BUDGET_TOKENS, GuardSetting.LIMIT_TOKENS),
    (GuardSetting.BUDGET_STEPS, GuardSetting.LIMIT_STEPS),
)
_CONDITIONS: Final = (RuleSetting.OVER, RuleSetting.EQUALS, RuleSetting.OUTSIDE)


def guard_faults(file: str, table: Table) -> Iterator[Fault]:
    """Apply the rules that stay within the `[guard]` table of one environment file."""
    guard = table.get("guard")
    if not isinstance(guard, Mapping):
        return
    yield from _limits_above_budgets(file, guard)
    yield from _one_webhook(file, guard)
    for name, tool in _tables(guard.get(GuardSetting.TOOLS)):
        yield from _red_is_asked(file, f"guard.{GuardSetting.TOOLS}.{name}", tool)
        for position, rule in _rows(tool.get(ToolSetting.RED_WHEN)):
            path = f"guard.{GuardSetting.TOOLS}.{name}.{ToolSetting.RED_WHEN}.{position}"
            yield from _one_condition(file, path, rule)


def _limits_above_budgets(file: str, guard: Table) -> Iterator[Fault]:
    for budget_key, limit_key in _LIMITS:
        limit, budget = _number(guard.get(limit_key)), _number(guard.get(budget_key, _DEFAULTS[budget_key]))
        if limit is not None and budget is not None and limit < budget:
            problem = f"is below {budget_key}: a session would stop before it asks"
            yield Fault(file, f"guard.{limit_key}", problem, shown(guard[limit_key]), f"allowed: {budget} or more")


def _one_webhook(file: str, guard: Table) -> Iterator[Fault]:
    secret = guard.get(GuardSetting.WEBHOOK_SECRET_ARN)
    if secret is not None and guard.get(GuardSetting.WEBHOOK) is not None:
        problem = f"stands beside {GuardSetting.WEBHOOK}: alerts go to one address"
        yield Fault(file, f"guard.{GuardSetting.WEBHOOK_SECRET_ARN}", problem, shown(secret), "keep one of the two")


def _red_is_asked(file: str, path: str, tool: Table) -> Iterator[Fault]:
    level = tool.get(ToolSetting.LEVEL)
    if tool.get(ToolSetting.ZONE) == Zone.RED and level == Level.NOTIFY:
        problem, allowed = "tells people of a red tool afterwards", f"allowed: {Level.BLOCK:d}, {Level.STEER:d}"
        yield Fault(file, f"{path}.{ToolSetting.LEVEL}", problem, shown(level), allowed)


def _one_condition(file: str, path: str, rule: Table) -> Iterator[Fault]:
    stated = [key for key in _CONDITIONS if rule.get(key) is not None]
    if len(stated) != 1:
        problem = f"states {' and '.join(stated)}" if stated else "states no condition"
        yield Fault(file, path, problem, None, f"allowed: one of {', '.join(_CONDITIONS)}")


def _number(value: object) -> Decimal | None:
    # What is no number is a fault of its own.
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return Decimal(value) if Decimal(value).is_finite() else None


def _tables(value: object) -> Iterator[tuple[str, Table]]:
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        if isinstance(inner, Mapping):
            yield name, inner


def _rows(value: object) -> Iterator[tuple[int, Table]]:
    for position, inner in enumerate(value) if isinstance(value, list) else ():
        if isinstance(inner, Mapping):
            yield position, inner
