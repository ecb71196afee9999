"""Name what verification of the audit finds: signs, each with where it is, and which of them are faults."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Sign(StrEnum):
    """Name what a reader of the audit must know of."""

    EDITED = "edited"
    MISSING = "missing"
    CUT = "cut"
    REORDERED = "reordered"
    REPEATED = "repeated"
    FORGED = "forged"
    END_UNANCHORED = "end_unanchored"
    UNANCHORED = "unanchored"
    NO_ANCHOR = "no_anchor"
    TORN = "torn"


NOTES: Final = frozenset({Sign.UNANCHORED, Sign.NO_ANCHOR, Sign.TORN})
"""Signs that a crash, or time, explains; every other one is a fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Hold one sign, where it is: the session, the number in the chain, and the line, where there is one.

    Attributes:
        chain: the session's, or a decision's.
        run: whose events they are; empty where nobody can tell.
        count: how many events it is about, from `seq` on.
    """

    sign: Sign
    session_id: str = ""
    chain: str = ""
    run: str = ""
    seq: int = 0
    count: int = 1
    place: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Verification:
    """Hold what came out: how many lines and chains there are, how many lines are anchored, and every sign."""

    lines: int
    chains: int
    anchored: int
    findings: tuple[Finding, ...]

    @property
    def faults(self) -> tuple[Finding, ...]:
        """Give the signs that neither a crash nor time explains."""
        return tuple(finding for finding in self.findings if finding.sign not in NOTES)

    @property
    def ok(self) -> bool:
        """Tell whether there are none."""
        return not self.faults
