"""Command line of `rastro trace`; mounted by `rastro`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.options import Environment, Json, State, refusals

Since = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="How far to look back: 90min, 2h, 7d, or a date, in UTC."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Run a query that reads much without asking.")]


# What the command needs is imported when it runs: nothing else waits for its packages.


def trace(
    *,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Trace this session.")] = None,
    trace_id: Annotated[
        str | None, typer.Option("--trace", metavar="ID", help="Trace the session that this trace belongs to.")
    ] = None,
    last: Annotated[
        bool, typer.Option("--last", help="Trace the session that ran last; with --state that is usual.")
    ] = False,
    answer: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Trace the session that gave this answer; - reads it from standard input."),
    ] = None,
    chunk: Annotated[
        str | None,
        typer.Option(
            metavar="FINGERPRINT|ADDRESS|URI", help="List the sessions that read this passage, or any of this source."
        ),
    ] = None,
    state: State = None,
    environment: Environment = None,
    since: Since = None,
    text: Annotated[bool, typer.Option("--text", help="Print the words of the passages, with what stands around.")] = (
        False
    ),
    no_resolve: Annotated[
        bool, typer.Option("--no-resolve", help="Show the trail alone; look up neither archive nor sources nor index.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page that stands alone, in place of the tree.")
    ] = None,
    as_json: Json = False,
    yes: Yes = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with 4 where a passage is not intact in its source, or lost.")
    ] = False,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Read sources on private and loopback addresses as well.")
    ] = False,
) -> None:
    """Lead from a session, an answer or a trace to the words that the model was reading, and from a passage back.

    Exit status: 0 shown whole; 1 failed, or nothing found; 2 bad input; 3 shown, but part of the trail could not be
    read; 4 with --strict: a passage is not intact in its source, or its words were not recovered.
    """
    from console.trace.asking import Shape, asked_of  # noqa: PLC0415
    from console.trace.opening import tracing  # noqa: PLC0415
    from console.where import where  # noqa: PLC0415

    with refusals():
        place = where(state, environment)
        shape = Shape(text=text, resolve=not no_resolve, html=html, as_json=as_json, strict=strict)
        asked = asked_of(
            session=session,
            trace=trace_id,
            last=last,
            answer=answer,
            chunk=chunk,
            in_aws=place.environment is not None,
            shape=shape,
        )
        with tracing(place, since, yes=yes, allow_private=allow_private) as tracer:
            status = tracer.trace(asked, shape)
        if asked.usual and not as_json:
            typer.echo("nothing was named: this is the session that ran last (--last)", err=True)
        raise typer.Exit(status)
