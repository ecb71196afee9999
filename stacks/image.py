"""Describe how the agent's image is built and pushed, and how its digest gets into an environment file: pure."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import tomlkit

PLATFORM: Final = "linux/arm64"
"""AgentCore runs images of this platform only."""
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


class MetadataError(Exception):
    """Say that the build reported no digest."""

    def __init__(self, digest: object) -> None:
        """Name what was reported in its place."""
        super().__init__(f"Buildx reported containerimage.digest = {digest!r}, no image digest: was the image pushed?")


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
    if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None:
        raise MetadataError(digest)
    return digest


def with_digest(environment_file: str, digest: str) -> str:
    """Set `agent.image` in the text of an environment file; everything else, comments included, stays as it is."""
    document = tomlkit.parse(environment_file)
    document["agent"]["image"] = digest
    return tomlkit.dumps(document)
