"""List the checks, in the order in which a trail comes about."""

from __future__ import annotations

from typing import Final

from console.doctor import (
    arrival,
    caller,
    canary,
    default_traffic,
    endpoint,
    group,
    quota,
    resource_policy,
    role,
    transaction_search,
)
from console.doctor.check import Check

CHECKS: Final[tuple[Check, ...]] = (
    caller.CHECK,
    transaction_search.DESTINATION,
    transaction_search.INDEXING,
    resource_policy.CHECK,
    quota.CHECK,
    role.CHECK,
    endpoint.CHECK,
    group.GROUP,
    group.RETENTION,
    group.ENCRYPTION,
    group.MASKING,
    group.INDEX,
    arrival.CHECK,
    default_traffic.CHECK,
    canary.CHECK,
)
