"""Command line of `rastro sessions`; mounted by `rastro`."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_image.contract import Outcome, Verdict
from console.options import Environment, Json, State, refusals
from console.trace.cli import Since, Yes

# What the command needs is imported when it runs: nothing else waits for its packages.


def sessions(
    *,
    state: State = None,
    environment: Environment = None,
    since: Since = None,
    outcome: Annotated[Outcome | None, typer.Option(help="Those of which a turn ended so.")] = None,
    feedback: Annotated[Verdict | None, typer.Option(help="Those of which somebody said so.")] = None,
    guarded: Annotated[bool, typer.Option("--guarded", help="Those in which the guard did something.")] = False,
    min_cost: Annotated[
        str | None, typer.Option(metavar="USD", help="Those that cost as much at least; the unknown does not.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="How many at most.")] = 50,
    as_json: Json = False,
    yes: Yes = False,
) -> None:
    """List recent sessions, those of 24 hours where --since says nothing, with how each fared and what it cost.

    Exit status: 0 listed; 1 failed; 2 bad input; 3 listed, but part of the trail could not be read.
    """
    from console.sessions.commands import sessions as listed  # noqa: PLC0415
    from console.sessions.standing import Filter, usd  # noqa: PLC0415
    from console.where import where  # noqa: PLC0415

    with refusals():
        wanted = Filter(outcome=outcome, feedback=feedback, guarded=guarded, min_cost_usd=usd(min_cost))
        status = listed(where(state, environment), since, wanted, limit, yes=yes, as_json=as_json)
        raise typer.Exit(status)
