"""Carry the image of one environment into the files of others and copy nothing: a plan then comes before its image."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import typer

from stacks import preflight
from stacks.artifact.commands import SETTINGS, Folder
from stacks.artifact.reference import with_reference
from stacks.preflight import PLACEHOLDER_IMAGE, OperationError
from stacks.settings.load import EnvironmentSettings, load

_DIGEST: Final = "sha256:"


def carry_image(source: str, targets: list[str], settings: Folder = SETTINGS) -> None:
    """Write an environment's image digest into the files of others: `make promote` then copies that very image."""
    loaded = load(settings)
    begun = preflight.find_environment(loaded, source)
    found = [preflight.find_environment(loaded, target) for target in targets]
    problems = [problem for one in (begun, *found) for problem in preflight.artifact_problems(one, "image")]
    preflight.refuse_any(problems)
    digest = _digest(begun)
    for target in found:
        path: Path = settings / target.source.file
        path.write_text(with_reference(path.read_text(), "image", digest))
        typer.echo(f"{path}: agent.image = {digest}")


def _digest(environment: EnvironmentSettings) -> str:
    image = environment.declared.agent.image or ""
    if not image.startswith(_DIGEST) or image == PLACEHOLDER_IMAGE:
        message = (
            f"environments/{environment.source.file}: agent.image = {image!r}: is not the digest of a built image; "
            f"`make image ENV={environment.name}` builds one and writes it"
        )
        raise OperationError(message)
    return image
