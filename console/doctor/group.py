"""Check that the live endpoint's log group is what was declared: kept, encrypted, masked and indexed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from console.doctor.account import Account, Failed, Found
from console.doctor.check import Check, Result, could_not, fault, ok, undeclared, unknown
from console.doctor.command import aws, deploy
from console.doctor.declared import Declared
from console.doctor.masking import judge_masking

CLASS: Final = "STANDARD"
"""The one class that has field indexes, and can be unmasked."""

Judge = Callable[[Declared, Account, Found], Result]


def _of_group(judge: Judge) -> Callable[[Declared, Account], Result]:
    """Look at the group first: where there is none, nothing else about it can be said."""

    def run(declared: Declared, account: Account) -> Result:
        group = account.group(declared.log_group)
        if isinstance(group, Failed):
            return could_not(group)
        if group is None:
            return unknown("there is no such group")
        return judge(declared, account, group)

    return run


def exists(declared: Declared, account: Account) -> Result:
    """Look for the group, and at its class."""
    group = account.group(declared.log_group)
    if isinstance(group, Failed):
        return could_not(group)
    if group is None:
        return fault(
            "the group is not there: the service makes one by itself that is neither masked nor kept as declared",
            found=("no such group",),
            wanted=(declared.log_group,),
            mend=(deploy(declared),),
        )
    if (found := group.get("logGroupClass", CLASS)) != CLASS:
        return fault(
            f"the group has the class {found}: no field index, and nobody can unmask",
            found=(str(found),),
            wanted=(CLASS,),
            mend=(f"a class cannot be changed: delete the group when its events may go, then {deploy(declared)}",),
        )
    return ok(f"{declared.log_group} is there, class {CLASS}")


def retention(declared: Declared, account: Account, group: Found) -> Result:
    """Compare how long events are kept."""
    del account
    if declared.retention_days is None:
        return undeclared("how long events are to be kept")
    found = group.get("retentionInDays")
    if found == declared.retention_days:
        return ok(f"events are kept for {found} days")
    over = f" (the account's policy {group['retentionPolicyName']} decides)" if group.get("retentionPolicyName") else ""
    return fault(
        f"events are kept for another time than was declared{over}",
        found=("for ever" if found is None else f"{found} days",),
        wanted=(f"{declared.retention_days} days",),
        mend=(deploy(declared),),
        commands=(
            aws(
                declared,
                "logs",
                "put-retention-policy",
                log_group_name=declared.log_group,
                retention_in_days=declared.retention_days,
            ),
        ),
    )


def encryption(declared: Declared, account: Account, group: Found) -> Result:
    """Compare the key."""
    del account
    if declared.kms_key_arn is None:
        return undeclared("which key encrypts the group")
    found = str(group.get("kmsKeyId") or "")
    if found == declared.kms_key_arn:
        return ok(f"encrypted with {found}" if found else "encrypted with the service's own key, as declared")
    key = declared.kms_key_arn
    command = aws(declared, "logs", "associate-kms-key", log_group_name=declared.log_group, kms_key_id=key)
    return fault(
        "the group is encrypted with another key than was declared",
        found=(found or "the service's own key",),
        wanted=(key or "the service's own key",),
        mend=(f"{deploy(declared)}; what was written before stays under its key",),
        commands=(command,) if key else (),
    )


def index(declared: Declared, account: Account, group: Found) -> Result:
    """Compare the fields that are indexed."""
    del group
    if declared.indexed_fields is None:
        return undeclared("which fields are to be indexed")
    if isinstance(account.index, Failed):
        return could_not(account.index)
    # A group's own policy stands in the place of the account's.
    own = [one for one in account.index if one.get("source") != "ACCOUNT"] or list(account.index)
    found = frozenset().union(*(_fields(one) for one in own))
    lacking = sorted(declared.indexed_fields - found)
    if not lacking:
        return ok(f"{len(declared.indexed_fields)} fields beside the free ones are indexed, as declared")
    document = json.dumps({"Fields": sorted(declared.indexed_fields)}, separators=(",", ":"))
    return fault(
        "fields that were declared are not indexed: queries on them read the whole trail",
        found=(f"indexed: {', '.join(sorted(found)) or 'none'}",),
        wanted=(f"also {', '.join(lacking)}",),
        mend=(f"{deploy(declared)}; only events after that are indexed",),
        commands=(
            aws(
                declared,
                "logs",
                "put-index-policy",
                log_group_identifier=declared.log_group,
                policy_document=document,
            ),
        ),
    )


def _fields(policy: Found) -> frozenset[str]:
    try:
        document = json.loads(str(policy.get("policyDocument", "")))
    except (ValueError, RecursionError):
        return frozenset()
    if not isinstance(document, dict):
        return frozenset()
    listed, typed = document.get("Fields"), document.get("FieldsV2")
    names = [*(listed if isinstance(listed, list) else ()), *(typed if isinstance(typed, dict) else ())]
    return frozenset(name for name in names if isinstance(name, str))


GROUP: Final = Check(
    name="group",
    looks_at="the live endpoint's log group, and its class",
    why="The trail lies there and nowhere else.",
    run=exists,
)
RETENTION: Final = Check(
    name="retention",
    looks_at="how many days the group keeps events",
    why="Too short, and an incident has no trail; for ever, and it has a price and a liability.",
    run=_of_group(retention),
)
ENCRYPTION: Final = Check(
    name="encryption",
    looks_at="the key that the group is encrypted with",
    why="Whoever may use the key decides who may read the trail.",
    run=_of_group(encryption),
)
MASKING: Final = Check(
    name="masking",
    looks_at="the group's data protection policy: its two statements and every identifier in them",
    why="An event that came while an identifier was missing is never masked for it later.",
    run=_of_group(judge_masking),
)
INDEX: Final = Check(
    name="index",
    looks_at="the fields that the group's index policy names",
    why="A query on a field without an index reads, and pays for, everything.",
    run=_of_group(index),
)
