"""Command line of the approvals; mounted by `rastro`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_image.contract import Choice
from console.options import Environment, Json, State, refusals

app = typer.Typer(
    name="approvals",
    help="Show what waits for a person, and decide.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Id = Annotated[
    str, typer.Argument(metavar="ID", help="A checkpoint's id; of one that is open, 8 digits or more of it.")
]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="What the model is told.")]
NeededReason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="What the model is told.")]
Resume = Annotated[bool, typer.Option("--resume", help="Let the agent go on at once, and show its answer.")]


# What a command needs is imported when it runs: none of them waits for the others' packages.


@app.command("list", short_help="List what is open, what ends first first.")
def list_open(
    *,
    state: State = None,
    environment: Environment = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="How many at most.")] = 100,
    as_json: Json = False,
) -> None:
    """List every checkpoint that something is still to follow on."""
    from console.approvals.commands import counter  # noqa: PLC0415

    with refusals():
        raise typer.Exit(counter(state, environment, as_json=as_json).list_open(limit))


@app.command(short_help="Show one checkpoint, whole.")
def show(checkpoint: Id, *, state: State = None, environment: Environment = None, as_json: Json = False) -> None:
    """Show a checkpoint as its approver has to see it: the exact call, all reasons, and what was decided."""
    from console.approvals.commands import counter  # noqa: PLC0415

    with refusals():
        raise typer.Exit(counter(state, environment, as_json=as_json).show(checkpoint))


@app.command(short_help="Let the call run as it is.")
def approve(
    checkpoint: Id,
    *,
    reason: Reason = None,
    resume: Resume = False,
    state: State = None,
    environment: Environment = None,
    as_json: Json = False,
) -> None:
    """Approve a call: when the agent goes on, it runs once, with the arguments that are shown."""
    _decide(checkpoint, Choice.APPROVE, reason, resume=resume, state=state, environment=environment, as_json=as_json)


@app.command(short_help="Let the call run with other arguments.")
def edit(
    checkpoint: Id,
    *,
    arguments: Annotated[
        str, typer.Option(metavar="JSON|@FILE", help="The whole arguments, in the place of the model's.")
    ],
    reason: Reason = None,
    resume: Resume = False,
    state: State = None,
    environment: Environment = None,
    as_json: Json = False,
) -> None:
    """Approve a call with other arguments, which have to fit the tool's schema; the model is told what was changed."""
    _decide(
        checkpoint,
        Choice.EDIT,
        reason,
        resume=resume,
        state=state,
        environment=environment,
        as_json=as_json,
        arguments=arguments,
    )


@app.command(short_help="Turn the call down.")
def reject(
    checkpoint: Id,
    *,
    reason: NeededReason,
    resume: Resume = False,
    state: State = None,
    environment: Environment = None,
    as_json: Json = False,
) -> None:
    """Reject a call: it does not run, and the model is told why and goes on."""
    _decide(checkpoint, Choice.REJECT, reason, resume=resume, state=state, environment=environment, as_json=as_json)


@app.command(short_help="Turn the call down, and end the task.")
def cancel(
    checkpoint: Id,
    *,
    reason: Reason = None,
    resume: Resume = False,
    state: State = None,
    environment: Environment = None,
    as_json: Json = False,
) -> None:
    """Cancel a task: the call does not run, and the agent does nothing more for this request."""
    _decide(checkpoint, Choice.CANCEL, reason, resume=resume, state=state, environment=environment, as_json=as_json)


@app.command(short_help="Say whether a call in doubt took effect.")
def resolve(
    checkpoint: Id,
    *,
    took_effect: Annotated[bool, typer.Option("--took-effect/--no-effect", help="What you found where the tool acts.")],
    reason: NeededReason,
    resume: Resume = False,
    state: State = None,
    environment: Environment = None,
    as_json: Json = False,
) -> None:
    """Resolve a call of which nobody knows whether it took effect: it is not run again, and the model is told."""
    from console.approvals.commands import counter  # noqa: PLC0415
    from console.approvals.wish import reason_of  # noqa: PLC0415

    with refusals():
        why = reason_of(reason, required=True)
        at = counter(state, environment, as_json=as_json)
        raise typer.Exit(at.resolve(checkpoint, why, took_effect=took_effect, resume=resume))


@app.command(short_help="Let the agent go on from a checkpoint.")
def resume(checkpoint: Id, *, state: State = None, environment: Environment = None, as_json: Json = False) -> None:
    """Let the agent go on, and show its answer; the exit statuses are those of `rastro ask`."""
    from console.approvals.commands import counter  # noqa: PLC0415

    with refusals():
        raise typer.Exit(counter(state, environment, as_json=as_json).resume(checkpoint))


@app.command(short_help="Show how people fare with what waits for them.")
def stats(*, state: State = None, environment: Environment = None, as_json: Json = False) -> None:
    """Show rates of approval, edit, rejection and expiry, how long people take, and what waits, from the audit."""
    from console.audit.commands import auditor  # noqa: PLC0415

    with refusals():
        raise typer.Exit(auditor(state, environment, as_json=as_json).stats())


@app.command(short_help="Let the agent close what is over.")
def sweep(*, state: State = None, environment: Environment = None, as_json: Json = False) -> None:
    """Let the agent close what nobody answered in time, own up to what is in doubt, and send the alerts that wait."""
    from console.approvals.commands import counter  # noqa: PLC0415

    with refusals():
        raise typer.Exit(counter(state, environment, as_json=as_json).sweep())


def _decide(
    checkpoint: str,
    choice: Choice,
    reason: str | None,
    *,
    resume: bool,
    state: Path | None,
    environment: str | None,
    as_json: bool,
    arguments: str | None = None,
) -> None:
    from console.approvals.commands import counter  # noqa: PLC0415
    from console.approvals.wish import Wish, arguments_of, reason_of  # noqa: PLC0415

    with refusals():
        wish = Wish(
            choice=choice,
            reason=reason_of(reason, required=choice is Choice.REJECT),
            arguments=None if arguments is None else arguments_of(arguments),
        )
        raise typer.Exit(counter(state, environment, as_json=as_json).decide(checkpoint, wish, resume=resume))
