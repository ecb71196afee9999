"""The `rastro` command: one door to what people use."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from agent_image.contract import Regime
from console.approvals.cli import app as approvals
from console.audit.cli import app as audit
from console.doctor.cli import doctor
from console.erase.cli import CONTEXT as ERASING
from console.erase.cli import erase
from console.hooks.cli import app as hooks
from console.options import Environment, Json, State, refusals, write
from console.sessions.cli import sessions
from console.trace.cli import trace
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
app.add_typer(approvals, name="approvals")
app.add_typer(audit, name="audit")
app.add_typer(hooks, name="hooks")
app.command("doctor", short_help="Check that an environment's trail is in force.")(doctor)
app.command("trace", short_help="Show what a session read and did, and the words; or who read a passage.")(trace)
app.command("erase", short_help="Erase a passage for good.", context_settings=ERASING)(erase)
app.command("sessions", short_help="List recent sessions: outcome, cost, guard, feedback.")(sessions)


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
    hooks: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Hooks of the whole deployment, which fire first.")
    ] = None,
    agent_hooks: Annotated[Path | None, typer.Option(metavar="FILE", help="Hooks of the agent.")] = None,
) -> None:
    """Run the very application of the container on this machine: own knowledge base, own trail, no AWS account."""
    from console.dev import run  # noqa: PLC0415
    from console.laptop import laptop  # noqa: PLC0415
    from console.laptop_hooks import laptop_hooks  # noqa: PLC0415

    with refusals():
        found = laptop_hooks(hooks, agent_hooks)
        machine = laptop(state, knowledge, window=window, overlap=overlap, model=model, capture=capture, hooks=found)
        raise typer.Exit(run(machine, port, write))


@app.command(short_help="Ask an agent, and see its answer with its citations.")
def ask(
    question: Annotated[str, typer.Argument(help="What to ask.")],
    *,
    state: State = None,
    environment: Environment = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Go on with this session.")] = None,
    as_json: Json = False,
) -> None:
    """Ask an agent: exit status 0 completed, 3 waiting for a decision, 1 failed, 2 bad input."""
    from console import ask as asking  # noqa: PLC0415
    from console.screen import standard  # noqa: PLC0415
    from console.where import where  # noqa: PLC0415

    with refusals():
        whom = where(state, environment)
        invoke, screen = asking.agent_at(whom), standard(write)
        raise typer.Exit(asking.ask(question, session, invoke, screen, as_json=as_json, option=whom.option))


@app.command(short_help="List the tools of the agent: zone, level, and why.")
def tools(*, state: State = None, environment: Environment = None, as_json: Json = False) -> None:
    """List every tool of this machine's agent with its zone, its level, its price, and what makes a call red."""
    from console.screen import standard  # noqa: PLC0415
    from console.tools import show  # noqa: PLC0415
    from console.where import where  # noqa: PLC0415

    with refusals():
        show(where(state, environment), standard(write), as_json=as_json)


def main() -> None:
    """Run the command."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that cannot show a letter is no reason to lose an answer.
        sys.stdout.reconfigure(errors="backslashreplace")
    app()


if __name__ == "__main__":
    main()
