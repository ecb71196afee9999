"""Operate the stacks: list them, check before a deployment, let go of the trail before a destruction.

The Makefile calls these; `python -m stacks --help` lists them. Exit status 2: the request or the settings are at fault.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from stacks import grants, preflight, retention, synthesised
from stacks.artifact import carrying, commands, login, promote
from stacks.artifact.commands import SETTINGS, Folder
from stacks.artifact.image import MetadataError
from stacks.names import account_stack, agent_stack
from stacks.plans import commands as plans
from stacks.preflight import OperationError, Terraform, refuse_any
from stacks.remote_state import commands as remote_state
from stacks.remote_state.checking import state_problems
from stacks.remote_state.place import stacks_of as stacks_of_account
from stacks.settings import schema
from stacks.settings.fault import SettingsError
from stacks.settings.load import AccountSettings, EnvironmentSettings, Settings, load
from stacks.terraform import TerraformError, Workspace, version_line

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Operate the stacks.", pretty_exceptions_enable=False
)

Synthesised = Annotated[Path, typer.Option("--out", help="Folder of the synthesised stacks.")]
OUT = Path("cdktf.out")


@app.command("list")
def list_stacks(out: Synthesised = OUT) -> None:
    """List the synthesised stacks with the number of resources in each."""
    rows = [(name, _count(stack)) for name, stack in synthesised.read(out).items()]
    width = max((len(name) for name, _ in rows), default=0)
    for name, count in rows:
        typer.echo(f"{name:<{width}}  {count:>3} resources")


@app.command("of")
def stacks_of(environment: str, settings: Folder = SETTINGS) -> None:
    """Print the stacks that an environment needs, its account's first."""
    found = _environment(settings, environment)
    typer.echo(f"{account_stack(found.account.alias)} {agent_stack(found.name)}")


@app.command("check-terraform")
def check_terraform() -> None:
    """Say in one line if Terraform is missing or too old."""
    refuse_any([_find_terraform().problem()])


@app.command("check-environment")
def check_environment(environment: str, settings: Folder = SETTINGS) -> None:
    """Say what keeps an environment from being deployed: Terraform, account id, image."""
    loaded = load(settings)
    found = preflight.find_environment(loaded, environment)
    refuse_any([_find_terraform().problem(), *preflight.environment_problems(found)])
    _check_state(loaded, found.account)


@app.command("check-account")
def check_account(account: str, settings: Folder = SETTINGS) -> None:
    """Say what keeps an account stack from being deployed."""
    loaded = load(settings)
    found = preflight.find_account(loaded, account)
    refuse_any([_find_terraform().problem(), *preflight.account_problems(found)])
    _check_state(loaded, found)


@app.command("outputs")
def show_outputs(environment: str, settings: Folder = SETTINGS, out: Synthesised = OUT) -> None:
    """Print the outputs of a deployed environment, unwrapped, so that commands can be pasted."""
    workspace, _ = _open(environment, settings, out)
    for name, value in workspace.outputs().items():
        typer.echo(f"{name}\n    {value}")


Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command("needs")
def show_needs(environment: str, settings: Folder = SETTINGS) -> None:
    """Print what must be granted before the first deployment: policies of your own role, the key's statement."""
    found = _environment(settings, environment)
    needs = grants.needed(found)
    for grant in needs:
        typer.echo(f"{grant.to}:\n{grant.document}\n")
    if not needs:
        typer.echo(f"{environment}: nothing; the stack makes its own role, and no key of yours is used")


@app.command("release")
def release(environment: str, settings: Folder = SETTINGS, out: Synthesised = OUT, yes: Yes = False) -> None:
    """Let Terraform forget the log group of a runtime that is about to be replaced; in AWS it stays as it is."""
    workspace, stack = _open(environment, settings, out)
    kept = retention.bound_to_runtime({**retention.kept(stack), **retention.let_go(stack)})
    state = _reach(workspace)
    _announce(f"{workspace.folder.name}: {len(kept)} resources leave Terraform's state and stay in AWS", kept)
    _confirm(environment, yes=yes)
    _forget(workspace, kept, state)


@app.command("prepare-destroy")
def prepare_destroy(environment: str, settings: Folder = SETTINGS, out: Synthesised = OUT, yes: Yes = False) -> None:
    """Let Terraform forget everything that holds the trail, so that the rest can be destroyed.

    Nothing is deleted in AWS. With on_destroy = "delete" there is nothing to forget.
    """
    workspace, stack = _open(environment, settings, out)
    declared = retention.kept(stack)
    kept = {**declared, **retention.let_go(stack)}
    if not kept and (guarded := retention.still_guarded(workspace.held())):
        message = (
            f"{environment}: on_destroy says delete, but what is deployed is guarded ({', '.join(guarded)}): "
            f"run `make deploy ENV={environment}` first, so that delete holds in AWS too"
        )
        raise OperationError(message)
    state = _reach(workspace)
    if attached := retention.attached(state):
        names = ", ".join(attached)
        message = f"detach these policies from their roles first, AWS does not delete them before: {names}"
        raise OperationError(message)
    destroyed = _count(stack) - len(declared)
    _announce(f"{workspace.folder.name}: {destroyed} resources are destroyed, {len(declared)} are kept", kept)
    _confirm(environment, yes=yes)
    _forget(workspace, kept, state)


def _announce(summary: str, kept: Mapping[str, str]) -> None:
    typer.echo(summary)
    for address, why in kept.items():
        typer.echo(f"  kept  {address}: {why}")


def _confirm(environment: str, *, yes: bool) -> None:
    if not yes and typer.prompt("type the environment's name to go on") != environment:
        message = "that is not its name: nothing was done"
        raise OperationError(message)


def _reach(workspace: Workspace) -> retention.State:
    """Reach AWS before the state changes, and give what it holds now."""
    if workspace.held():
        workspace.refresh()
    return workspace.held()


def _forget(workspace: Workspace, kept: Mapping[str, str], state: retention.State) -> None:
    if held := [address for address in kept if address in state]:
        workspace.forget(held)
        typer.echo(f"{workspace.folder.name}: {len(held)} resources left Terraform's state and stay in AWS")


@app.command("adopt")
def adopt(environment: str, settings: Folder = SETTINGS, out: Synthesised = OUT) -> None:
    """Take a kept trail back into Terraform's hands, before an environment is deployed again."""
    workspace, stack = _open(environment, settings, out)
    for address, import_id in retention.adoptable(stack, workspace.held()).items():
        workspace.take(address, import_id)
        typer.echo(f"adopted  {address}  {import_id}")


app.command("check-bootstrap")(remote_state.check_bootstrap)
app.command("adopt-state-bucket")(remote_state.adopt_bucket)
app.command("move-state")(remote_state.move_state)
app.command("plan")(plans.make_plan)
app.command("apply")(plans.apply_plan)
app.command("drift")(plans.find_drift)
app.command("image")(commands.push_image)
app.command("login")(login.log_in)
app.command("carry")(carrying.carry_image)
app.command("promote")(promote.promote)
app.command("bundle")(commands.push_bundle)
app.command("zip")(commands.write_bundle)
app.command("pin")(commands.pin_base)


@app.command("schema")
def write_schemas() -> None:
    """Write the JSON Schemas of the settings files, for editors."""
    for path, text in schema.files().items():
        path.write_text(text)
        typer.echo(path)


def _check_state(settings: Settings, account: AccountSettings) -> None:
    """Ask AWS for the bucket of the state, once everything that can be told without is right."""
    refuse_any(state_problems(account, stacks_of_account(settings, account), Path()))


def _environment(folder: Path, name: str) -> EnvironmentSettings:
    return preflight.find_environment(load(folder), name)


def _open(environment: str, settings: Path, out: Path) -> tuple[Workspace, dict[str, Any]]:
    """Open the workspace of an environment's stack, and read what was synthesised for it."""
    name = agent_stack(_environment(settings, environment).name)
    refuse_any([_find_terraform().problem()])
    stack = synthesised.read(out).get(name)
    if stack is None:
        message = f"{out}: holds no stack {name}; run `make synth`"
        raise OperationError(message)
    workspace = Workspace(out / "stacks" / name)
    workspace.init()
    return workspace, stack


def _count(stack: dict[str, Any]) -> int:
    return sum(len(named) for named in stack.get("resource", {}).values())


def _find_terraform() -> Terraform:
    return Terraform(version_line())


def main() -> None:
    """Run one command, and turn every refusal into a message and exit status 2."""
    try:
        app()
    except (OperationError, SettingsError, TerraformError, MetadataError) as error:
        typer.echo(error, err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
