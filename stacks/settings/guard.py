"""Define the `[guard]` table from the contract's keys and quantities, which the image reads by the same names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import GenericAlias
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from agent_image.contract import (
    GUARD_NUMBERS,
    PRICE_NUMBERS,
    RULE_NUMBERS,
    TOOL_NUMBERS,
    GuardSetting,
    Level,
    PriceSetting,
    RuleSetting,
    ToolSetting,
    Zone,
)
from stacks.settings import types
from stacks.settings.quantity import field, optional, record, unit_first

_Zone: Any = Literal.__getitem__(tuple(map(str, Zone)))
_Level: Any = Literal.__getitem__(tuple(map(int, Level)))
_APPROVAL: Final = next(number for number in GUARD_NUMBERS if number.key == GuardSetting.APPROVAL_MINUTES)


def _optional(kind: Any, description: str) -> tuple[Any, Any]:
    return kind | None, Field(default=None, description=description)


def _list(kind: Any, description: str) -> tuple[Any, Any]:
    return GenericAlias(list, (kind,)), Field(default=[], description=description)


def _table(key: Any, kind: Any, description: str) -> tuple[Any, Any]:
    return GenericAlias(dict, (key, kind)), Field(default={}, description=description)


_Rule = record(
    "RedRule",
    "A call is red when this argument says so, or is not there.",
    {
        RuleSetting.ARGUMENT: (types.ArgumentPath, Field(description="Path of the argument, such as order.amount.")),
        **{number.key: optional(number, unit_first) for number in RULE_NUMBERS},
        RuleSetting.EQUALS: _optional(types.Scalar, "Red at this value."),
        RuleSetting.OUTSIDE: _optional(
            Annotated[GenericAlias(list, (types.Scalar,)), Field(min_length=1)], "Red at any value but these."
        ),
    },
)
_TOOL_FIELDS: Final[Mapping[str, Any]] = {
    ToolSetting.ZONE: _optional(_Zone, "What the tool may do alone: run, run under the budget, or wait for a person."),
    ToolSetting.LEVEL: (
        Annotated[_Level | None, BeforeValidator(types.whole)],
        Field(default=None, description="1 tells people afterwards, 2 asks them, 3 lets them change the call."),
    ),
    ToolSetting.RED_WHEN: _list(_Rule, "Arguments that make a call red, whatever the zone."),
    ToolSetting.POLL: _optional(bool, "Whether it may answer the same many times and be in no loop."),
    ToolSetting.VOLATILE: _list(types.NonEmpty, "Arguments that do not make a call another one, such as a nonce."),
    ToolSetting.NOTIFY: _optional(bool, "Whether somebody is told of each call."),
    ToolSetting.REASON: _optional(types.NonEmpty, "Why it may do more than its code says; else settings only tighten."),
    # What is left out stays as the code says it.
    **{number.key: optional(number, unit_first) for number in TOOL_NUMBERS},
}
_Tool = record(
    "ToolSettings",
    "What one tool may do, over what its code says.",
    {key: _TOOL_FIELDS[key] for key in ToolSetting},
)
_Price = record(
    "ModelPrice",
    "What a model costs, where the price list lacks it or has it wrong.",
    {
        **{number.key: field(number, unit_first) for number in PRICE_NUMBERS},
        PriceSetting.SOURCE: (types.NonEmpty, Field(description="Where the price stands.")),
        PriceSetting.DATE: (types.Day, Field(description="The day of the price.")),
    },
)
_ByZone = record(
    "MinutesByZone",
    "Minutes until an unanswered checkpoint expires, by the tool's zone; they go before approval_minutes.",
    {
        zone: optional(replace(_APPROVAL, meaning=f"in the place of {_APPROVAL.key}, for a {zone} tool"), unit_first)
        for zone in Zone
    },
)
_GUARD_FIELDS: Final[Mapping[str, Any]] = {
    **{number.key: field(number, unit_first) for number in GUARD_NUMBERS},
    GuardSetting.APPROVAL_MINUTES_BY_ZONE: (_ByZone, Field(default=_ByZone())),
    GuardSetting.WEBHOOK: _optional(types.Webhook, "Address that alerts are posted to."),
    GuardSetting.WEBHOOK_SECRET_ARN: _optional(types.SecretArn, "The secret that holds that address, where it is one."),
    GuardSetting.TOOLS: _table(types.ToolName, _Tool, "Tools by their names."),
    GuardSetting.PRICES: _table(types.ModelName, _Price, "Models by the ids or ARNs that the agent calls."),
}
Guard = record(
    "Guard",
    "What a session may spend before it asks or stops, what each tool may do, and how people are told.",
    {key: _GUARD_FIELDS[key] for key in GuardSetting},
)
