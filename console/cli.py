"""The `rastro` command: one door to what people use."""

from __future__ import annotations

import typer

from cost_model.cli import app as cost

app = typer.Typer(
    name="rastro",
    rich_markup_mode=None,  # help texts speak of [usage], which is no markup
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Account for AI agents: what they read, what they did, what their trail costs.",
)


@app.callback()
def rastro() -> None:
    """Keep the command a group, whatever its number of commands."""


app.add_typer(cost, name="cost", help="Price the trail before it is deployed.")


def main() -> None:
    """Run the command."""
    app()


if __name__ == "__main__":
    main()
