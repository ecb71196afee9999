"""Promote what one environment runs to another: the same bytes, known by the same digest, in the other's account."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from stacks import preflight
from stacks.artifact.commands import SETTINGS, Folder
from stacks.artifact.reference import with_reference
from stacks.names import BUNDLE_KEY, REPOSITORY, Place, bundle_bucket, place_of
from stacks.preflight import PLACEHOLDER_BUNDLE, PLACEHOLDER_IMAGE, OperationError
from stacks.settings.load import EnvironmentSettings, load

Profile = Annotated[str | None, typer.Option(help="AWS profile of that side; the usual credentials if left out.")]
_KINDS: Final[dict[str, Literal["image", "bundle"]]] = {"image": "image", "code": "bundle"}


def promote(
    source: str,
    target: str,
    settings: Folder = SETTINGS,
    from_profile: Profile = None,
    to_profile: Profile = None,
) -> None:
    """Copy what an environment runs to another's account, and write which one into the other's file."""
    loaded = load(settings)
    begun, end = preflight.find_environment(loaded, source), preflight.find_environment(loaded, target)
    preflight.refuse_any([*_problems(begun, end)])
    key = _KINDS[begun.declared.agent.artifact]
    reference = str(getattr(begun.declared.agent, key))
    path = settings / end.source.file
    before = path.read_text()
    here, there = place_of(begun.account), place_of(end.account)
    if here == there:
        typer.echo(f"{source} and {target} share an account: nothing is copied")
    elif key == "image":
        _copy_image(begun, end, reference, from_profile, to_profile)
    else:
        reference = _copy_bundle(begun, end, reference, from_profile, to_profile)
    _write(path, before, with_reference(before, key, reference))
    typer.echo(f"{path}: agent.{key} = {reference}")


def _problems(source: EnvironmentSettings, target: EnvironmentSettings) -> list[str]:
    found = [*preflight.account_problems(source.account)]
    if target.account != source.account:
        found += preflight.account_problems(target.account)
    if source.name == target.name:
        found.append(f"{source.name}: is to be promoted to itself; name two environments")
    kind, other = source.declared.agent.artifact, target.declared.agent.artifact
    if kind != other:
        found.append(
            f'environments/{target.source.file}: agent.artifact = "{other}", and {source.name} runs "{kind}": '
            "make the two alike first, then promote"
        )
    key = _KINDS[kind]
    value = getattr(source.declared.agent, key)
    if value in {PLACEHOLDER_IMAGE, PLACEHOLDER_BUNDLE}:
        what = "is the placeholder"
    elif key == "image" and not str(value).startswith("sha256:"):
        what = f'= "{value}": is a tag, and what is promoted is a digest'
    else:
        return found
    found.append(
        f"environments/{source.source.file}: agent.{key}: {what}; "
        f"`make {key} ENV={source.name}` builds, stores and writes which one"
    )
    return found


def _copy_image(
    source: EnvironmentSettings,
    target: EnvironmentSettings,
    digest: str,
    from_profile: str | None,
    to_profile: str | None,
) -> None:
    # Only here: an HTTP client and boto3 take longer to import than the other commands take to run.
    from stacks.artifact.copying import copy  # noqa: PLC0415 - see above
    from stacks.artifact.registry import Repository  # noqa: PLC0415 - see above

    here, there = place_of(source.account), place_of(target.account)
    may_read = (
        f"name a profile of account {here.account_id} (FROM_PROFILE=…), or write promotes_to = "
        f'["{target.account.alias}"] into environments/{source.account.source.file} and deploy that account'
    )
    may_write = f"name a profile of account {there.account_id} that may push there (TO_PROFILE=…)"
    with (
        closing(Repository(here.registry, REPOSITORY, _token(here, from_profile), denied=may_read)) as begun,
        closing(Repository(there.registry, REPOSITORY, _token(there, to_profile), denied=may_write)) as end,
    ):
        copied = copy(begun, end, digest)
        typer.echo(f"{end.shown}: {'holds' if copied else 'held'} {digest}{'' if copied else ' already'}")


def _token(place: Place, profile: str | None) -> str:
    """Ask ECR of a Region for a token; it serves every registry there that its holder may use."""
    answer = _call(place, profile, "ecr", "get_authorization_token")
    return f"Basic {answer['authorizationData'][0]['authorizationToken']}"


def _copy_bundle(
    source: EnvironmentSettings,
    target: EnvironmentSettings,
    version: str,
    from_profile: str | None,
    to_profile: str | None,
) -> str:
    """Copy one version of the bundle, and give the version that it got: S3 draws one for each bucket."""
    here, there = place_of(source.account), place_of(target.account)
    found = {"Bucket": bundle_bucket(here), "Key": BUNDLE_KEY, "ExpectedBucketOwner": here.account_id}
    with tempfile.TemporaryFile() as file:
        answer = _call(here, from_profile, "s3", "get_object", **found, VersionId=version)
        with answer["Body"] as body:
            while chunk := body.read(1_048_576):
                file.write(chunk)
        file.seek(0)
        put = {"Bucket": bundle_bucket(there), "Key": BUNDLE_KEY, "ExpectedBucketOwner": there.account_id}
        stored = _call(there, to_profile, "s3", "put_object", **put, Body=file, ChecksumAlgorithm="SHA256")
    new = str(stored.get("VersionId", "null"))
    if new == "null":
        message = (
            f"s3://{bundle_bucket(there)}: keeps no versions; `make deploy-account ACCOUNT={target.account.alias}`"
        )
        raise OperationError(message)
    typer.echo(f"s3://{bundle_bucket(there)}/{BUNDLE_KEY}: holds version {version} as {new}")
    return new


def _call(place: Place, profile: str | None, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
    import boto3  # noqa: PLC0415 - see _copy_image
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - see _copy_image

    try:
        client = boto3.Session(profile_name=profile).client(service, region_name=place.region)
        answer: dict[str, Any] = getattr(client, operation)(**arguments)
    except (BotoCoreError, ClientError) as error:
        side = f"account {place.account_id}, {'its usual credentials' if profile is None else f'profile {profile}'}"
        message = f"{side}: {error}; name a profile that may (FROM_PROFILE=…, TO_PROFILE=…); no file was changed"
        raise OperationError(message) from error
    return answer


def _write(path: Path, before: str, text: str) -> None:
    """Write the environment file, whole or not at all, unless somebody else did meanwhile."""
    if path.read_text() != before:
        message = (
            f"{path}: was changed while the copy ran, and is left as it is; promote again, which copies nothing twice"
        )
        raise OperationError(message)
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text)
    draft.replace(path)
