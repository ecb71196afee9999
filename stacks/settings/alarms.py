"""Define the tables `[alarms]`, `[sweep]` and `[budget]`: what watches an environment, and whom it tells."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from agent_image.contract import GuardSetting, Quantity
from stacks.observability.alarms import ALARMS, RUNBOOKS, AlarmRow, Comparison
from stacks.settings import types
from stacks.settings.quantity import optional, record
from stacks.settings.record import Record

SWEEP_MINUTES: Final = 15
"""Minutes between two sweeps where the file says nothing and IAM lets callers in."""
_LONGEST_SWEEP: Final = 240
_EMAILS: Final = 20
_ACTUAL: Final = 3
_FORECAST: Final = 2
"""A budget takes five notifications in all."""
_Key: Any = Literal.__getitem__(tuple(row.key for row in ALARMS))
_Percent: Any = Annotated[int, Field(ge=1, le=1_000)]


def _threshold(row: AlarmRow) -> tuple[Any, Any]:
    default = row.limit.default
    usual = f"guard.{default}" if isinstance(default, GuardSetting) else f"{default:,}"
    side = "below" if row.comparison is Comparison.UNDER else "above"
    meaning = f"{side} which: {row.title[:1].lower()}{row.title[1:]}; {usual} if left out"
    return optional(Quantity(row.key, row.limit.unit, meaning, maximum=row.limit.maximum))


_Thresholds: Any = record(
    "Thresholds",
    "What each alarm compares with, in the place of its usual number.",
    {row.key: _threshold(row) for row in ALARMS},
)
_Emails: Any = Annotated[
    list[types.Email],
    AfterValidator(types.distinct),
    Field(max_length=_EMAILS),
]


class Alarms(Record):
    """Which alarms watch the environment, from what on, and who gets mail."""

    off: Annotated[list[_Key], AfterValidator(types.distinct)] = Field(
        default=[], description="Alarms that are not declared; the metrics that only they read are not, either."
    )
    on: Annotated[list[_Key], AfterValidator(types.distinct)] = Field(
        default=[], description="Alarms that are declared although they are off by default."
    )
    emails: _Emails = Field(
        default=[], description="Addresses that the alerts topic mails; each confirms by a link that AWS sends."
    )
    runbooks: types.Page | None = Field(
        default=None,
        description="Address under which people read the page of runbooks: alarms and the dashboard link to it. Left "
        f"out, they name {RUNBOOKS}.",
    )
    thresholds: _Thresholds = Field(default=_Thresholds())


class Sweep(Record):
    """How often the agent is told to close what nobody answered and to send what waits."""

    every_minutes: types.number(0, _LONGEST_SWEEP, whole=True) | None = Field(  # type: ignore[valid-type]  # built
        default=None,
        description=f"Minutes between two scheduled sweeps, 0 for none; {SWEEP_MINUTES} if left out, and 0 with "
        "auth.type = JWT (a schedule has no token) or where role.arn is brought and role_arn here is not.",
    )
    role_arn: types.RoleArn | None = Field(
        default=None, description="Bring the schedule's role, too: none is made, outputs say its policy."
    )


class Budget(Record):
    """What the environment may cost in a month before people are told."""

    monthly_usd: types.number(1, 10**9) | None = Field(  # type: ignore[valid-type]  # built
        default=None, description="US dollars of what carries the environment's tags; left out: no budget."
    )
    actual_percent: Annotated[list[_Percent], Field(max_length=_ACTUAL)] = Field(
        default=[80, 100], description="Shares of it that are told of when they are spent."
    )
    forecast_percent: Annotated[list[_Percent], Field(max_length=_FORECAST)] = Field(
        default=[100], description="Shares of it that are told of when AWS forecasts them."
    )
