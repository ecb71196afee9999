"""What erasing does with the store: write what a session keeps again without some words, and change nothing else.

A session keeps words in its conversation, in results that a restart would replay, and in the results of checkpoints.
All three are written while nobody works on the session: it is held under a lease, as by a run. What a run left behind
that died is given back as it was found, for the next run to take up. Approvals stay bound: a checkpoint's id is made
from the session, the message, the tool and the arguments, and none of them changes. Each write can be made again, so
an erasing that broke off is simply begun anew.

Rights in DynamoDB: `GetItem` and `PutItem` on `session#` and `checkpoint#`. Decisions are neither read nor written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from agent_image.errors import AgentError, StoreError
from agent_image.guard import batch
from agent_image.guard.canonical import NotCanonical
from agent_image.guard.checkpoint import SKEW, Call, Checkpoint
from agent_image.guard.codec import decode
from agent_image.guard.moments import Clock
from agent_image.guard.records import NEW, Conflict, Records
from agent_image.guard.session import ADDRESSES, CONVERSATION, MESSAGES, Session
from agent_image.guard.store import GuardStore, checkpoint_key
from agent_image.guard.wording import Rewrite, Rewriting

LEASE: Final = timedelta(minutes=1)
"""How long a session is held at most, beside what the clocks may differ by."""
ERASING: Final = "erasing:"
"""What the owner of a session that is held for erasing begins with; the owner that was found follows."""


class SessionInUse(AgentError):  # noqa: N818 - it names what happened
    """Say that a run works on a session: nothing of it may be changed."""

    def __init__(self) -> None:
        """Take the one code."""
        super().__init__("session_in_use", "A run works on this session.")


@dataclass(frozen=True, slots=True)
class Kept:
    """Hold what a session keeps.

    Attributes:
        known: the store knows the session.
        in_use: a run works on it, or may still do.
        addresses: what its model was reading, by whole addresses.
        texts: every text that may be written again.
    """

    known: bool
    in_use: bool
    addresses: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Count the texts that were written again, and those that hold the words and may not be."""

    changed: int
    left: int


class ErasingStore:
    """Keep the eraser's side of the guard."""

    def __init__(self, records: Records) -> None:
        """Take the records."""
        self._records = records
        self._store = GuardStore(records)

    def look(self, session_id: str, now: datetime) -> Kept:
        """Read what a session keeps.

        Raises:
            StoreError: a part of it cannot be read.
        """
        found = self._store.session(session_id)
        document, version = self._store.part(session_id, CONVERSATION)
        texts: list[str] = []

        def gathered(text: str) -> str:
            texts.append(text)
            return text

        self._parts(session_id, gathered)
        return Kept(
            known=(found.version, version) != (NEW, NEW),
            in_use=_in_use(found.session, now),
            addresses=tuple(str(address) for address in document.get(ADDRESSES, ())),
            texts=tuple(texts),
        )

    def rewrite(self, session_id: str, rewrite: Rewrite, clock: Clock) -> Rewritten:
        """Write again what a session keeps; where nothing is to change, nothing is written.

        Raises:
            SessionInUse: a run works on it; nothing was changed, or not all of it.
            StoreError: a part of it cannot be read or written.
        """
        found = self._parts(session_id, rewrite).counted
        if not found.changed and not self._left_held(session_id):
            return found
        with self._held(session_id, clock):
            parts = self._parts(session_id, rewrite)
            self._write(session_id, parts, clock())
        return parts.counted

    def _left_held(self, session_id: str) -> bool:
        """Tell whether an erasing broke off that had done all, and not let go."""
        return (self._store.session(session_id).session.owner or "").startswith(ERASING)

    def _parts(self, session_id: str, rewrite: Rewrite) -> _Parts:
        rewriting = Rewriting(rewrite)
        said, said_version = self._store.part(session_id, CONVERSATION)
        kept, kept_version = self._store.part(session_id, batch.PART)
        messages = _messages(said)
        written = [rewriting.message(message) for message in messages]
        results = {call: _read(result) for call, result in dict(kept.get(batch.RESULTS, {})).items()}
        answered = {call: rewriting.result(result) for call, result in results.items()}
        asked = tuple(kept.get(batch.ASKED, ()))
        checkpoints = [
            (checkpoint, replace(checkpoint, result=rewriting.result(checkpoint.result)))
            for checkpoint in self._checkpoints(session_id, messages, asked)
        ]
        # What stages put in the place of a model's arguments stands in no message.
        for changed in dict(kept.get(batch.CHANGES, {})).values():
            rewriting.arguments(_read(changed))
        for checkpoint, _ in checkpoints:
            if checkpoint.id in asked:
                rewriting.arguments(checkpoint.arguments)
        return _Parts(
            said={**said, MESSAGES: _text(written)} if written != messages else None,
            said_version=said_version,
            kept={**kept, batch.RESULTS: {call: _text(result) for call, result in answered.items()}}
            if answered != results
            else None,
            kept_version=kept_version,
            checkpoints=[(before, after) for before, after in checkpoints if before != after],
            counted=Rewritten(rewriting.changed, rewriting.left),
        )

    def _checkpoints(self, session_id: str, messages: Sequence[Any], asked: Sequence[str]) -> Iterator[Checkpoint]:
        """Read the checkpoints of all calls that a conversation holds, or that were changed, or that it waits for."""
        pending = self._store.session(session_id).session.pending
        for checkpoint_id in dict.fromkeys((*_call_ids(session_id, messages), *asked, *pending)):
            found = self._records.get(checkpoint_key(checkpoint_id))
            if found is not None:
                yield decode(Checkpoint, found.document)

    def _write(self, session_id: str, parts: _Parts, now: datetime) -> None:
        # The conversation comes last: as long as it holds the words, whoever begins anew finds all of them.
        try:
            for before, after in parts.checkpoints:
                if not self._store.advance(before, after):
                    raise SessionInUse
            if parts.kept is not None:
                self._store.put_part(session_id, batch.PART, parts.kept, parts.kept_version, now)
            if parts.said is not None:
                self._store.put_part(session_id, CONVERSATION, parts.said, parts.said_version, now)
        except Conflict:
            raise SessionInUse from None

    @contextmanager
    def _held(self, session_id: str, clock: Clock) -> Iterator[None]:
        """Hold a session; one that has only parts left has nobody who could work on it.

        Raises:
            SessionInUse: a run works on it.
        """
        found = self._store.session(session_id)
        if found.version == NEW:
            yield
            return
        now = clock()
        if _in_use(found.session, now):
            raise SessionInUse
        former = (found.session.owner or "").removeprefix(ERASING)
        try:
            # What a lost run had set aside stays so: the next run counts it as spent.
            held = self._store.put_session(_taken(found.session, former, now), found.version, now)
        except Conflict:
            raise SessionInUse from None
        try:
            yield
        finally:
            # If that fails, the lease runs out.
            with suppress(Conflict, StoreError):
                self._store.put_session(_given_back(held.session, former, clock()), held.version, clock())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Hold what a session keeps in other words; None for a part that stays."""

    said: Mapping[str, Any] | None
    said_version: int
    kept: Mapping[str, Any] | None
    kept_version: int
    checkpoints: Sequence[tuple[Checkpoint, Checkpoint]]
    counted: Rewritten


def _in_use(session: Session, now: datetime) -> bool:
    """Tell whether a run may work on a session, whose machine's clock is behind or ahead of this one."""
    if session.owner is None or session.owner.startswith(ERASING):
        # Two who erase change the same: whoever comes second takes over.
        return False
    if session.lease_until is None or session.renewed_at is None:
        return False
    return now < session.lease_until + SKEW or now < session.renewed_at


def _taken(session: Session, former: str, now: datetime) -> Session:
    return replace(
        session, owner=f"{ERASING}{former}", fence=session.fence + 1, lease_until=now + LEASE + SKEW, renewed_at=now
    )


def _given_back(session: Session, former: str, now: datetime) -> Session:
    if not former:
        return session.released()
    # A run that died is still to be found dead, at once and by every clock.
    return replace(session, owner=former, lease_until=now - SKEW, renewed_at=now - SKEW)


def _messages(document: Mapping[str, Any]) -> list[Any]:
    found = _read(document.get(MESSAGES, "[]"))
    if not isinstance(found, list):
        raise StoreError("record_malformed", "A conversation in the store cannot be read.")
    return found


def _read(text: object) -> Any:  # noqa: ANN401 - JSON of any shape
    try:
        return json.loads(str(text))
    except (ValueError, RecursionError):
        raise StoreError("record_malformed", "What a session keeps cannot be read.") from None


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _call_ids(session_id: str, messages: Sequence[Any]) -> Iterator[str]:
    """Give the ids of all calls that messages hold: those of their checkpoints."""
    for message in messages:
        for block in message.get("content", ()) if isinstance(message, Mapping) else ():
            match block:
                case {"toolUse": {"toolUseId": str(tool_use_id), "name": str(tool), "input": given}}:
                    call = Call(
                        session_id=session_id,
                        message=str(message.get("tracking_id", "")),
                        tool_use_id=tool_use_id,
                        tool=tool,
                        arguments=given if isinstance(given, dict) else {"input": given},
                    )
                    with suppress(NotCanonical):
                        yield call.id
