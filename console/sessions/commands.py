"""Carry out `rastro sessions`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from console.moments import now
from console.options import write
from console.progress import progress_on_terminal
from console.screen import Screen, standard
from console.sessions import listing
from console.sessions.standing import Filter, ordered, standing
from console.since import since_of
from console.trace.building import sessions_of
from console.trace.commands import PARTIAL
from console.trace.confirming import confirming
from console.trace.display import safe
from console.trace.ending import scanned
from console.trace.missing import notes_of
from console.trace.record import Material
from console.trace.trail import Scan
from console.trace.trails import trail_at
from console.where import Where

USUAL: Final = timedelta(hours=24)
"""How far back is looked where nothing is said."""


@dataclass(frozen=True, slots=True)
class Lister:
    """Hold how a list of sessions is answered."""

    screen: Screen
    option: str
    as_json: bool = False

    def show(self, material: Material, scan: Scan, wanted: Filter, limit: int) -> int:
        """Show the sessions of a trail, the newest first; give the exit status."""
        taken = [one for session in sessions_of(material) if wanted.takes(one := standing(session))]
        found = ordered(taken)[:limit]
        more, notes = len(taken) - len(found), notes_of(material)
        if self.as_json:
            self.screen.document(listing.document(found, more, notes, scan))
        else:
            if found:
                self.screen.table(listing.table(found))
                self.screen.line()
            self.screen.line(listing.summary(found, more))
            for note in notes:
                self.screen.line(f"note: {safe(note.text)}")
            if read := scanned(scan):
                self.screen.line(f"read {read}")
            if command := listing.trace_command(found, self.option):
                self.screen.line(command)
        return PARTIAL if any(note.partial for note in notes) else 0


def sessions(where: Where, since: str | None, wanted: Filter, limit: int, *, yes: bool, as_json: bool) -> int:
    """Read the trail and show its sessions.

    Raises:
        BadInputError: no environment can have this name, or `since` is no time.
        ConsoleError: the environment is not found, or the trail cannot be read.
    """
    moment = now()
    back: datetime = since_of(since, moment) or moment - USUAL
    with ExitStack() as stack:
        progress = stack.enter_context(progress_on_terminal())
        trail = trail_at(where, since=back, confirm=confirming(yes=yes), progress=progress)
        material = trail.recent(back)
        stack.close()
        return Lister(standard(write), where.option, as_json).show(material, trail.scan, wanted, limit)
