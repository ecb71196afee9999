"""Check that what was declared to be masked is masked, by the policy that is in force."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from console.doctor.account import Account, Failed, Found
from console.doctor.check import Result, could_not, fault, ok, undeclared, warning
from console.doctor.command import deploy
from console.doctor.declared import Declared

ACTIVE: Final = "ACTIVATED"
_OPERATIONS: Final = ("Audit", "Deidentify")
"""What the two statements of a policy do: find, and mask."""


def judge_masking(declared: Declared, account: Account, group: Found) -> Result:
    """Compare the policy's statements and identifiers with the declared ones."""
    if declared.masking is None:
        return undeclared("what is to be masked")
    if isinstance(account.masking, Failed) and not account.masking.missing:
        return could_not(account.masking)
    text = "" if isinstance(account.masking, Failed) else str(account.masking.get("policyDocument") or "")
    if not declared.masking:
        return _undeclared_mask(text) if text else ok("nothing is masked, as declared")
    if not text:
        return _unmasked(declared, "nothing is masked", ("no data protection policy",))
    if (status := group.get("dataProtectionStatus")) not in {ACTIVE, None}:
        return _unmasked(declared, "masking is not in force", (f"data protection is {status}",))
    return _compare(declared, text)


def _compare(declared: Declared, text: str) -> Result:
    wanted = declared.masking or frozenset()
    lacking = {one: sorted(wanted - _masked(text, one)) for one in _OPERATIONS}
    if any(lacking.values()):
        found = tuple(f"not in {one}: {', '.join(names)}" for one, names in lacking.items() if names)
        return _unmasked(declared, "what was declared to be masked is not", found)
    if more := sorted(_masked(text, "Deidentify") - wanted):
        return warning(
            "more is masked than was declared",
            found=(f"also masked: {', '.join(more)}",),
            wanted=(f"masked: {', '.join(sorted(wanted))}",),
            mend=(f"declare it in [observability.masking], or {deploy(declared)}",),
        )
    return ok(f"{len(wanted)} identifiers are found and masked, as declared")


def _unmasked(declared: Declared, says: str, found: tuple[str, ...]) -> Result:
    return fault(
        says,
        found=found,
        wanted=(f"masked: {', '.join(sorted(declared.masking or ()))}; data protection {ACTIVE}",),
        mend=(f"{deploy(declared)}; events that came before stay as they are",),
    )


def _undeclared_mask(text: str) -> Result:
    return warning(
        "something is masked that nobody declared",
        found=(f"masked: {', '.join(sorted(_masked(text, 'Deidentify'))) or 'unreadable'}",),
        wanted=("no data protection policy",),
        mend=("declare it in [observability.masking], or take the policy away",),
    )


def _masked(text: str, operation: str) -> frozenset[str]:
    """Name the identifiers of the statements with an operation; a managed one by the end of its ARN."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return frozenset()
    statements = document.get("Statement") if isinstance(document, dict) else None
    custom = _custom(document)
    found: set[str] = set()
    for statement in statements if isinstance(statements, list) else ():
        if not isinstance(statement, dict) or not _does(statement, operation):
            continue
        cited = statement.get("DataIdentifier")
        for one in cited if isinstance(cited, list) else ():
            name = str(one)
            # A pattern is cited by its bare name, and masks nothing where the policy does not hold it.
            if name.startswith("arn:"):
                found.add(name.rpartition("/")[2])
            elif name in custom:
                found.add(name)
    return frozenset(found)


def _does(statement: Mapping[str, Any], operation: str) -> bool:
    held = statement.get("Operation")
    if not isinstance(held, dict) or operation not in held:
        return False
    return operation != "Deidentify" or (
        isinstance(held[operation], dict) and isinstance(held[operation].get("MaskConfig"), dict)
    )


def _custom(document: object) -> frozenset[str]:
    match document:
        case {"Configuration": {"CustomDataIdentifier": list(held)}}:
            return frozenset(str(one.get("Name")) for one in held if isinstance(one, dict) and one.get("Regex"))
    return frozenset()
