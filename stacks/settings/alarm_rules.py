"""Check what no single value of `[alarms]`, `[sweep]` and `[budget]` can tell.

The rules read the raw tables, so that they speak even where another value of the same file is at fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stacks.observability.alarms import BY_KEY
from stacks.settings.fault import Fault, shown
from stacks.settings.rules import look_up


def alarm_faults(file: str, table: Mapping[str, Any]) -> Iterator[Fault]:
    """Check what watches an environment: no alarm is on and off, and no schedule calls where it has no token."""
    alarms = look_up(table, "alarms")
    if isinstance(alarms, Mapping):
        yield from _switches(file, alarms)
    minutes = look_up(table, "sweep.every_minutes")
    if minutes and look_up(table, "auth.type") == "JWT":
        problem = "sweeps by a schedule, which has no token of the provider that auth.type = JWT asks for"
        yield Fault(file, "sweep.every_minutes", problem, shown(minutes), "0, and let a caller with a token sweep")
    if minutes and look_up(table, "role.arn") and not look_up(table, "sweep.role_arn"):
        problem = "sweeps by a schedule, whose role would be made where role.arn says that none is"
        yield Fault(file, "sweep.every_minutes", problem, shown(minutes), "bring sweep.role_arn, or 0")
    if look_up(table, "budget.monthly_usd") is None:
        for key in ("actual_percent", "forecast_percent"):
            if look_up(table, f"budget.{key}") is not None:
                problem = "is a share of a budget, and there is none"
                yield Fault(file, f"budget.{key}", problem, None, "set budget.monthly_usd, or leave it out")


def _switches(file: str, alarms: Mapping[str, Any]) -> Iterator[Fault]:
    off, on = (_listed(alarms.get(key)) for key in ("off", "on"))
    for key in sorted(off & on):
        yield Fault(file, "alarms.on", f"names {key}, which alarms.off names too", None, "name it in one of the two")
    thresholds = alarms.get("thresholds")
    for key in thresholds if isinstance(thresholds, Mapping) else ():
        row = BY_KEY.get(key)
        if key in off or (row is not None and not row.on and key not in on):
            problem = "is the threshold of an alarm that is off"
            yield Fault(file, f"alarms.thresholds.{key}", problem, None, "switch the alarm on, or leave it out")


def _listed(value: object) -> set[str]:
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()
