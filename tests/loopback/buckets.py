"""Remove buckets that a test made: moto's servers of one process share what they hold, and other tests come after."""

from __future__ import annotations

from typing import Any


def remove_bucket(client: Any, name: str) -> None:
    """Remove a bucket with every version of every object in it."""
    held = client.list_object_versions(Bucket=name)
    for one in [*held.get("Versions", []), *held.get("DeleteMarkers", [])]:
        client.delete_object(Bucket=name, Key=one["Key"], VersionId=one["VersionId"])
    client.delete_bucket(Bucket=name)
