"""Declare resources that are newer than the bindings of the default framework, typed by hand.

The argument shapes are those of hashicorp/aws; the argument schema of the tests checks them as it checks any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from stacks.framework import TerraformElement, TerraformResource, TerraformStack


class _Resource(TerraformResource):
    """Carry arguments as they will stand in the synthesised JSON."""

    def __init__(
        self,
        scope: TerraformStack,
        id_: str,
        *,
        kind: str,
        arguments: dict[str, Any],
        **meta: Any,
    ) -> None:
        self._arguments = arguments
        super().__init__(scope, id_, terraform_resource_type=kind, **meta)

    def _synthesize_attributes(self) -> dict[str, Any]:
        return self._arguments


class XrayTraceSegmentDestination(_Resource):
    """Send the account's trace segments to CloudWatch Logs (Transaction Search).

    Activation takes AWS 10 to 15 minutes, longer than the provider waits by default.
    """

    def __init__(
        self, scope: TerraformStack, id_: str, *, destination: str, depends_on: Sequence[TerraformElement]
    ) -> None:
        """Declare the destination; `destination` is CloudWatchLogs or XRay."""
        arguments = {"destination": destination, "timeouts": {"create": "30m"}}
        super().__init__(
            scope, id_, kind="aws_xray_trace_segment_destination", arguments=arguments, depends_on=depends_on
        )


class XrayIndexingRule(_Resource):
    """Set the share of traces that X-Ray indexes as summaries, from 0 to 100 per cent."""

    def __init__(
        self,
        scope: TerraformStack,
        id_: str,
        *,
        name: str,
        desired_sampling_percentage: Decimal,
        depends_on: Sequence[TerraformElement],
    ) -> None:
        """Declare the rule; AWS knows one name, Default."""
        percentage = {"desired_sampling_percentage": json_number(desired_sampling_percentage)}
        arguments = {"name": name, "rule": [{"probabilistic": [percentage]}]}
        super().__init__(scope, id_, kind="aws_xray_indexing_rule", arguments=arguments, depends_on=depends_on)


def json_number(value: Decimal) -> int | float:
    """Convert a number for JSON: whole ones stay whole, others take the nearest float, which prints as written."""
    return int(value) if value == value.to_integral_value() else float(value)
