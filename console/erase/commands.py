"""Carry out `rastro erase`: find the readers, show what would be touched, ask, erase, and own up to what stays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import typer

from console.erase.erasing import Eraser, Outcome, Plan
from console.erase.events import Erasure
from console.erase.limits import Limit, Trail, limits
from console.erase.readers import Readers, readers_in
from console.erase.showing import document, outcome_card, plan_card
from console.erase.target import Target
from console.errors import FAILURE, BadInputError, ConsoleError, told
from console.screen import Screen
from console.terminal import shown_line
from console.trace.document import scanned
from console.trace.ending import scanned as scanned_line
from console.trace.trail import Needle, Scan
from console.trace.trail import Trail as SourceTrail


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Hold what a person wants.

    Attributes:
        sessions: to be looked into beside those that the trail names.
        ask_trail: look for sessions in the trail.
    """

    target: Target
    sessions: tuple[str, ...] = ()
    reason: str = ""
    ask_trail: bool = True
    dry_run: bool = False
    yes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """Hold what the command works with.

    Attributes:
        kept: says of the trail what limits depend on.
        option: what a command has to say to mean the same agent.
        attended: tells whether somebody can be asked.
    """

    eraser: Eraser
    source: SourceTrail
    kept: Trail
    who: str
    new_id: Callable[[], str]
    screen: Screen
    option: str
    in_aws: bool
    as_json: bool = False
    attended: Callable[[], bool] = lambda: sys.stdin.isatty() and sys.stderr.isatty()

    def erase(self, wish: Wish) -> int:
        """Erase a passage; 1 where something is left that can be erased later, or readers may not be known.

        Raises:
            BadInputError: nobody can be asked, and nobody said yes.
            ConsoleError: nothing was erased; the message says why.
        """
        if not (wish.yes or wish.dry_run or self.attended()):
            message = (
                "nobody can be asked here whether to erase for good: --yes allows it, --dry-run shows what it would"
            )
            raise BadInputError(message)
        named = wish.target.fingerprint
        readers = readers_in(self.source.reading(Needle(fingerprint=named)), named) if wish.ask_trail else Readers()
        lengths = {*readers.lengths} if wish.target.length is None else {*readers.lengths, wish.target.length}
        with told():
            plan = self.eraser.look(named, (*wish.sessions, *readers.sessions), lengths)
        if wish.dry_run:
            self._show_plan(plan, readers, self.source.scan)
            return 0
        if not wish.yes:
            self._ask(plan, readers)
        with told():
            outcome = self.eraser.erase(Erasure(self.new_id(), named, self.who, wish.reason), plan)
        self._show_outcome(outcome, readers, self.source.scan)
        return 0 if outcome.done and readers.are_all else FAILURE

    def _ask(self, plan: Plan, readers: Readers) -> None:
        if not self.as_json:
            self.screen.card(plan_card(plan, self._limits(plan, readers), readers.notes))
        copies = sum(one.copies for one in plan.sessions)
        question = f"Erase {shown_line(plan.fingerprint)} for good, and {copies:,} copies of it in sessions?"
        if not typer.confirm(question, err=True):
            message = "not confirmed; nothing was erased"
            raise ConsoleError(message)

    def _show_plan(self, plan: Plan, readers: Readers, scan: Scan) -> None:
        found = self._limits(plan, readers)
        if self.as_json:
            self.screen.document(document(plan, found, readers.notes, scanned(scan)))
            return
        self.screen.card(plan_card(plan, found, readers.notes))
        self._show_scan(scan)

    def _show_outcome(self, outcome: Outcome, readers: Readers, scan: Scan) -> None:
        found = self._limits(outcome.plan, readers)
        if self.as_json:
            self.screen.document(document(outcome.plan, found, readers.notes, scanned(scan), outcome))
            return
        self.screen.card(outcome_card(outcome, found, readers, self.option))
        self._show_scan(scan)

    def _show_scan(self, scan: Scan) -> None:
        if read := scanned_line(scan):
            self.screen.line()
            self.screen.line(f"read: {read}")

    def _limits(self, plan: Plan, readers: Readers) -> tuple[Limit, ...]:
        return limits(plan, readers, self.kept, in_aws=self.in_aws)
