"""The `rastro` command: one door to what people use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from agent_image.contract import Regime
from console.errors import ConsoleError
from console.terminal import shown
from cost_model.cli import app as cost

app = typer.Typer(
    name="rastro",
    rich_markup_mode=None,  # help texts speak of [usage], which is no markup
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Account for AI agents: what they read, what they did, what their trail costs.",
)

State = Annotated[Path | None, typer.Option("--state", metavar="DIR", help="The laptop's state folder: .rastro.")]


@app.callback()
def rastro() -> None:
    """Keep the command a group, whatever its number of commands."""


app.add_typer(cost, name="cost", help="Price the trail before it is deployed.")


# What a command needs is imported when it runs: none of them waits for the others' packages.


@app.command(short_help="Run the agent on this machine.")
def dev(
    *,
    state: State = None,
    port: Annotated[int, typer.Option(metavar="N", help="Where to listen on 127.0.0.1; 0 for a free port.")] = 8080,
    knowledge: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Markdown and text to answer from; a sample where none is named.")
    ] = None,
    window: Annotated[int | None, typer.Option(metavar="N", help="Characters of a passage.")] = None,
    overlap: Annotated[
        int | None, typer.Option(metavar="N", help="Characters that neighbouring passages share.")
    ] = None,
    model: Annotated[
        str, typer.Option(metavar="URL", help="The model, such as ollama://localhost:11434/<name>.")
    ] = "offline:",
    capture: Annotated[Regime, typer.Option(help="What the trail holds of a passage.")] = Regime.ARCHIVE,
) -> None:
    """Run the very application of the container on this machine: own knowledge base, own trail, no AWS account."""
    from console.dev import run  # noqa: PLC0415
    from console.laptop import laptop  # noqa: PLC0415

    with _told():
        machine = laptop(state, knowledge, window=window, overlap=overlap, model=model, capture=capture)
        raise typer.Exit(run(machine, port, _write))


@app.command(short_help="Ask an agent, and see its answer with its citations.")
def ask(
    question: Annotated[str, typer.Argument(help="What to ask.")],
    *,
    state: State = None,
    environment: Annotated[
        str | None, typer.Option(metavar="ENV", help="Ask the agent deployed there instead.")
    ] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Go on with this session.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write the answer object alone.")] = False,
) -> None:
    """Ask an agent: exit status 0 completed, 3 waiting for a decision, 1 failed, 2 bad input."""
    from console import ask as asking  # noqa: PLC0415

    with _told():
        invoke = asking.agent_of(state, environment)
        raise typer.Exit(asking.ask(question, session, invoke, _write, as_json=as_json))


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except ConsoleError as error:
        typer.echo(shown(str(error)), err=True)
        raise typer.Exit(error.status) from None


def _write(text: str) -> None:
    typer.echo(text, nl=False)


def main() -> None:
    """Run the command."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that cannot show a letter is no reason to lose an answer.
        sys.stdout.reconfigure(errors="backslashreplace")
    app()


if __name__ == "__main__":
    main()
