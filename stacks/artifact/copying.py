"""Copy an image from one repository to another by its digest: parts first, the name last."""

from __future__ import annotations

import tempfile

from stacks.artifact.registry import Manifest, Repository
from stacks.preflight import OperationError


def tag_of(digest: str) -> str:
    """Name the tag of an image that was promoted: images without a tag expire, and a tag never changes its image."""
    return f"promoted-{digest.removeprefix('sha256:')[:20]}"


def copy(source: Repository, target: Repository, digest: str) -> bool:
    """Copy an image under its own digest; False where it is there already.

    Nothing is pulled into a store of this machine, and what the target holds is not sent again. Before the last step
    the target has parts that nothing names, which its registry drops.

    Raises:
        OperationError: a registry refuses, or hands out something else than it was asked for.
    """
    tag = tag_of(digest)
    there = target.manifest(tag)
    if there is not None and there.digest == digest:
        return False
    target.publish(tag, _carry(source, target, digest))
    return True


def _carry(source: Repository, target: Repository, digest: str) -> Manifest:
    """Copy everything that a manifest names, and give the manifest."""
    manifest = source.manifest(digest)
    if manifest is None:
        message = (
            f"{source.shown}: holds no image {digest}; build one (`make image`), or name the digest of one it holds"
        )
        raise OperationError(message)
    if manifest.digest != digest:
        message = f"{source.shown}: handed out {manifest.digest} for {digest}; nothing was written"
        raise OperationError(message)
    for image in manifest.images:
        target.publish(image, _carry(source, target, image))
    for blob in manifest.blobs:
        if not target.holds(blob):
            with tempfile.TemporaryFile() as file:
                source.fetch(blob, file)
                target.store(blob, file)
    return manifest
