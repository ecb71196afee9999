"""Derive which artifact an environment runs: an image of the account's repository, or a version of its bundle: pure."""

from __future__ import annotations

from dataclasses import dataclass

from stacks.artifact.bundle import ENTRY_POINT, RUNTIME
from stacks.names import BUNDLE_KEY, bundle_bucket, image_uri, names_of
from stacks.settings.load import EnvironmentSettings


@dataclass(frozen=True, slots=True)
class Image:
    """Name a container image by its address."""

    uri: str


@dataclass(frozen=True, slots=True)
class Code:
    """Name one version of a bundle, and how it is started."""

    bucket: str
    key: str
    version: str
    runtime: str = RUNTIME
    entry_point: tuple[str, ...] = ENTRY_POINT


def artifact_of(environment: EnvironmentSettings) -> Image | Code:
    """Take what an environment runs from its settings; a rule of theirs holds that it is named."""
    agent, names = environment.declared.agent, names_of(environment)
    if agent.artifact == "code":
        return Code(bundle_bucket(names.place), BUNDLE_KEY, str(agent.bundle))
    return Image(image_uri(names.repository_url, str(agent.image)))
