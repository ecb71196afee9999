"""Check that X-Ray stores spans in CloudWatch Logs, and how many of them it indexes."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from console.doctor.account import Account, Failed
from console.doctor.check import Check, Result, could_not, fault, ok, undeclared, unknown, warning
from console.doctor.command import aws, deploy, rastro
from console.doctor.declared import Declared

STORE: Final = "CloudWatchLogs"
FREE_PERCENTAGE: Final = Decimal(1)
"""Per cent of traces that X-Ray indexes free of charge."""
_RULE: Final = "Default"


def destination(declared: Declared, account: Account) -> Result:
    """Look where X-Ray stores spans, and whether it does so yet."""
    if isinstance(account.destination, Failed):
        return could_not(account.destination)
    store, status = account.destination.get("Destination"), account.destination.get("Status")
    command = aws(declared, "xray", "update-trace-segment-destination", destination=STORE)
    if store != STORE:
        return fault(
            "Transaction Search is off: spans go to X-Ray's own store, and none to the log group",
            found=(f"destination {store}",),
            wanted=(f"destination {STORE}",),
            mend=(
                "ask whoever manages Transaction Search in this account"
                if declared.manages_search is False
                else deploy(declared),
                "then wait: it takes AWS 10 to 15 minutes",
            ),
            commands=(command,),
        )
    if status == "PENDING":
        return warning(
            "Transaction Search is being switched on: until it is active, spans are refused",
            found=("status PENDING",),
            wanted=("status ACTIVE",),
            mend=("wait: it takes AWS 10 to 15 minutes; then look again",),
            commands=(rastro(declared, "doctor"),),
        )
    if status != "ACTIVE":
        return unknown(f"Transaction Search has the status {status}, which is not known here")
    return ok(f"spans go to {STORE}, and it is active")


def indexing(declared: Declared, account: Account) -> Result:
    """Compare the percentage of traces that X-Ray indexes with the declared one, and with the free one."""
    if isinstance(account.indexing, Failed):
        return could_not(account.indexing)
    found = _percentage(account)
    if found is None:
        return unknown(f"X-Ray named no indexing rule {_RULE} with a percentage")
    if declared.manages_search is None:
        return undeclared("which percentage of traces is to be indexed")
    costs = f"{found:f} % of traces are indexed" + (
        f"; over {FREE_PERCENTAGE} % has a price per span" if found > FREE_PERCENTAGE else "; that is free"
    )
    wanted = declared.indexing_percentage
    if wanted is None:
        return _of_somebody_else(found, f"{costs}; somebody else manages it")
    if found == wanted:
        return ok(f"{costs}, as declared")
    rule = f"Probabilistic={{DesiredSamplingPercentage={wanted:f}}}"
    return fault(
        costs,
        found=(f"{found:f} %",),
        wanted=(f"{wanted:f} %, as the account declares",),
        mend=(f"{deploy(declared)} sets the account's indexing_percentage again",),
        commands=(aws(declared, "xray", "update-indexing-rule", name=_RULE, rule=rule),),
    )


def _of_somebody_else(found: Decimal, says: str) -> Result:
    if found <= FREE_PERCENTAGE:
        return ok(says)
    return warning(
        says,
        found=(f"{found:f} %",),
        wanted=(f"{FREE_PERCENTAGE} %, unless somebody needs more",),
        mend=("ask who manages Transaction Search in this account",),
    )


def _percentage(account: Account) -> Decimal | None:
    if isinstance(account.indexing, Failed):
        return None
    for rule in account.indexing:
        if rule.get("Name") == _RULE:
            value = (rule.get("Rule") or {}).get("Probabilistic", {}).get("DesiredSamplingPercentage")
            # 5.0 of the wire is 5: whole numbers are written without their nought.
            return None if value is None else Decimal(str(value)).normalize()
    return None


DESTINATION: Final = Check(
    name="transaction-search",
    looks_at="where X-Ray stores spans in this account and Region",
    why="Off, or not active yet, no span reaches any log group.",
    run=destination,
    of_cloudwatch=True,
)
INDEXING: Final = Check(
    name="indexing",
    looks_at="the percentage of traces that X-Ray indexes as summaries",
    why="Over one per cent every span has a price, and no span is easier to find in the log group for it.",
    run=indexing,
    of_cloudwatch=True,
)
