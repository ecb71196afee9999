"""Carry out the commands about the audit: verify it, report over it, and follow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Final

from agent_image.guard.audit_lines import Line
from agent_image.guard.audit_s3 import parse_audit_place
from agent_image.guard.codec import encode
from agent_image.guard.metrics import report, run_summary
from agent_image.guard.verify import verify
from console.audit import anchors, lines, reporting, verifying
from console.audit.reading import lines_of, records_in, s3_client
from console.audit.tail import FileTail, S3Tail, Tail
from console.errors import FAILURE, ConsoleError, told
from console.moments import now
from console.options import write
from console.place import Place, place_of, records_of
from console.screen import Screen, standard
from console.table import Table
from console.where import Where, where

FILE_PAUSE_SECONDS: Final = 0.5
"""How long to wait before a file is looked at again."""
S3_PAUSE_SECONDS: Final = 10.0
"""How long to wait before a bucket is listed again; a listing costs."""


def auditor(state: Path | None, environment: str | None, *, as_json: bool) -> Auditor:
    """Open the audit of what was named, at standard output.

    Raises:
        BadInputError: a folder and an environment are named.
    """
    return Auditor(where(state, environment), standard(write), as_json)


@dataclass(frozen=True, slots=True)
class Auditor:
    """Hold whose audit a command is about, and how it answers."""

    where: Where
    screen: Screen
    as_json: bool = False

    def verify(self, sessions: tuple[str, ...]) -> int:
        """Verify every line against the others and against the store; `sessions` have to be in it. 1 for a fault.

        Raises:
            ConsoleError: the audit or the store cannot be read, there is no line, or nobody knows one of the sessions.
        """
        place = place_of(self.where)
        with told():
            # The store is read between two readings: what it names then is in the second, if it is anywhere.
            named = anchors.named_in(lines_of(place))
            with records_of(place) as records:
                heads = anchors.heads(records, named.sessions.union(sessions))
                decided = anchors.decided(records, named.checkpoints)
            found = verify(lines_of(place), heads, decided)
        if not found.lines and not found.findings:
            message = f"{place.audit} holds no line: there is nothing to verify"
            raise ConsoleError(message)
        if unknown := sorted(set(sessions) - named.sessions - heads.keys()):
            message = (
                f"neither the audit nor the store knows the session {', '.join(unknown)}: nothing tells what is missing"
            )
            raise ConsoleError(message)
        if self.as_json:
            self.screen.document(verifying.document(found))
        else:
            for finding in found.findings:
                self.screen.line(verifying.line(finding))
            self.screen.line(verifying.summary(found))
        return 0 if found.ok else FAILURE

    def report(self) -> int:
        """Report how agents fare, from their events.

        Raises:
            ConsoleError: the audit cannot be read.
        """
        with told():
            found = report(records_in(place_of(self.where)), now())
        if self.as_json:
            self.screen.document(encode(found))
            return 0
        self._tables(reporting.tables(found))
        return 0

    def summary(self, run: str) -> int:
        """Sum up one run.

        Raises:
            ConsoleError: the audit cannot be read, or has no event of that run.
        """
        with told():
            found = run_summary(records_in(place_of(self.where)), run)
        if not found.events:
            message = f"the audit has no event of the run {run}"
            raise ConsoleError(message)
        if self.as_json:
            self.screen.document(encode(found))
            return 0
        self._tables([reporting.summary_table(found)])
        return 0

    def stats(self) -> int:
        """Report how people fare with what waits for them.

        Raises:
            ConsoleError: the audit cannot be read.
        """
        with told():
            found = report(records_in(place_of(self.where)), now()).approvals
        if self.as_json:
            self.screen.document(encode(found))
            return 0
        self._tables(reporting.approval_tables(found))
        return 0

    def tail(self, count: int, *, follow: bool, pause: Callable[[float], object] = sleep) -> int:
        """Show the last lines and, to follow, those that come in, until a key or a signal ends it.

        Raises:
            ConsoleError: the audit cannot be read.
        """
        place = place_of(self.where)
        # A key that ends it is how following ends.
        with told(), suppress(KeyboardInterrupt), closing(_tail(place)) as tail:
            for line in tail.last(count):
                self._line(line)
            while follow:
                pause(S3_PAUSE_SECONDS if place.in_aws else FILE_PAUSE_SECONDS)
                for line in tail.new():
                    self._line(line)
        return 0

    def _line(self, line: Line) -> None:
        self.screen.line(lines.raw(line) if self.as_json else lines.shown(line))

    def _tables(self, tables: Iterable[Table]) -> None:
        for position, table in enumerate(tables):
            if position:
                self.screen.line()
            self.screen.table(table)


def _tail(place: Place) -> Tail:
    if isinstance(place.audit, Path):
        return FileTail(place.audit)
    return S3Tail(parse_audit_place(place.audit), s3_client(place))
