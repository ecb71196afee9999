"""Declare the budget of an environment: what carries its tag may cost so much in a month before people are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from stacks.framework import TerraformElement, TerraformStack, aws
from stacks.names import EnvironmentNames
from stacks.settings.alarms import Budget

_ACTUAL: Final = "ACTUAL"
_FORECASTED: Final = "FORECASTED"


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """Describe the budget; `amount` is in US dollars, shares are per cent of it."""

    names: EnvironmentNames
    amount: Decimal
    shares: Sequence[tuple[str, int]]


def plan_of(names: EnvironmentNames, declared: Budget) -> BudgetPlan | None:
    """Take the budget from the settings; None where there is none."""
    if declared.monthly_usd is None:
        return None
    actual = [(_ACTUAL, percent) for percent in sorted(set(declared.actual_percent))]
    forecast = [(_FORECASTED, percent) for percent in sorted(set(declared.forecast_percent))]
    return BudgetPlan(names, declared.monthly_usd, (*actual, *forecast))


def build(stack: TerraformStack, plan: BudgetPlan, *, topic: Any, after: Sequence[TerraformElement]) -> None:
    """Declare it; `after` is what must stand before Budgets may publish to the topic.

    What carries no tag is not counted: a model that the agent calls by an inference profile of AWS's own, and spans.
    """
    bindings = aws.budgets_budget
    bindings.BudgetsBudget(
        stack,
        "budget",
        name=plan.names.budget,
        budget_type="COST",
        time_unit="MONTHLY",
        limit_amount=f"{plan.amount:f}",
        limit_unit="USD",
        cost_filter=[
            bindings.BudgetsBudgetCostFilter(name="TagKeyValue", values=[f"user:Environment${plan.names.environment}"])
        ],
        notification=[
            bindings.BudgetsBudgetNotification(
                comparison_operator="GREATER_THAN",
                threshold=percent,
                threshold_type="PERCENTAGE",
                notification_type=kind,
                subscriber_sns_topic_arns=[topic.arn],
            )
            for kind, percent in plan.shares
        ],
        depends_on=list(after),
    )
