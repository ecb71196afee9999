"""Carry out the commands about approvals: find, decide, show what came of it, and let the agent go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent_image.guard.checkpoint import Case
from console.approvals import cards, documents, listing, resuming
from console.approvals.deciding import Desk, decide, resolve
from console.approvals.desk import desk_at
from console.approvals.finding import find
from console.approvals.wish import Wish
from console.ask import agent_at
from console.errors import FAILURE, told
from console.moments import now
from console.options import write
from console.place import people_at, place_of
from console.screen import Screen, standard
from console.where import Where, where


def counter(state: Path | None, environment: str | None, *, as_json: bool) -> Counter:
    """Open the counter of what was named, at standard output.

    Raises:
        BadInputError: a folder and an environment are named.
    """
    return Counter(where(state, environment), standard(write), as_json)


@dataclass(frozen=True, slots=True)
class Counter:
    """Hold whom a command is about, and how it answers."""

    where: Where
    screen: Screen
    as_json: bool = False

    def list_open(self, limit: int) -> int:
        """List what is open; 1 where not all of it can be read.

        Raises:
            ConsoleError: the store cannot be read.
        """
        with told(), people_at(place_of(self.where)) as people:
            found = people.listed(limit + 1)
        moment, cases, more = now(), listing.ordered(found.cases[:limit]), len(found.cases) > limit
        status = FAILURE if found.unreadable else 0
        if self.as_json:
            listed = [documents.document(case, moment, self.where.option) for case in cases]
            self.screen.document({"checkpoints": listed, "more": more, "unreadable": list(found.unreadable)})
            return status
        if cases:
            self.screen.table(listing.table(cases, moment))
            self.screen.line()
        for line in listing.summary(cases, moment, more=more, unreadable=found.unreadable):
            self.screen.line(line)
        return status

    def show(self, named: str) -> int:
        """Show one checkpoint.

        Raises:
            ConsoleError: there is none, or the store cannot be read.
        """
        with told(), people_at(place_of(self.where)) as people:
            self._shown(find(people, named))
        return 0

    def decide(self, named: str, wish: Wish, *, resume: bool) -> int:
        """Decide, and show what was decided; with `resume`, let the agent go on and show its answer.

        Raises:
            ConsoleError: nothing was decided, or nothing comes of it.
        """
        return self._done(lambda desk: decide(desk, named, wish), resume=resume)

    def resolve(self, named: str, reason: str, *, took_effect: bool, resume: bool) -> int:
        """Say what became of an action in doubt, the same way.

        Raises:
            ConsoleError: nothing was resolved.
        """
        return self._done(lambda desk: resolve(desk, named, took_effect=took_effect, reason=reason), resume=resume)

    def resume(self, named: str) -> int:
        """Let the agent go on from a checkpoint.

        Raises:
            ConsoleError: there is none, or the agent was not reached.
        """
        with told(), people_at(place_of(self.where)) as people:
            case = find(people, named)
        return self._resumed(case)

    def sweep(self) -> int:
        """Let the agent close what is over.

        Raises:
            ConsoleError: the agent was not reached.
        """
        return resuming.sweep(agent_at(self.where), self.screen, as_json=self.as_json)

    def _done(self, do: Callable[[Desk], Case], *, resume: bool) -> int:
        with told(), desk_at(place_of(self.where)) as desk:
            case = do(desk)
        self._shown(case)
        return self._resumed(case) if resume else 0

    def _shown(self, case: Case) -> None:
        moment = now()
        if self.as_json:
            self.screen.document(documents.document(case, moment, self.where.option))
        else:
            self.screen.card(cards.card(case, moment, self.where.option))

    def _resumed(self, case: Case) -> int:
        invoke = agent_at(self.where)
        return resuming.resume(case.checkpoint, invoke, self.screen, self.where.option, as_json=self.as_json)
