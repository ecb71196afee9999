"""Take the audit's lines: the port that chains write to, and the outlet that keeps them in the process."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, Protocol

KEPT_LINES: Final = 10_000
"""Lines that a memory outlet keeps."""

Folder = tuple[str, ...]
"""Where a chain's lines lie together, where an outlet has more than one place for them."""


class Outlet(Protocol):
    """Take a chain's lines. Both verbs raise AuditError, and nothing else."""

    at_once: bool
    """Whether each line is handed over as it comes; the others wait for a flush."""

    def write(self, lines: Sequence[bytes], *, folder: Folder, run: str, seq: int) -> None:
        """Append lines, whole; `seq` is the number of the first. After a failure the very same call may come again."""
        ...

    def sync(self) -> None:
        """Come back when all that was written is durable."""
        ...


class MemoryOutlet:
    """Keep the last lines in the process."""

    at_once = True

    def __init__(self) -> None:
        """Start with none."""
        self.lines: deque[bytes] = deque(maxlen=KEPT_LINES)

    def write(self, lines: Sequence[bytes], *, folder: Folder, run: str, seq: int) -> None:  # noqa: ARG002 - the port's
        """Append lines."""
        self.lines.extend(lines)

    def sync(self) -> None:
        """Have nothing to wait for."""
