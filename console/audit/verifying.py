"""Say what verification found: one line for each sign, and a sum at the end."""

from __future__ import annotations

from typing import Any, Final

from agent_image.guard.signs import NOTES, Finding, Verification
from console.terminal import shown_line

FAULT: Final = "fault"
NOTE: Final = "note"


def line(finding: Finding) -> str:
    """Write one sign as a line of words that stand apart: how grave, which, where, and of which events."""
    parts = [
        f"{_gravity(finding):<5}  {finding.sign.value:<14}",
        f"{finding.place}:{finding.number}" if finding.place else "",
        f"session {finding.session_id}" if finding.session_id else "",
        f"chain {finding.chain}" if finding.chain else "",
        _events(finding),
        f"run {finding.run}" if finding.run else "",
    ]
    return shown_line("  ".join(filter(None, parts)))


def summary(found: Verification) -> str:
    """Sum up."""
    faults, notes = len(found.faults), len(found.findings) - len(found.faults)
    what = "the audit is whole" if found.ok else "the audit is NOT what was written"
    return (
        f"{what}: {_counted(found.lines, 'line')} in {_counted(found.chains, 'chain')}, {found.anchored:,} anchored; "
        f"{_counted(faults, 'fault')}, {_counted(notes, 'note')}"
    )


def document(found: Verification) -> dict[str, Any]:
    """Write it for a program."""
    return {
        "ok": found.ok,
        "lines": found.lines,
        "chains": found.chains,
        "anchored": found.anchored,
        "findings": [
            {
                "gravity": _gravity(finding),
                "sign": finding.sign.value,
                "session_id": finding.session_id,
                "chain": finding.chain,
                "run": finding.run,
                "seq": finding.seq,
                "count": finding.count,
                "place": finding.place,
                "line": finding.number,
            }
            for finding in found.findings
        ],
    }


def _gravity(finding: Finding) -> str:
    return NOTE if finding.sign in NOTES else FAULT


def _events(finding: Finding) -> str:
    if not finding.seq:
        return ""
    return f"event {finding.seq}" if finding.count == 1 else f"events {finding.seq}-{finding.seq + finding.count - 1}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
