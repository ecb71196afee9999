"""State a promise about speed or size: a ratio of two measures of one run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ratio:
    """State one promise: what is compared with what, the ratio found and the most that it may be."""

    name: str
    ratio: float
    at_most: float
    measured: str

    @property
    def holds(self) -> bool:
        """Tell whether the promise holds."""
        return self.ratio <= self.at_most
