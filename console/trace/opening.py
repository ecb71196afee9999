"""Put together what `rastro trace` works with: the trail of an agent, what looks its passages up, and a screen."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from console.moments import now
from console.options import write
from console.progress import Progress, progress_on_terminal
from console.screen import standard
from console.since import since_of
from console.trace.commands import Look, Tracer
from console.trace.confirming import confirming
from console.trace.display import Writer
from console.trace.plain import PlainWriter
from console.trace.reads import Finding
from console.trace.session import Session
from console.trace.trails import trail_at
from console.where import Where


@contextmanager
def tracing(where: Where, since: str | None, *, yes: bool, allow_private: bool) -> Iterator[Tracer]:
    """Open what a trace needs; progress is shown until all is gathered.

    Raises:
        BadInputError: no environment can have this name, or `since` is no time.
        ConsoleError: the environment is not found.
    """
    back = since_of(since, now())
    with ExitStack() as stack:
        progress = stack.enter_context(progress_on_terminal())
        trail = trail_at(where, since=back, confirm=confirming(yes=yes), progress=progress)
        yield Tracer(
            trail=trail,
            look=_look(where, progress, allow_private=allow_private),
            screen=standard(write),
            writer=writer(),
            place=f"the trail of {where.environment or where.state}",
            option=where.option,
            gathered=stack.close,
        )


def writer() -> Writer:
    """Open what writes trees to standard output."""
    if not sys.stdout.isatty():
        return PlainWriter(write)
    from console.trace.drawn import Drawn  # noqa: PLC0415 - rich loads for a terminal alone

    return Drawn()


def _look(where: Where, progress: Progress, *, allow_private: bool) -> Look:
    def look(session: Session, surroundings: int) -> Finding:
        # What reads documents takes longer to import than a trail takes to read.
        from console.trace.looking import finding_in  # noqa: PLC0415
        from console.trace.resolve import wanted_in  # noqa: PLC0415
        from console.trace.resolvers import resolver_for  # noqa: PLC0415

        if not (wanted := wanted_in(session)):
            return finding_in({})
        resolver = resolver_for(where, allow_private=allow_private, surroundings=surroundings, progress=progress)
        return finding_in(resolver.facts(wanted))

    return look
