"""Let X-Ray write spans into log groups: the account's one resource policy for Transaction Search."""

from __future__ import annotations

from typing import Final

from agent_image.contract import RUNTIME_LOG_GROUPS
from stacks.names import Place
from stacks.policies.statement import Condition, Statement

POLICY_NAME: Final = "rastro-transaction-search"


def statements(place: Place) -> tuple[Statement, ...]:
    """Grant X-Ray, on behalf of this account alone, the groups that spans are delivered to.

    The source is an ARN of X-Ray: with one of CloudWatch Logs, X-Ray is never authorised and every span is lost.
    """
    return (
        Statement(
            sid="TransactionSearchXRayAccess",
            why="X-Ray delivers spans to aws/spans, to Application Signals and to each agent's own log group.",
            service="xray.amazonaws.com",
            actions=("logs:PutLogEvents", "logs:CreateLogStream"),
            resources=(
                place.log_groups("aws/spans:*"),
                place.log_groups("/aws/application-signals/data:*"),
                place.log_groups(f"{RUNTIME_LOG_GROUPS}*"),
            ),
            conditions=(
                Condition("ArnLike", "aws:SourceArn", (place.arn("xray", "*"),)),
                Condition("StringEquals", "aws:SourceAccount", (place.account_id,)),
            ),
        ),
    )
