"""State what the agent image promises beside plain Strands and ADOT, and measure it."""

from __future__ import annotations

from datetime import UTC, datetime

from agent_image.contract import Regime
from benchmarks.agent import sizes_file
from benchmarks.agent.exported import Exported
from benchmarks.agent.fingerprints import seconds
from benchmarks.agent.sessions import TURNS, Cost, Sizes, costs, ground, sizes
from benchmarks.ratio import Ratio


def agent_ratios() -> list[Ratio]:
    """Measure, write the file of sizes, and give the ratios."""
    with ground() as on:
        print("sessions of the agent image in each regime, and of plain Strands + ADOT")
        found = sizes(on)
        for regime, left in found.regimes.items():
            print(f"  {regime:<10}  {_shown(left)}")
        print(f"  {'peer':<10}  {_shown(found.peer)}")
        sizes_file.write(found, datetime.now(UTC).date())
        print("start-up, memory and processor time of both")
        ours, peer = costs(lambda: on.ours(Regime.ADDRESS), on.peer)
    return [*_of_bytes(found), *_of_cost(ours, peer), _of_fingerprints()]


def _shown(left: Exported) -> str:
    return f"{left.spans:3} spans and {left.lines:3} lines  {left.export_bytes:9,} B and {left.line_bytes:7,} B"


def _of_bytes(found: Sizes) -> list[Ratio]:
    left = {regime: exported.bytes for regime, exported in found.regimes.items()}
    address, metadata, archive = left[Regime.ADDRESS], left[Regime.METADATA], left[Regime.ARCHIVE]
    return [
        Ratio("bytes of a session, address / metadata", address / metadata, 1.08, f"{address:,} B / {metadata:,} B"),
        Ratio("bytes of a session, archive / address", archive / address, 1.005, f"{archive:,} B / {address:,} B"),
        Ratio(
            "bytes of a session, address / plain Strands + ADOT",
            address / found.peer.bytes,
            1 / 8,
            f"{address:,} B / {found.peer.bytes:,} B",
        ),
        Ratio(
            f"bytes of {TURNS} turns of one session / {TURNS} sessions",
            found.ten_turns.bytes / (TURNS * address),
            1.05,
            f"{found.ten_turns.bytes:,} B / {TURNS} x {address:,} B",
        ),
    ]


def _of_cost(ours: Cost, peer: Cost) -> list[Ratio]:
    return [
        Ratio(
            "start-up, agent image / plain Strands + ADOT",
            ours.start_seconds / peer.start_seconds,
            1.3,
            f"{ours.start_seconds:.2f} s / {peer.start_seconds:.2f} s",
        ),
        Ratio(
            "idle memory, agent image / plain Strands + ADOT",
            ours.idle_mib / peer.idle_mib,
            1.15,
            f"{ours.idle_mib:.0f} MiB / {peer.idle_mib:.0f} MiB",
        ),
        Ratio(
            "processor time of a session, agent image / plain Strands + ADOT",
            ours.cpu_seconds / peer.cpu_seconds,
            1.3,
            f"{ours.cpu_seconds * 1000:.0f} ms / {peer.cpu_seconds * 1000:.0f} ms",
        ),
    ]


def _of_fingerprints() -> Ratio:
    ours, least = seconds()
    return Ratio(
        "attributes of a retrieval / ' '.join(text.split()) and SHA-256 of its texts",
        ours / least,
        3.0,
        f"{ours * 1e6:.0f} us / {least * 1e6:.0f} us",
    )
