"""Command line of `rastro erase`; mounted by `rastro`."""

from __future__ import annotations

from typing import Annotated

import typer

from console.options import Environment, Json, State, refusals

CONTEXT = {"ignore_unknown_options": True}
"""A fingerprint may begin with a hyphen, as an option does."""


# What the command needs is imported when it runs: nothing else waits for its packages.


def erase(
    passage: Annotated[
        str, typer.Argument(metavar="FINGERPRINT|ADDRESS", help="The passage, as a span or rastro trace names it.")
    ],
    *,
    state: State = None,
    environment: Environment = None,
    session: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Look into this session as well; may be given again.")
    ] = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for the audit.")] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="How far to look back for readers: 7d, or a date; else as far as it goes."),
    ] = None,
    no_trail: Annotated[
        bool, typer.Option("--no-trail", help="Do not look for readers; only the sessions that are named.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be touched, and touch nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nobody: neither before the scan nor before erasing.")] = False,
    as_json: Json = False,
) -> None:
    """Erase a passage for good: from the archive, and from what is kept of every session that was reading it.

    Exit status 0: erased. 1: failed, or something is left that can be erased later. 2: bad input.
    """
    from console.approvals.wish import reason_of  # noqa: PLC0415
    from console.erase.commands import Wish  # noqa: PLC0415
    from console.erase.opening import counter_at  # noqa: PLC0415
    from console.erase.target import sessions_of, target_of  # noqa: PLC0415
    from console.where import where  # noqa: PLC0415

    with refusals():
        wish = Wish(
            target=target_of(passage),
            sessions=sessions_of(session or ()),
            reason=reason_of(reason),
            ask_trail=not no_trail,
            dry_run=dry_run,
            yes=yes,
        )
        with counter_at(where(state, environment), since, yes=yes, as_json=as_json) as counter:
            raise typer.Exit(counter.erase(wish))
