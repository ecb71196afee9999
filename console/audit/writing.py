"""Write into the audit of a place what a person does."""

from __future__ import annotations

from pathlib import Path
from time import sleep
from uuid import uuid4

from agent_image.digest import Digest, new_key
from agent_image.digest_key import digest_at
from agent_image.guard.audit import AuditText
from agent_image.guard.audit_file import FileOutlet
from agent_image.guard.outlet import Outlet
from agent_image.guard.redaction import Redactor
from console.place import Place


def outlet_of(place: Place) -> Outlet:
    """Open the audit for writing."""
    if isinstance(place.audit, Path):
        return FileOutlet(place.audit, sleep)
    from agent_image.guard.audit_place import outlet_at  # noqa: PLC0415 - boto3 takes long to import

    return outlet_at(place.audit, place.region)


def text_of(place: Place) -> AuditText:
    """Give the way in which a person's words are written."""
    # In AWS the key is the agent's: what people digest joins with nothing, and gives nothing away.
    digest = Digest(new_key()) if place.in_aws else digest_at(place.store, None)
    return AuditText(Redactor(digest).redact, digest)


def new_id() -> str:
    """Make an id that nobody has."""
    return uuid4().hex
