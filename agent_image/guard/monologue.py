"""Find a model that says nearly the same again and again, and calls nothing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final

from agent_image.guard.findings import Anomaly, Finding, Observed, Remedy, Sketch, rung

TEXTS: Final = 3
"""So many near-equal texts, one after the other, are a monologue."""
NEAR: Final = 0.8
"""The share of their pieces that near-equal texts have in common."""
SKETCH_SIZE: Final = 32
"""Pieces that a sketch keeps: the least by their hashes, which is a fair sample of any two texts at once."""
READ: Final = 20_000
"""Characters of a text that are looked at."""
_PIECE: Final = 5
_LADDER: Final = (Remedy.NUDGE, Remedy.STOP)
_NUMBER: Final = re.compile(r"\d+")


def sketch(text: str) -> Sketch:
    """Sketch a text: the least hashes of its pieces of five characters; case, spaces and numbers do not count."""
    folded = unicodedata.normalize("NFKC", text[:READ]).casefold()
    settled = _NUMBER.sub("0", " ".join(folded.split())).encode("utf-8", "replace").decode()
    pieces = {settled[start : start + _PIECE] for start in range(max(1, len(settled) - _PIECE + 1))} - {""}
    hashes = {int.from_bytes(blake2b(piece.encode(), digest_size=4).digest(), "big") for piece in pieces}
    return tuple(sorted(hashes)[:SKETCH_SIZE])


def near(one: Sketch, other: Sketch) -> bool:
    """Tell whether two texts say nearly the same: the share of a sample of both that is in each."""
    sample = sorted({*one, *other})[:SKETCH_SIZE]
    return len(set(sample) & set(one) & set(other)) >= NEAR * len(sample)


@dataclass(frozen=True, slots=True)
class Monologue:
    """Hold how often the last text was said, and how far the remedy went."""

    last: Sketch | None = None
    times: int = 0
    rung: int = 0

    def observed(self, step: Observed) -> tuple[Monologue, tuple[Finding, ...]]:
        """Look at one step; one with calls is no part of a monologue."""
        if step.calls:
            return replace(self, last=None, times=0), ()
        repeats = self.last is not None and near(self.last, step.text)
        times = min(self.times + 1, TEXTS) if repeats else 1
        heard = replace(self, last=step.text, times=times)
        if times < TEXTS:
            return heard, ()
        reached = min(self.rung + 1, len(_LADDER))
        finding = rung(Anomaly.MONOLOGUE, _LADDER[reached - 1], {"texts": TEXTS})
        return replace(heard, rung=reached), (finding,)
