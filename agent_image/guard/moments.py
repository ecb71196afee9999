"""Write moments as text: UTC, RFC 3339, milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Tells the time, in UTC; injected, so that a test can turn it."""


def written(moment: datetime) -> str:
    """Write a moment: 2026-01-31T09:30:00.123Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
