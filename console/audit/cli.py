"""Command line of the audit; mounted by `rastro`."""

from __future__ import annotations

from typing import Annotated

import typer

from console.options import Environment, Json, State, refusals

app = typer.Typer(
    name="audit",
    help="Verify the audit, report over it, follow it.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


# What a command needs is imported when it runs: none of them waits for the others' packages.


@app.command(short_help="Tell whether the audit is what was written, all of it.")
def verify(
    *,
    session: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A session that has to be in it; may be given several times.")
    ] = None,
    state: State = None,
    environment: Environment = None,
    as_json: Json = False,
) -> None:
    """Verify every line against its chain, and each chain against the store: exit status 1 if anything is wrong."""
    from console.audit.commands import auditor  # noqa: PLC0415

    with refusals():
        raise typer.Exit(auditor(state, environment, as_json=as_json).verify(tuple(session or ())))


@app.command(short_help="Report how agents fare.")
def report(
    *,
    run: Annotated[str | None, typer.Option(metavar="ID", help="Sum up this run alone.")] = None,
    state: State = None,
    environment: Environment = None,
    as_json: Json = False,
) -> None:
    """Report completion, cost, tokens, errors, latencies, loops and approvals, from the audit's events alone."""
    from console.audit.commands import auditor  # noqa: PLC0415

    with refusals():
        at = auditor(state, environment, as_json=as_json)
        raise typer.Exit(at.report() if run is None else at.summary(run))


@app.command(short_help="Show the last events, and those that come in.")
def tail(
    *,
    count: Annotated[int, typer.Option("-n", metavar="N", min=0, max=100_000, help="How many.")] = 10,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with those that come in.")] = False,
    state: State = None,
    environment: Environment = None,
    as_json: Json = False,
) -> None:
    """Show the last events of the audit; with --json the lines as they lie there."""
    from console.audit.commands import auditor  # noqa: PLC0415

    with refusals():
        raise typer.Exit(auditor(state, environment, as_json=as_json).tail(count, follow=follow))
