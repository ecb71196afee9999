"""Tell whose usage type one is: it ends as a price row says, and a Region's prefix stands before that, or nothing.

`EU-DataProcessing-Bytes`, `USE1-DataProcessing-Bytes`, `CW:MetricMonitorUsage`, `EU-CW:MetricMonitorUsage`,
`eu-west-1-KMS-Keys` and `TimedStorage-ByteHrs` are of the Region. `VendedLog-DataProcessing-Bytes` and
`IA-TimedStorage-ByteHrs` are other products whose names end alike. `Global-DataScanned-Bytes` is a free tier.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

# Ireland's is EU; all others are letters, two at least, and digits. What is not (S3-, IA-, FH-) is of a product's name.
_REGION: Final = r"(?:EU|[A-Z]{2,4}[0-9]{1,2})-"
_FEATURE: Final = r"(?:CW:)?"
_GLOBAL: Final = "Global-"


class Belongs(Enum):
    """Say what a usage type is to a price row."""

    REGION = auto()
    FREE_TIER = auto()
    OTHER = auto()


def belongs(usage_type: str, suffix: str, region: str) -> Belongs:
    """Compare a usage type with a row's suffix."""
    prefix = usage_type.removesuffix(suffix)
    if prefix == usage_type:
        return Belongs.OTHER
    if prefix.startswith(_GLOBAL) and prefix.removeprefix(_GLOBAL) in {"", "CW:"}:
        return Belongs.FREE_TIER
    known = re.fullmatch(f"(?:{_REGION}|{re.escape(region)}-)?{_FEATURE}", prefix)
    return Belongs.REGION if known else Belongs.OTHER
