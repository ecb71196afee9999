"""Plan, apply what was planned, and look for drift: the commands behind `make plan`, `make apply` and `make drift`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from stacks import preflight, synthesised
from stacks.artifact.commands import SETTINGS, Folder
from stacks.names import account_stack, agent_stack
from stacks.plans.changes import Change, changes_of, report
from stacks.preflight import OperationError, Terraform
from stacks.remote_state.place import remote_state
from stacks.settings.load import EnvironmentSettings, load
from stacks.terraform import Workspace, version_line

DRIFTED: Final = 3
"""Exit status: what is deployed is not what is declared."""
_PLAN: Final = "plan.tfplan"
_TEXT: Final = "plan.txt"
_OUT: Final = Path("cdktf.out")
Out = Annotated[Path, typer.Option("--out", help="Folder of the synthesised stacks.")]
Report = Annotated[Path | None, typer.Option("--report", help="Where to write what changes, if anything does.")]


def make_plan(environment: str, settings: Folder = SETTINGS, out: Out = _OUT, to: Report = None) -> None:
    """Plan the stacks of an environment and keep each plan in its stack's folder; nothing is changed."""
    _say(f"{environment}: what a deployment would change", _planned(environment, settings, out), to)


def find_drift(environment: str, settings: Folder = SETTINGS, out: Out = _OUT, to: Report = None) -> None:
    """Tell where what is deployed is not what is declared; exit status 3 where there is such a place."""
    if _say(f"{environment}: deployed and declared differ", _planned(environment, settings, out), to):
        raise typer.Exit(DRIFTED)


def apply_plan(environment: str, settings: Folder = SETTINGS, out: Out = _OUT) -> None:
    """Apply the plans that were made, and nothing else: Terraform refuses one whose state has moved on."""
    workspaces = _workspaces(environment, settings, out)
    missing = [f"{here.folder / _PLAN}: there is no plan" for here in workspaces if not (here.folder / _PLAN).is_file()]
    if missing:
        raise OperationError("\n".join([*missing, f"run `make plan ENV={environment}` first"]))
    for workspace in workspaces:
        workspace.init()
        typer.echo(workspace.apply(_PLAN))


@dataclass(frozen=True, slots=True)
class _Planned:
    """Hold what a plan of one stack would change; Terraform may see a change that it gives no name."""

    stack: str
    differs: bool
    changes: tuple[Change, ...]


def _planned(environment: str, settings: Path, out: Path) -> list[_Planned]:
    return [_plan(workspace) for workspace in _workspaces(environment, settings, out)]


def _plan(workspace: Workspace) -> _Planned:
    workspace.init()
    differs = workspace.plan(_PLAN)
    (workspace.folder / _TEXT).write_text(workspace.told(_PLAN))
    stack = workspace.folder.name
    return _Planned(stack, differs, tuple(changes_of(stack, workspace.read(_PLAN))) if differs else ())


def _say(heading: str, plans: list[_Planned], to: Path | None) -> bool:
    """Say what changes, on standard output and in the report; no report where nothing does."""
    for plan in plans:
        typer.echo(f"{plan.stack}: {len(plan.changes) or 'unnamed'} changes" if plan.differs else f"{plan.stack}: none")
    differs = any(plan.differs for plan in plans)
    text = report(heading, [change for plan in plans for change in plan.changes]) if differs else ""
    if differs:
        typer.echo(text)
    if to is not None:
        to.parent.mkdir(parents=True, exist_ok=True)
        to.unlink(missing_ok=True)
        if differs:
            to.write_text(text)
    return differs


def _workspaces(environment: str, settings: Path, out: Path) -> list[Workspace]:
    """Give the folders of an environment's stacks, the account's first, once nothing speaks against it."""
    found = preflight.find_environment(load(settings), environment)
    preflight.refuse_any(
        [Terraform(version_line()).problem(), *preflight.environment_problems(found), _local_state(found)]
    )
    stacks, names = synthesised.read(out), (account_stack(found.account.alias), agent_stack(found.name))
    preflight.refuse_any(f"{out}: holds no stack {name}; run `make synth`" for name in names if name not in stacks)
    return [Workspace(out / "stacks" / name) for name in names]


def _local_state(environment: EnvironmentSettings) -> str | None:
    """Say what is wrong with a state beside the project: another machine would plan to make everything anew."""
    account = environment.account
    if remote_state(account) is not None:
        return None
    return (
        f'environments/{account.source.file}: state.backend = "local": another machine does not have this state; '
        f'write "s3" and run `make bootstrap ACCOUNT={account.alias}` first'
    )
