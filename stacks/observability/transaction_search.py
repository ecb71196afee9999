"""Build the account's Transaction Search: X-Ray's right to write spans, their destination, and what is indexed.

These are singletons of an account and Region. They stand in the account stack alone, so that no two environments fight.
"""

from __future__ import annotations

from decimal import Decimal

from stacks.bindings import XrayIndexingRule, XrayTraceSegmentDestination
from stacks.framework import TerraformResourceLifecycle, TerraformStack, aws
from stacks.names import Place
from stacks.policies import xray
from stacks.policies.statement import rendered


def build(stack: TerraformStack, *, place: Place, indexing_percentage: Decimal) -> None:
    """Declare the three parts in the order in which they work."""
    policy = aws.cloudwatch_log_resource_policy.CloudwatchLogResourcePolicy(
        stack,
        "xray-writes-spans",
        policy_name=xray.POLICY_NAME,
        policy_document=rendered(xray.statements(place)),
        # Without it every span of the account and Region is lost, and no error says so.
        lifecycle=TerraformResourceLifecycle(prevent_destroy=True),
    )
    destination = XrayTraceSegmentDestination(
        stack, "trace-destination", destination="CloudWatchLogs", depends_on=[policy]
    )
    XrayIndexingRule(
        stack,
        "indexing",
        name="Default",
        desired_sampling_percentage=indexing_percentage,
        depends_on=[destination],
    )
