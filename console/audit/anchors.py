"""Read what the audit has to agree with: the head of each session's chain, and the hashes that decisions hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from agent_image.contract import Field
from agent_image.guard.audit_lines import Line
from agent_image.guard.checkpoint import Decision, Resolution
from agent_image.guard.codec import decode
from agent_image.guard.records import Records
from agent_image.guard.session import Head, Session
from agent_image.guard.store import decision_key, resolution_key, session_key


@dataclass(frozen=True, slots=True)
class Named:
    """Hold the sessions and the checkpoints that an audit speaks of."""

    sessions: frozenset[str]
    checkpoints: frozenset[str]


def named_in(lines: Iterable[Line]) -> Named:
    """Gather what lines speak of."""
    found, checkpoints = set(), set()
    for line in lines:
        found.add(line.session_id)
        checkpoints.add(line.text(Field.CHECKPOINT_ID))
    return Named(frozenset(found - {""}), frozenset(checkpoints - {""}))


def heads(records: Records, sessions: Iterable[str]) -> Mapping[str, Head]:
    """Read the heads of the sessions that the store knows.

    Raises:
        StoreError: a record cannot be read.
    """
    found = ((session, records.get(session_key(session))) for session in sorted(sessions))
    return {session: decode(Session, record.document).head for session, record in found if record is not None}


def decided(records: Records, checkpoints: Iterable[str]) -> Mapping[str, Collection[str]]:
    """Read the hashes that the records of decisions and resolutions hold, of the checkpoints that have one.

    Raises:
        StoreError: a record cannot be read.
    """
    hashes: dict[str, set[str]] = {}
    for checkpoint in sorted(checkpoints):
        if (decision := records.get(decision_key(checkpoint))) is not None:
            hashes.setdefault(checkpoint, set()).add(decode(Decision, decision.document).event)
        if (resolution := records.get(resolution_key(checkpoint))) is not None:
            hashes.setdefault(checkpoint, set()).add(decode(Resolution, resolution.document).event)
    return hashes
