"""Compare the attributes of one retrieval, fingerprints included, with the least that a hash of its texts takes."""

from __future__ import annotations

import timeit
from hashlib import sha256
from typing import Final

from agent_image.contract import Regime
from agent_image.retrieval.knowledge_base import Retrieval
from agent_image.retrieval.passage import Passage
from agent_image.telemetry.retrieval_span import answered
from benchmarks.agent.workload import PASSAGES, passage

_RUNS: Final = 2_000
_REPEATS: Final = 5


def seconds() -> tuple[float, float]:
    """Give the time of our attributes, and that of `' '.join(text.split())` and SHA-256, for the same five texts."""
    texts = [passage(seed) for seed in range(PASSAGES)]

    def ours() -> None:
        # Fresh passages each time: a passage fingerprints itself once.
        found = tuple(Passage(f"s3://bucket/{n}.md", text, 0.5) for n, text in enumerate(texts))
        answered(Regime.ADDRESS, Retrieval(found, "v1"), 1)

    def least() -> None:
        for text in texts:
            sha256(" ".join(text.split()).encode()).digest()

    return _best(ours), _best(least)


def _best(run: object) -> float:
    return min(timeit.repeat(run, number=_RUNS, repeat=_REPEATS)) / _RUNS  # type: ignore[arg-type]
