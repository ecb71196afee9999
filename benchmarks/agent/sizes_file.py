"""Write what sessions were measured to leave: the one file that the cost model's defaults read."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Final

from agent_image.contract import KB_PER_SESSION_REGIMES, Regime
from benchmarks.agent.sessions import Sizes
from benchmarks.process import ROOT

PATH: Final = ROOT / "cost_model" / "data" / "session_sizes.toml"
_TENTH: Final = Decimal("0.1")
_BYTES_PER_KB: Final = 1_000


def write(sizes: Sizes, path: Path = PATH) -> None:
    """Write the file."""
    lines = [
        "# What one session of the image leaves, measured by `make bench`: one question, three model calls, two",
        "# retrievals of five passages of 3.5 KB. Bytes are those of compact JSON in the layout that CloudWatch stores.",
        "# Written by the benchmark; the cost model takes it where [usage] states no sizes.",
        f'measured = "{datetime.now(UTC).date().isoformat()}"',
        f"spans_per_session = {sizes.regimes[Regime.ADDRESS].spans}",
        "",
        "[kb_per_session]",
        *(f"{regime} = {_kilobytes(sizes.regimes[regime].bytes)}" for regime in KB_PER_SESSION_REGIMES),
        "",
    ]
    path.write_text("\n".join(lines))


def _kilobytes(count: int) -> Decimal:
    return (Decimal(count) / _BYTES_PER_KB).quantize(_TENTH)
