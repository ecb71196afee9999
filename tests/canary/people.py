"""Decide as people do: at the console's desk, with the people's side of the store and an audit of their own."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from agent_image.digest import Digest
from agent_image.guard.audit import AuditText
from agent_image.guard.audit_s3 import S3Outlet
from agent_image.guard.people import PeopleStore
from agent_image.guard.redaction import Redactor
from agent_image.guard_of import now
from console.approvals.deciding import Desk, decide, resolve
from console.approvals.trail import Trail
from console.approvals.wish import Wish
from tests.canary.places import Cloud
from tests.canary.scenes import Decide, Resolve

APPROVER: Final = "arn:aws:sts::111122223333:assumed-role/approver/on-call"


def desk_of(cloud: Cloud) -> Desk:
    """Open the desk of an environment."""
    digest = Digest(b"of the approvers' own machine...")
    outlet = S3Outlet(cloud.audit, cloud.client("s3"), lambda _: None)
    trail = Trail(outlet, AuditText(Redactor(digest).redact, digest), _new_id)
    return Desk(PeopleStore(cloud.records()), trail, APPROVER, now, _new_id)


def act_on(desk: Desk, act: Decide | Resolve, checkpoint_id: str) -> None:
    """Do what a scene says that somebody does."""
    match act:
        case Decide(choice, reason, arguments):
            decide(desk, checkpoint_id, Wish(choice=choice, reason=str(reason), arguments=arguments))
        case Resolve(reason):
            resolve(desk, checkpoint_id, took_effect=False, reason=str(reason))


def _new_id() -> str:
    return uuid4().hex
