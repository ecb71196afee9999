"""Open the desk at which a person decides: the people's side of the store, the audit, and who that person is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from uuid import uuid4

from agent_image.digest import Digest, new_key
from agent_image.digest_key import digest_at
from agent_image.guard.audit import AuditText
from agent_image.guard.audit_file import FileOutlet
from agent_image.guard.outlet import Outlet
from agent_image.guard.redaction import Redactor
from console.approvals.deciding import Desk
from console.approvals.trail import Trail
from console.identity import approver_at
from console.moments import now
from console.place import Place, people_at


@contextmanager
def desk_at(place: Place) -> Iterator[Desk]:
    """Open a desk.

    Raises:
        ConsoleError: AWS does not say who is there.
    """
    approver = approver_at(place)
    digest = _digest(place)
    trail = Trail(_outlet(place), AuditText(Redactor(digest).redact, digest), _new_id)
    with people_at(place) as people:
        yield Desk(people, trail, approver, now, _new_id)


def _digest(place: Place) -> Digest:
    # In AWS the key is the agent's: what people digest joins with nothing, and gives nothing away.
    return Digest(new_key()) if place.in_aws else digest_at(place.store, None)


def _outlet(place: Place) -> Outlet:
    if isinstance(place.audit, Path):
        return FileOutlet(place.audit, sleep)
    from agent_image.guard.audit_place import outlet_at  # noqa: PLC0415 - boto3 takes long to import

    return outlet_at(place.audit, place.region)


def _new_id() -> str:
    return uuid4().hex
