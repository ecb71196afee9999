"""Hold the options that several commands have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from console.errors import ConsoleError
from console.terminal import shown

State = Annotated[Path | None, typer.Option("--state", metavar="DIR", help="The laptop's state folder: .rastro.")]
Environment = Annotated[
    str | None,
    typer.Option("--environment", metavar="ENV", help="The agent deployed there, in place of this machine's."),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON alone, for a program.")]


@contextmanager
def refusals() -> Iterator[None]:
    """Say on standard error why a command gave up, and end with the status that tells a script.

    Raises:
        Exit: it did.
    """
    try:
        yield
    except ConsoleError as error:
        typer.echo(shown(str(error)), err=True)
        raise typer.Exit(error.status) from None


def write(text: str) -> None:
    """Write text to standard output as it is, at once."""
    typer.echo(text, nl=False)
