"""Check that nobody calls the endpoint that the service makes by itself."""

from __future__ import annotations

from typing import Final

from console.doctor.account import Account, Failed
from console.doctor.check import Check, Result, could_not, fault, ok
from console.doctor.command import aws
from console.doctor.declared import DEFAULT_ENDPOINT, Declared

DAYS: Final = 7
"""Days that are looked back on."""
_DAYS_THERE: Final = 30
"""What to keep them for where nothing says how long."""
METRICS: Final = ("IncomingLogEvents", "IncomingBytes")
"""What CloudWatch Logs counts of a group (AWS/Logs)."""


def judge(declared: Declared, account: Account) -> Result:
    """Look whether anything was written to that endpoint's group."""
    if isinstance(account.traffic, Failed):
        return could_not(account.traffic)
    events, size = (account.traffic.get(metric, 0.0) for metric in METRICS)
    if not events and not size:
        return ok(f"nothing was written to the group of {DEFAULT_ENDPOINT} in {DAYS} days")
    return fault(
        f"somebody calls the endpoint {DEFAULT_ENDPOINT}: its group is neither masked nor kept as declared",
        found=(f"{events:,.0f} events, {size:,.0f} bytes in {DAYS} days in {declared.default_group}",),
        wanted=("nothing",),
        mend=(
            f"callers say --qualifier {declared.endpoint}: one that names no endpoint calls {DEFAULT_ENDPOINT}",
            "with IAM credentials: attach the policy `invoker`, which denies DEFAULT, and take wider rights away",
            "with tokens: IAM does not hold them; tell whoever owns the client",
            "CloudTrail's data events of InvokeAgentRuntime name who called",
            "what lies in that group is kept for ever: give it a retention",
        ),
        commands=(
            aws(
                declared,
                "logs",
                "put-retention-policy",
                log_group_name=declared.default_group,
                retention_in_days=declared.retention_days or _DAYS_THERE,
            ),
        ),
    )


CHECK: Final = Check(
    name="default-traffic",
    looks_at=f"events and bytes that came into the group of the endpoint `{DEFAULT_ENDPOINT}` in {DAYS} days",
    why="That endpoint exists beside `live`; its group is the service's own: no mask, no retention, no index.",
    run=judge,
)
