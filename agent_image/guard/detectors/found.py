"""Say what was found in a text, and where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """Name what stands for itself no longer; of two that overlap, the first named is shown."""

    PRIVATE_KEY = "PRIVATE_KEY"
    JWT = "JWT"
    KEY = "KEY"
    BEARER = "BEARER"
    SECRET = "SECRET"  # noqa: S105 - the name of a kind
    CARD = "CARD"
    CPF = "CPF"
    CNPJ = "CNPJ"
    NIK = "NIK"
    EMAIL = "EMAIL"
    PHONE = "PHONE"


_RANK: Final = {kind: rank for rank, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True)
class Found:
    """Hold a span of a text.

    Attributes:
        value: what is digested: the same thing written otherwise has the same value.
    """

    start: int
    end: int
    kind: Kind
    value: str

    def joined(self, other: Found, text: str) -> Found:
        """Cover both; what one of them covers alone keeps its value."""
        first = min((self, other), key=lambda one: (_RANK[one.kind], one.start))
        start, end = min(self.start, other.start), max(self.end, other.end)
        whole = (start, end) == (first.start, first.end)
        return Found(start, end, first.kind, first.value if whole else text[start:end])
