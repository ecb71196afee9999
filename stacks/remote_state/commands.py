"""Make an account's state bucket known again, and move states into it or back: the commands behind `make`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from stacks import preflight, retention
from stacks.artifact.commands import SETTINGS, Folder
from stacks.names import bootstrap_stack, place_of, state_bucket
from stacks.preflight import OperationError, Terraform
from stacks.remote_state import moving
from stacks.remote_state.checking import bootstrap_problems, bucket_exists, state_problems
from stacks.remote_state.place import RemoteState, local_file, remote_state, stacks_of
from stacks.settings.load import AccountSettings, load
from stacks.synthesised import read
from stacks.terraform import TerraformError, Workspace, version_line

_PROJECT: Final = Path()
Out = Annotated[Path, typer.Option("--out", help="Folder of the synthesised stacks.")]
Former = Annotated[str | None, typer.Option("--bucket", help="The bucket to move back from, where it was your own.")]


def check_bootstrap(account: str, settings: Folder = SETTINGS) -> None:
    """Say what keeps an account's state bucket from being made."""
    found = preflight.find_account(load(settings), account)
    problems = [*preflight.account_problems(found), *bootstrap_problems(found)]
    preflight.refuse_any([Terraform(version_line()).problem(), *problems])


def adopt_bucket(account: str, settings: Folder = SETTINGS, out: Out = Path("cdktf.out")) -> None:
    """Take a state bucket that exists into the local state of its stack, which another machine may have had."""
    found = preflight.find_account(load(settings), account)
    preflight.refuse_any(bootstrap_problems(found))
    remote = remote_state(found)
    if remote is None or not bucket_exists(remote):
        return
    name = bootstrap_stack(account)
    workspace, stack = _open(out, name)
    workspace.init()
    for address, import_id in retention.adoptable(stack, workspace.held()).items():
        _take(workspace, address, import_id)


def _take(workspace: Workspace, address: str, import_id: str) -> None:
    try:
        workspace.take(address, import_id)
    except TerraformError as error:
        # A bootstrap that stopped halfway left no such thing: it is made next.
        if "non-existent remote object" not in str(error):
            raise
        return
    typer.echo(f"adopted  {address}  {import_id}")


def move_state(account: str, settings: Folder = SETTINGS, out: Out = Path("cdktf.out"), bucket: Former = None) -> None:
    """Move the states of an account's stacks to where its file says: into the bucket, or back beside the project."""
    loaded = load(settings)
    found = preflight.find_account(loaded, account)
    preflight.refuse_any(preflight.account_problems(found))
    remote = remote_state(found)
    preflight.refuse_any(state_problems(found, (), _PROJECT))
    for stack in stacks_of(loaded, found):
        if remote is not None:
            _move_in(stack, remote)
        else:
            _move_back(stack, _former(found, bucket))
        # Terraform would find that the place has changed, stop, and ask for a migration.
        (out / "stacks" / stack / ".terraform" / "terraform.tfstate").unlink(missing_ok=True)


def _move_in(stack: str, remote: RemoteState) -> None:
    """Move a state file into the bucket, and set the file aside so that nobody goes on with it."""
    path = _PROJECT / local_file(stack)
    if not path.is_file():
        typer.echo(f"{stack}: there is no {path}, so nothing to move")
        return
    state = moving.read(path.read_text(), str(path))
    moving.Bucket(remote).write(stack, state)
    aside = path.with_name(f"{path.name}.moved")
    path.replace(aside)
    typer.echo(f"{stack}: {state.resources} resources are in s3://{remote.bucket}; {path} is set aside as {aside}")


def _move_back(stack: str, former: RemoteState) -> None:
    """Move a state out of the bucket; the object stays, as every version of it does."""
    state = moving.Bucket(former).read(stack)
    if state is None:
        typer.echo(f"{stack}: s3://{former.bucket} holds none, so nothing to move")
        return
    moving.write_file(_PROJECT / local_file(stack), state)
    typer.echo(f"{stack}: {state.resources} resources are in {local_file(stack)}; s3://{former.bucket} keeps its copy")


def _open(out: Path, name: str) -> tuple[Workspace, dict[str, Any]]:
    stack = read(out).get(name)
    if stack is None:
        message = f"{out}: holds no stack {name}; run `make synth`"
        raise OperationError(message)
    return Workspace(out / "stacks" / name), stack


def _former(account: AccountSettings, bucket: str | None) -> RemoteState:
    """Name the bucket that the account file no longer names."""
    place = place_of(account)
    return RemoteState(bucket or state_bucket(place), place.region, None, None if bucket else place.account_id)
