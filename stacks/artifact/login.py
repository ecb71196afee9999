"""Let Docker into the image repository of an environment's account, with the AWS credentials that are there."""

from __future__ import annotations

import base64
import shutil
import subprocess

import typer

from stacks import preflight
from stacks.artifact.commands import SETTINGS, Folder
from stacks.names import Place, place_of
from stacks.preflight import OperationError
from stacks.settings.load import load


def log_in(environment: str, settings: Folder = SETTINGS) -> None:
    """Let Docker push to the registry of an environment's account, for twelve hours."""
    found = preflight.find_environment(load(settings), environment)
    docker = None if shutil.which("docker") else "docker is not on PATH: install Docker with Buildx"
    preflight.refuse_any([docker, *preflight.account_problems(found.account)])
    place = place_of(found.account)
    user, password = _credentials(place)
    # Over standard input: arguments are for every process of the machine to read.
    command = ["docker", "login", "--username", user, "--password-stdin", place.registry]
    if subprocess.run(command, input=password, text=True, check=False).returncode:  # noqa: S603 - a command of our own
        message = f"docker login failed at {place.registry}"
        raise OperationError(message)
    typer.echo(f"{place.registry}: Docker may push")


def _credentials(place: Place) -> tuple[str, str]:
    """Ask ECR for a user and a password; raises OperationError where AWS gives none."""
    # Only here: boto3 takes longer to import than the other commands take to run.
    import boto3  # noqa: PLC0415 - see above
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - see above

    try:
        answer = boto3.client("ecr", region_name=place.region).get_authorization_token()
        token = base64.b64decode(answer["authorizationData"][0]["authorizationToken"]).decode()
    except (BotoCoreError, ClientError) as error:
        message = f"account {place.account_id}: ECR let nobody in: {error}"
        raise OperationError(message) from error
    user, _, password = token.partition(":")
    return user, password
