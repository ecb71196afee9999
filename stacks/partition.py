"""Tell which AWS partition a Region belongs to: its ARNs and host names differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Partition:
    """Name a partition, as it stands in ARNs, the suffix of its host names, and the host of its console."""

    name: str
    dns_suffix: str
    console: str


_COMMERCIAL: Final = Partition("aws", "amazonaws.com", "console.aws.amazon.com")
_PARTITIONS: Final = (
    (re.compile(r"us-gov-[a-z]+-[0-9]"), Partition("aws-us-gov", "amazonaws.com", "console.amazonaws-us-gov.com")),
    (re.compile(r"cn-[a-z]+-[0-9]"), Partition("aws-cn", "amazonaws.com.cn", "console.amazonaws.cn")),
    (re.compile(r"(?:af|ap|ca|eu|il|me|mx|sa|us)-(?:north|south|east|west|central)(?:east|west)?-[0-9]"), _COMMERCIAL),
)
REGION_PATTERN: Final = "|".join(pattern.pattern for pattern, _ in _PARTITIONS)
"""Regions of the partitions that the kit knows; isolated and sovereign ones have names and suffixes of their own."""


def partition_of(region: str) -> Partition:
    """Find the partition of a Region.

    Raises:
        ValueError: the Region belongs to no partition that the kit knows.
    """
    for pattern, partition in _PARTITIONS:
        if pattern.fullmatch(region):
            return partition
    message = f"{region!r} belongs to no partition that the kit knows; allowed: {REGION_PATTERN}"
    raise ValueError(message)
