"""Command line of hooks; mounted by `rastro`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_image.hooks.hook import HookEvent, HookLevel
from console.errors import BadInputError
from console.options import Json, refusals

app = typer.Typer(
    name="hooks",
    help="Check hook files, and try hooks.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Level = Annotated[HookLevel, typer.Option(help="Whose hooks the file holds.")]
Agent = Annotated[str | None, typer.Option(metavar="NAME", help="The agent that a file with a name must be of.")]


# What a command needs is imported when it runs: none of them waits for the others' packages.


@app.command(short_help="Check hook files, and list their hooks.")
def check(
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE…", help="Hook files.")] = None,
    *,
    environment: Annotated[
        str | None, typer.Option(metavar="ENV", help="Check what environments/ENV.toml names, models included.")
    ] = None,
    level: Level = HookLevel.AGENT,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Check hook files as the agent does when it starts: status 2 with every fault of all of them."""
    from console.hooks.commands import check_environment, check_files  # noqa: PLC0415

    with refusals():
        if (environment is None) == (not files):
            message = "name hook files, or an environment: rastro hooks check FILE…, or --environment ENV"
            raise BadInputError(message)
        if environment is not None:
            raise typer.Exit(check_environment(environment, as_json=as_json))
        raise typer.Exit(check_files(files or (), level, agent, as_json=as_json))


@app.command("try", short_help="Run the hooks of a file once, and show what they say.")
def try_hooks(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A hook file.")],
    *,
    event: Annotated[HookEvent, typer.Option(help="When the hooks fire.")],
    context: Annotated[str, typer.Option(metavar="FILE|-", help="What the hooks read: JSON; - for standard input.")],
    level: Level = HookLevel.AGENT,
    agent: Agent = None,
    model: Annotated[
        str, typer.Option(metavar="URL", help="What asks prompt hooks; the offline model cannot judge.")
    ] = "offline:",
    as_json: Json = False,
) -> None:
    """Run the hooks that match, in order: status 0 whatever they say, 1 where one of them could not be asked."""
    from console.hooks.commands import try_file  # noqa: PLC0415

    with refusals():
        raise typer.Exit(try_file(file, event, context, level, agent, model, as_json=as_json))
