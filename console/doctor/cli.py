"""Command line of the doctor; mounted by `rastro`."""

from __future__ import annotations

from typing import Annotated

import typer

from console.options import Environment, Json, refusals, write


def doctor(
    *,
    environment: Environment = None,
    canary: Annotated[
        bool,
        typer.Option("--canary", help="Ask the agent a question, and look for it in the trail; tokens are charged."),
    ] = False,
    first_deploy: Annotated[
        bool,
        typer.Option("--first-deploy", help="Also say what this account shows of what AWS's documents leave open."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check that an environment's trail is in force: exit status 0 all right, 1 a fault or unknown, 2 bad input."""
    from console.doctor import commands  # noqa: PLC0415 - nothing else waits for boto3
    from console.screen import standard  # noqa: PLC0415

    with refusals():
        wish = commands.Wish(as_json=as_json, canary=canary, first_deploy=first_deploy)
        raise typer.Exit(commands.doctor(environment, wish, standard(write)))
