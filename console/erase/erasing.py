"""Erase a passage: look where it lies, say so in the audit, take it out of each session, then out of the archive.

The archive comes last: as long as it has the words, an erasing that broke off finds them again everywhere. And it comes
whatever became of the sessions: one that is in use keeps nothing else alive. Each step can be done again, and a second
run ends where the first would have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from agent_image.errors import AuditError, StoreError
from agent_image.guard.erasing import ErasingStore, Kept, SessionInUse
from agent_image.guard.moments import Clock
from agent_image.guard.wording import Rewrite
from agent_image.retrieval.fingerprint import fingerprint, normalised
from agent_image.retrieval.passage import parse_address
from agent_image.retrieval.store import PassageStore, State
from console.erase.events import Erasure, Events
from console.erase.words import mark, without, words_in


class Fate(StrEnum):
    """Name what became of a session, or will."""

    ERASED = "erased"
    """It held copies, and holds none any more."""
    CLEAN = "clean"
    """It holds no copy: it was erased before, or the words never got there."""
    NOT_LOCATED = "not_located"
    """Its model was reading the passage, and no copy could be found in what it keeps."""
    FORGOTTEN = "forgotten"
    """The store does not know it: what it kept has expired, or it belongs to another agent."""
    IN_USE = "in_use"
    """A run works on it: nothing was changed."""
    FAILED = "failed"
    """It could not be read or written."""


AGAIN: Final = frozenset({Fate.IN_USE, Fate.FAILED})
"""Fates after which the command is to be given again."""


@dataclass(frozen=True, slots=True)
class Found:
    """Hold what a session keeps of the passage.

    Attributes:
        copies: texts that hold it and may be written again.
        left: texts that hold it and may not, such as the arguments of calls.
        why: what failed, as a code.
    """

    session_id: str
    fate: Fate
    copies: int = 0
    left: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Hold where a passage lies.

    Attributes:
        archived: what the archive knows of it; None where it was never stored.
        forged: the archive holds other words under this fingerprint.
        words: normalised; None where nobody knows them any more.
    """

    fingerprint: str
    archived: State | None
    forged: bool
    words: bytes | None
    sessions: tuple[Found, ...]

    @property
    def rewrite(self) -> Rewrite:
        """Give what writes a text without the passage."""
        return without(self.fingerprint, self.words)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold what an erasing came to.

    Attributes:
        archive_why: why the archive may still have the words, as a code; empty where it has not.
        event: the hash of the event that it began with.
        unsaid: why the audit does not hold what it came to, as a code; empty where it does.
    """

    plan: Plan
    archive_why: str
    event: str
    unsaid: str = ""

    @property
    def done(self) -> bool:
        """Tell whether nothing is left that can be erased later."""
        return not (self.archive_why or self.unsaid or any(one.fate in AGAIN for one in self.plan.sessions))


@dataclass(frozen=True, slots=True)
class Eraser:
    """Hold what a person erases with."""

    archive: PassageStore
    sessions: ErasingStore
    events: Events
    clock: Clock

    def look(self, fingerprint_text: str, sessions: Sequence[str], lengths: Iterable[int]) -> Plan:
        """Look where a passage lies; `lengths` are what is known of its normalised bytes.

        Raises:
            StoreError: the archive cannot be asked.
        """
        archived = self.archive.known([fingerprint_text]).get(fingerprint_text)
        data = self.archive.get(fingerprint_text)
        text = None if data is None else data.decode("utf-8", "replace")
        kept = {one: self._kept(one) for one in dict.fromkeys(sessions)}
        known = [one for one in kept.values() if isinstance(one, Kept)]
        words: bytes | None = None
        if text is not None and fingerprint(text).text == fingerprint_text:
            words = normalised(text)
        else:
            named = {*lengths, *(length for one in known for length in _lengths(one.addresses, fingerprint_text))}
            words = words_in((text for one in known for text in one.texts), fingerprint_text, named)
        plan = Plan(
            fingerprint_text,
            # An object without its mark, left by a process that died, is stored all the same.
            archived=State.KNOWN if archived is None and data is not None else archived,
            forged=data is not None and words is None,
            words=words,
            sessions=(),
        )
        return replace(plan, sessions=tuple(_found(session_id, one, plan) for session_id, one in kept.items()))

    def erase(self, erasure: Erasure, plan: Plan) -> Outcome:
        """Erase what was found.

        Raises:
            AuditError: the audit did not take that it begins; nothing was erased.
        """
        sealed = self.events.begin(erasure, _counts(plan), self.clock())
        after = replace(plan, sessions=tuple(self._session(one, plan) for one in plan.sessions))
        outcome = Outcome(after, self._archive(plan.fingerprint), sealed.hash)
        try:
            self.events.end(erasure, _counts(after), self.clock(), done=outcome.done)
        except AuditError as error:
            return replace(outcome, unsaid=error.code)
        return outcome

    def _kept(self, session_id: str) -> Kept | str:
        try:
            return self.sessions.look(session_id, self.clock())
        except StoreError as error:
            return error.code

    def _session(self, found: Found, plan: Plan) -> Found:
        """Take the words out of one session, whatever was found there before: it may have gone on since."""
        if found.fate is Fate.FORGOTTEN:
            return found
        try:
            written = self.sessions.rewrite(found.session_id, plan.rewrite, self.clock)
        except SessionInUse:
            return replace(found, fate=Fate.IN_USE)
        except StoreError as error:
            return replace(found, fate=Fate.FAILED, why=error.code)
        fate = Fate.ERASED if written.changed else (found.fate if found.fate is Fate.NOT_LOCATED else Fate.CLEAN)
        return Found(found.session_id, fate, written.changed, written.left)

    def _archive(self, fingerprint_text: str) -> str:
        try:
            self.archive.erase(fingerprint_text)
        except StoreError as error:
            return error.code
        return ""


def _found(session_id: str, kept: Kept | str, plan: Plan) -> Found:
    """Say what a session keeps of a passage."""
    if isinstance(kept, str):
        return Found(session_id, Fate.FAILED, why=kept)
    copies = sum(plan.rewrite(text) != text for text in kept.texts)
    if not kept.known:
        return Found(session_id, Fate.FORGOTTEN)
    if kept.in_use:
        return Found(session_id, Fate.IN_USE, copies)
    if copies:
        return Found(session_id, Fate.ERASED, copies)
    before = any(mark(plan.fingerprint) in text for text in kept.texts)
    reads = any(True for _ in _lengths(kept.addresses, plan.fingerprint))
    return Found(session_id, Fate.NOT_LOCATED if reads and not before else Fate.CLEAN)


def _lengths(addresses: Iterable[str], fingerprint_text: str) -> Iterable[int]:
    for form in addresses:
        try:
            found = parse_address(form).fingerprint
        except ValueError:
            continue
        if found.text == fingerprint_text:
            yield found.length


def _counts(plan: Plan) -> Mapping[str, int]:
    fates = [one.fate for one in plan.sessions]
    return {
        "sessions": len(fates),
        "copies": sum(one.copies for one in plan.sessions if one.fate is Fate.ERASED),
        "left": sum(one.left for one in plan.sessions),
        **{fate.value: fates.count(fate) for fate in (Fate.NOT_LOCATED, Fate.IN_USE, Fate.FAILED)},
    }
