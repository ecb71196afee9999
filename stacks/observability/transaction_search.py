"""Build the account's Transaction Search: X-Ray's right to write spans, their destination, and what is indexed.

These are singletons of an account and Region. They stand in the account stack alone, so that no two environments fight.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from stacks.bindings import XrayIndexingRule, XrayTraceSegmentDestination
from stacks.framework import TerraformResourceLifecycle, TerraformStack, aws
from stacks.names import Place
from stacks.policies import xray
from stacks.policies.statement import rendered

_POLICY: Final = "xray-writes-spans"
_DESTINATION: Final = "trace-destination"
_INDEXING: Final = "indexing"
ADDRESSES: Final = (
    f"aws_cloudwatch_log_resource_policy.{_POLICY}",
    f"aws_xray_trace_segment_destination.{_DESTINATION}",
    f"aws_xray_indexing_rule.{_INDEXING}",
)
"""What an account hands over, untouched, when somebody else begins to manage Transaction Search."""


def build(stack: TerraformStack, *, place: Place, indexing_percentage: Decimal) -> None:
    """Declare the three parts in the order in which they work."""
    policy = aws.cloudwatch_log_resource_policy.CloudwatchLogResourcePolicy(
        stack,
        _POLICY,
        policy_name=xray.POLICY_NAME,
        policy_document=rendered(xray.statements(place)),
        # Without it every span of the account and Region is lost, and no error says so.
        lifecycle=TerraformResourceLifecycle(prevent_destroy=True),
    )
    destination = XrayTraceSegmentDestination(stack, _DESTINATION, destination="CloudWatchLogs", depends_on=[policy])
    XrayIndexingRule(
        stack,
        _INDEXING,
        name="Default",
        desired_sampling_percentage=indexing_percentage,
        depends_on=[destination],
    )
