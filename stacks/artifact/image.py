"""Describe how the agent's image is built and pushed, and on which base: pure."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

PLATFORM: Final = "linux/arm64"
"""AgentCore runs images of this platform only."""
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_BASE: Final = re.compile(r"^ARG PYTHON=(?P<tag>[^\s@]+)(?:@\S+)?$", re.MULTILINE)


class MetadataError(Exception):
    """Say that a build, or a registry, did not name what was asked for."""


def build_command(*, context: Path, repository_url: str, tag: str, metadata: Path) -> list[str]:
    """Build with Buildx and push in one step; the digest is known only once the registry has the image."""
    return [
        *("docker", "buildx", "build", "--push", "--provenance=false"),
        *("--platform", PLATFORM, "--tag", f"{repository_url}:{tag}"),
        *("--metadata-file", str(metadata), str(context)),
    ]


def pushed_digest(metadata: str) -> str:
    """Read the digest of the pushed image out of Buildx's metadata.

    Raises:
        MetadataError: the metadata names no digest, so nothing was pushed.
    """
    digest = json.loads(metadata).get("containerimage.digest")
    if not _is_digest(digest):
        message = f"Buildx reported containerimage.digest = {digest!r}, no image digest: was the image pushed?"
        raise MetadataError(message)
    return str(digest)


def base_tag(dockerfile: str) -> str:
    """Name the base image by its tag, whether or not a digest is written behind it.

    Raises:
        MetadataError: the Dockerfile has no line `ARG PYTHON=<image>:<tag>`.
    """
    found = _BASE.search(dockerfile)
    if found is None:
        message = "the Dockerfile has no line ARG PYTHON=<image>:<tag>, so there is no base to pin"
        raise MetadataError(message)
    return found["tag"]


def inspect_command(tag: str) -> list[str]:
    """Ask the registry what a tag stands for; nothing is pulled."""
    return ["docker", "buildx", "imagetools", "inspect", "--format", "{{json .Manifest}}", tag]


def base_digest(tag: str, manifest: str) -> str:
    """Read the digest of the base out of the registry's answer.

    Raises:
        MetadataError: the answer names no digest, or the base is not there for the platform that AgentCore runs.
    """
    try:
        found: Any = json.loads(manifest)
        platforms = {_platform(held["platform"]) for held in found["manifests"]}
        digest = found["digest"]
    except (ValueError, KeyError, TypeError) as error:
        message = f"{tag}: the registry's answer is no manifest list ({type(error).__name__})"
        raise MetadataError(message) from error
    if PLATFORM not in platforms or not _is_digest(digest):
        message = f"{tag}: digest {digest!r}, platforms {', '.join(sorted(platforms))}; needed: a digest for {PLATFORM}"
        raise MetadataError(message)
    return str(digest)


def pinned(dockerfile: str, digest: str) -> str:
    """Write the base's digest behind its tag, or over the digest that stands there."""
    return _BASE.sub(rf"ARG PYTHON=\g<tag>@{digest}", dockerfile)


def _platform(platform: dict[str, str]) -> str:
    return f"{platform['os']}/{platform['architecture']}"


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None
