"""Build what the runtime runs, store it, and write into the settings which one: the commands behind `make`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Final

import typer

from stacks import preflight
from stacks.artifact import bundle, image
from stacks.artifact.reference import with_reference
from stacks.names import BUNDLE_KEY, bundle_bucket, names_of
from stacks.preflight import OperationError
from stacks.settings.load import EnvironmentSettings, load

Folder = Annotated[Path, typer.Option("--settings", help="Folder of the settings files.")]
SETTINGS: Final = Path("environments")
_CODE: Final = Path("agent_image")
_NO_DOCKER: Final = "docker is not on PATH: install Docker with Buildx"


def push_image(environment: str, tag: str, settings: Folder = SETTINGS) -> None:
    """Build the agent's image, push it under a tag, and write its digest into the environment file."""
    found = preflight.find_environment(load(settings), environment)
    docker = None if shutil.which("docker") else _NO_DOCKER
    problems = [*preflight.account_problems(found.account), *preflight.artifact_problems(found, "image")]
    preflight.refuse_any([docker, _missing("Dockerfile", "no image to build"), *problems])
    repository_url = names_of(found).repository_url
    with tempfile.TemporaryDirectory() as folder:
        metadata = Path(folder) / "metadata.json"
        command = image.build_command(context=_CODE, repository_url=repository_url, tag=tag, metadata=metadata)
        _run(command, "the environment file is as it was")
        digest = image.pushed_digest(metadata.read_text())
    path = settings / found.source.file
    path.write_text(with_reference(path.read_text(), "image", digest))
    typer.echo(f"{path}: agent.image = {digest}")


def push_bundle(environment: str, settings: Folder = SETTINGS) -> None:
    """Build the bundle of direct code deployment, store it, and write its version into the environment file."""
    found = preflight.find_environment(load(settings), environment)
    problems = [*preflight.account_problems(found.account), *preflight.artifact_problems(found, "code")]
    preflight.refuse_any([_missing("requirements.lock", "no bundle to build"), *problems])
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / BUNDLE_KEY
        typer.echo(f"{BUNDLE_KEY}: {_pack(packed)}")
        version = _store(packed, found)
    path = settings / found.source.file
    path.write_text(with_reference(path.read_text(), "bundle", version))
    typer.echo(f"{path}: agent.bundle = {version}")


def write_bundle(out: Path) -> None:
    """Build the bundle and store it nowhere: needs no account."""
    preflight.refuse_any([_missing("requirements.lock", "no bundle to build")])
    out.parent.mkdir(parents=True, exist_ok=True)
    typer.echo(f"{out}: {_pack(out)}")


def pin_base() -> None:
    """Write into the Dockerfile which image its base's tag stands for today."""
    docker = None if shutil.which("docker") else _NO_DOCKER
    preflight.refuse_any([docker, _missing("Dockerfile", "no base to pin")])
    path = _CODE / "Dockerfile"
    tag = image.base_tag(path.read_text())
    answer = subprocess.run(image.inspect_command(tag), capture_output=True, text=True, check=False)
    if answer.returncode:
        message = f"{path} is as it was: no registry said what {tag} stands for:\n{answer.stderr.strip()}"
        raise OperationError(message)
    digest = image.base_digest(tag, answer.stdout)
    path.write_text(image.pinned(path.read_text(), digest))
    typer.echo(f"{path}: {tag} = {digest}")


def _missing(file: str, so: str) -> str | None:
    return None if (_CODE / file).is_file() else f"{_CODE}/{file}: there is none, so {so}"


def _run(command: list[str], stands: str) -> None:
    if subprocess.run(command, check=False).returncode:
        message = f"{' '.join(command[:3])} failed; {stands}"
        raise OperationError(message)


def _pack(out: Path) -> bundle.Sizes:
    """Install the packages for the runtime into a folder that is thrown away, and pack them with the code."""
    with tempfile.TemporaryDirectory() as folder:
        needed, packages = Path(folder) / "requirements.txt", Path(folder) / "packages"
        needed.write_text(bundle.requirements((_CODE / "requirements.lock").read_text()))
        _run(bundle.install_command(sys.executable, requirements_file=needed, folder=packages), "there is no bundle")
        sizes = bundle.pack(packages=packages, code=_CODE, out=out)
    if problems := list(sizes.problems()):
        out.unlink()
        raise OperationError("\n".join(problems))
    return sizes


def _store(packed: Path, environment: EnvironmentSettings) -> str:
    """Put the bundle into the account's bucket, which keeps every version, and give the version it got."""
    # Only here: boto3 takes longer to import than the other commands take to run.
    import boto3  # noqa: PLC0415 - see above
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - see above

    place = names_of(environment).place
    bucket = bundle_bucket(place)
    try:
        with packed.open("rb") as body:
            answer = boto3.client("s3", region_name=place.region).put_object(
                Bucket=bucket, Key=BUNDLE_KEY, Body=body, ExpectedBucketOwner=place.account_id
            )
    except (BotoCoreError, ClientError) as error:
        message = f"s3://{bucket}/{BUNDLE_KEY}: {error}; the environment file is as it was"
        raise OperationError(message) from error
    version = answer.get("VersionId", "null")
    if version == "null":
        message = f"s3://{bucket}: keeps no versions; `make deploy-account ACCOUNT={environment.account.alias}` first"
        raise OperationError(message)
    return str(version)
