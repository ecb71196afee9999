"""Write what sessions were measured to leave: the one file that the cost model's defaults read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Final

from agent_image.contract import KB_PER_SESSION_REGIMES, Regime
from benchmarks.agent.sessions import Sizes
from benchmarks.agent.workload import SESSION
from cost_model.money import BYTES_PER_KB
from cost_model.session_sizes import SHIPPED

_TENTH: Final = Decimal("0.1")


def write(sizes: Sizes, measured: date, path: Path = SHIPPED) -> None:
    """Write the file."""
    lines = [
        "# What one session of the agent image leaves, measured and written by `make bench`. Bytes are those of",
        "# compact JSON in the layout that CloudWatch stores, and of event lines as they are written; a KB is 1,024 of",
        "# them. The cost model takes them where [usage] states sessions and not how much they leave.",
        f"measured = {measured.isoformat()}",
        f'session = "{SESSION}"',
        f"spans_per_session = {sizes.regimes[Regime.ADDRESS].spans}",
        "",
        "[kb_per_session]",
        *(f"{regime} = {_kilobytes(sizes.regimes[regime].export_bytes)}" for regime in KB_PER_SESSION_REGIMES),
        "",
        "[event_kb_per_session]",
        *(f"{regime} = {_kilobytes(sizes.regimes[regime].line_bytes)}" for regime in KB_PER_SESSION_REGIMES),
        "",
        *_records(sizes.records),
    ]
    path.write_text("\n".join(lines))


def _records(records: Mapping[str, Decimal]) -> Iterator[str]:
    """Write what sessions take of the table and the audit's bucket, where it was counted."""
    if records:
        yield "[records]"
        yield from (f"{key} = {count.quantize(_TENTH).normalize():f}" for key, count in records.items())
        yield ""


def _kilobytes(count: int) -> Decimal:
    return (count / BYTES_PER_KB).quantize(_TENTH)
