"""Read what the settings say of the guard: limits, times, thresholds, and what they change about tools and prices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from agent_image.contract import (
    GUARD_NUMBERS,
    HARD_LIMIT_FACTOR,
    PRICE_NUMBERS,
    RULE_NUMBERS,
    TOOL_NUMBERS,
    GuardSetting,
    Level,
    PriceSetting,
    Quantity,
    RuleSetting,
    Setting,
    ToolSetting,
    Zone,
)
from agent_image.errors import SettingsError
from agent_image.guard.budget import Amount, Limits, nano
from agent_image.guard.document import Table
from agent_image.guard.rules import Rule, is_path

_NUMBERS: Final[Mapping[str, Quantity]] = MappingProxyType({one.key: one for one in GUARD_NUMBERS})
_TOOL_NUMBERS: Final[Mapping[str, Quantity]] = MappingProxyType({one.key: one for one in TOOL_NUMBERS})
_PRICE_NUMBERS: Final[Mapping[str, Quantity]] = MappingProxyType({one.key: one for one in PRICE_NUMBERS})
_OVER: Final = RULE_NUMBERS[0]
_LIMITS: Final = (
    (GuardSetting.BUDGET_USD, GuardSetting.LIMIT_USD),
    (GuardSetting.BUDGET_TOKENS, GuardSetting.LIMIT_TOKENS),
    (GuardSetting.BUDGET_STEPS, GuardSetting.LIMIT_STEPS),
)
_WEBHOOK_FORM: Final = "https://…, or http:// to loopback, without credentials"
_HTTPS: Final = re.compile(r"https://[^\s/?#@]+(?:[/?][^\s#]*)?")
_LOOPBACK: Final = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?(?:[/?][^\s#]*)?")
_SECRET_ARN: Final = re.compile(r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:\S+")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """Hold what the settings say of one tool; None leaves what the code says.

    Attributes:
        reason: why they may loosen it.
    """

    zone: Zone | None = None
    level: Level | None = None
    price_usd: Decimal | None = None
    red_when: tuple[Rule, ...] = ()
    poll: bool | None = None
    min_interval_seconds: int | None = None
    volatile: tuple[str, ...] = ()
    notify: bool | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """Hold what a model costs, in USD per million tokens, where that stands, and of which day it is."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None
    cache_write: Decimal | None
    source: str
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """Hold the guard's settings.

    Attributes:
        limits: of one session.
        approval_minutes: until an unanswered checkpoint expires; `approval_minutes_by_zone` goes before it.
        execute_minutes: how long an approval may wait to be carried out.
        lease_seconds: after how long a silent run loses its session.
        sweep_limit: checkpoints that one invocation closes.
        max_output_tokens_reserved: tokens of an answer that are set aside before a model is called.
        tools: what they change about tools, by name.
        prices: of models that the price list lacks or has wrong, by the model's reference.
        webhook: where alerts are posted to.
        webhook_secret_arn: the secret that holds that address.
    """

    limits: Limits
    approval_minutes: int
    approval_minutes_by_zone: Mapping[Zone, int]
    execute_minutes: int
    lease_seconds: int
    sweep_limit: int
    max_output_tokens_reserved: int
    alert_cooldown_minutes: int
    cost_per_minute_usd: Decimal
    blocked_streak: int
    error_streak: int
    tools: Mapping[str, ToolSettings]
    prices: Mapping[str, ModelPrice]
    webhook: str | None
    webhook_secret_arn: str | None

    def minutes_to_answer(self, zone: Zone) -> int:
        """Give the minutes until an unanswered checkpoint of a zone expires."""
        return self.approval_minutes_by_zone.get(zone, self.approval_minutes)


def parse_guard(document: Mapping[str, Any]) -> GuardSettings:
    """Check the guard's settings and freeze them.

    Raises:
        SettingsError: with every fault.
    """
    faults: list[str] = []
    table = Table(Setting.GUARD, document, faults)
    table.only(GuardSetting)
    settings = GuardSettings(
        limits=_limits(table),
        approval_minutes=table.whole(_NUMBERS[GuardSetting.APPROVAL_MINUTES]),
        approval_minutes_by_zone=_minutes_by_zone(table),
        execute_minutes=table.whole(_NUMBERS[GuardSetting.EXECUTE_MINUTES]),
        lease_seconds=table.whole(_NUMBERS[GuardSetting.LEASE_SECONDS]),
        sweep_limit=table.whole(_NUMBERS[GuardSetting.SWEEP_LIMIT]),
        max_output_tokens_reserved=table.whole(_NUMBERS[GuardSetting.MAX_OUTPUT_TOKENS_RESERVED]),
        alert_cooldown_minutes=table.whole(_NUMBERS[GuardSetting.ALERT_COOLDOWN_MINUTES]),
        cost_per_minute_usd=table.number(_NUMBERS[GuardSetting.COST_PER_MINUTE_USD]) or Decimal(0),
        blocked_streak=table.whole(_NUMBERS[GuardSetting.BLOCKED_STREAK]),
        error_streak=table.whole(_NUMBERS[GuardSetting.ERROR_STREAK]),
        tools=MappingProxyType({name: _tool(inner) for name, inner in table.tables(GuardSetting.TOOLS)}),
        prices=MappingProxyType({model: _price(inner) for model, inner in table.tables(GuardSetting.PRICES)}),
        webhook=table.text(GuardSetting.WEBHOOK, _WEBHOOK_FORM, _is_webhook, secret=True),
        webhook_secret_arn=table.text(GuardSetting.WEBHOOK_SECRET_ARN, "the ARN of a secret", _is_secret_arn),
    )
    if table.has(GuardSetting.WEBHOOK) and table.has(GuardSetting.WEBHOOK_SECRET_ARN):
        table.fault(GuardSetting.WEBHOOK_SECRET_ARN, None, "one of the two", problem="stands beside webhook")
    if faults:
        raise SettingsError(faults)
    return settings


def _limits(table: Table) -> Limits:
    soft, hard = {}, {}
    for budget_key, limit_key in _LIMITS:
        budget = table.number(_NUMBERS[budget_key]) or Decimal(0)
        limit = table.number(_NUMBERS[limit_key])
        if limit is not None and limit < budget:
            table.fault(limit_key, limit, f"{budget_key}, which is {budget:f}, or more")
        soft[budget_key] = budget
        hard[budget_key] = HARD_LIMIT_FACTOR * budget if limit is None else limit
    return Limits(_amount(soft), _amount(hard))


def _amount(values: Mapping[GuardSetting, Decimal]) -> Amount:
    return Amount(
        nano(values[GuardSetting.BUDGET_USD]),
        int(values[GuardSetting.BUDGET_TOKENS]),
        int(values[GuardSetting.BUDGET_STEPS]),
    )


def _minutes_by_zone(table: Table) -> Mapping[Zone, int]:
    inner = table.table(GuardSetting.APPROVAL_MINUTES_BY_ZONE)
    inner.only(Zone)
    quantity = replace(_NUMBERS[GuardSetting.APPROVAL_MINUTES], default=None)
    stated = {zone: inner.number(replace(quantity, key=zone)) for zone in Zone}
    return MappingProxyType({zone: int(minutes) for zone, minutes in stated.items() if minutes is not None})


def _tool(table: Table) -> ToolSettings:
    table.only(ToolSetting)
    zone = table.one_of(ToolSetting.ZONE, Zone)
    level = table.one_of(ToolSetting.LEVEL, Level)
    if zone is Zone.RED and level is Level.NOTIFY:
        table.fault(ToolSetting.LEVEL, int(level), "2 or 3, for a red tool is asked for before it runs")
    seconds = table.number(_TOOL_NUMBERS[ToolSetting.MIN_INTERVAL_SECONDS])
    return ToolSettings(
        zone=zone,
        level=level,
        price_usd=table.number(_TOOL_NUMBERS[ToolSetting.PRICE_USD]),
        red_when=tuple(rule for row in table.rows(ToolSetting.RED_WHEN) if (rule := _rule(row)) is not None),
        poll=table.flag(ToolSetting.POLL),
        min_interval_seconds=None if seconds is None else int(seconds),
        volatile=table.texts(ToolSetting.VOLATILE),
        notify=table.flag(ToolSetting.NOTIFY),
        reason=table.text(ToolSetting.REASON, "why the settings may loosen what the code says"),
    )


def _rule(table: Table) -> Rule | None:
    table.only(RuleSetting)
    conditions = (RuleSetting.OVER, RuleSetting.EQUALS, RuleSetting.OUTSIDE)
    stated = [key for key in conditions if table.has(key)]
    argument = table.required_text(
        RuleSetting.ARGUMENT, "the path of an argument, such as amount or to.*.address", is_path
    )
    over, equals = table.number(_OVER), table.scalar(RuleSetting.EQUALS)
    outside = table.scalars(RuleSetting.OUTSIDE)
    if len(stated) != 1:
        found = " and ".join(stated) or "no condition"
        table.fault(RuleSetting.ARGUMENT, None, f"one of {', '.join(conditions)}", problem=f"has {found}")
    # A value that was refused is a fault already.
    read = [value for value in (over, equals, outside) if value is not None]
    return Rule(argument, over, equals, outside) if argument and len(read) == len(stated) == 1 else None


def _price(table: Table) -> ModelPrice:
    table.only(PriceSetting)
    return ModelPrice(
        input=table.number(_PRICE_NUMBERS[PriceSetting.INPUT]) or Decimal(0),
        output=table.number(_PRICE_NUMBERS[PriceSetting.OUTPUT]) or Decimal(0),
        cache_read=table.number(_PRICE_NUMBERS[PriceSetting.CACHE_READ]),
        cache_write=table.number(_PRICE_NUMBERS[PriceSetting.CACHE_WRITE]),
        source=table.required_text(PriceSetting.SOURCE, "where the price stands"),
        date=table.required_text(PriceSetting.DATE, "the day of the price, such as 2026-01-31", _is_day),
    )


def _is_webhook(text: str) -> bool:
    return bool(_HTTPS.fullmatch(text) or _LOOPBACK.fullmatch(text))


def _is_secret_arn(text: str) -> bool:
    return bool(_SECRET_ARN.fullmatch(text))


def _is_day(text: str) -> bool:
    try:
        return bool(_DAY.fullmatch(text) and datetime.fromisoformat(text))
    except ValueError:
        return False
