"""Keep the audit: every event of a session in one chain of hashes, durable when it has to be.

A line's hash is SHA-256 over its bytes without the member `hash`, which comes last; `prev` is the hash of the line
before. A session's chain begins with an empty `prev`, goes on over all its runs, and ends at the head that the
session's record holds: who cuts lines off the end leaves a head that names none of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Protocol

from agent_image.contract import EventName, Field
from agent_image.digest import Digest
from agent_image.errors import AuditError
from agent_image.guard.beginnings import beginnings
from agent_image.guard.events import Event, Text, fields_of, members
from agent_image.guard.moments import Clock
from agent_image.guard.outlet import Outlet
from agent_image.guard.plain import Words, compact
from agent_image.guard.session import Head

TEXT_LIMIT: Final = 200
"""Characters of one text that the audit keeps."""
SEEN_LIMIT: Final = 8_192
"""Characters of one text that are redacted, where fewer are kept: enough to know whatever the cut parts in two."""
SESSION_CHAIN: Final = "session"
"""The chain of a session's events."""
DECISION_CHAIN: Final = "decision/"
"""What the chain of a person's decision begins with; the checkpoint's id follows."""
DECISIONS: Final = "decisions"
"""The folder of what people decided."""
ERASURE_CHAIN: Final = "erasure/"
"""What the chain of a passage's erasures begins with; the fingerprint follows."""
ERASURES: Final = "erasures"
"""The folder of what people erased."""
_FOLDERS: Final = {DECISION_CHAIN: DECISIONS, ERASURE_CHAIN: ERASURES}
RECOVERED: Final = "recovered"
"""The reason in a run's first event that says that the run before it never let the session go."""
WITHHELD: Final = "[REDACTED]"
"""What stands for a text that could not be redacted."""
BATCH_LINES: Final = 500
"""Lines that wait for a flush at most, where the outlet does not take each as it comes."""
BACKLOG_LINES: Final = 10_000
"""Lines that wait for an outlet that takes none; beyond it nothing more is said, so nothing more may be done."""

_PREV: Final = f'"{Field.PREV.value}":'
_HASH: Final = f'"{Field.HASH.value}":'


class Slim(Protocol):
    """Take the same events for the slim line, as far as it can: it never raises."""

    def __call__(self, event: Event, sealed: Sealed) -> None:
        """Write an event."""
        ...


@dataclass(frozen=True, slots=True)
class Sealed:
    """Hold a line of the audit, and its hash.

    Attributes:
        links: the line's last members, which bind it: the hash before, and its own.
    """

    line: bytes
    links: str
    hash: str


@dataclass(frozen=True, slots=True)
class AuditText:
    """Write a text for the audit: redacted, cut, with the length and the keyed digest of the whole.

    What it was is not lost: who holds the text can show that it was this one.
    """

    redact: Callable[[Any], Any]
    digest: Digest
    limit: int = TEXT_LIMIT

    def __call__(self, words: Words) -> str:
        """Render words."""
        shown, cut = self._redacted(words.plain)
        truncated = "true" if cut or len(shown) > self.limit else "false"
        return (
            f'{{"text":{compact(shown[: self.limit])},"chars":{len(words.whole)},"bytes":{words.size},'
            f'"truncated":{truncated},"digest":"{words.digest(self.digest)}"}}'
        )

    def _redacted(self, whole: Any) -> tuple[str, bool]:  # noqa: ANN401 - plain JSON
        """Redact what may be shown, and tell whether something was left out before."""
        try:
            begun = beginnings(whole, self.limit + SEEN_LIMIT)
            # Redacted first: cut in two, a secret would not be known for one.
            shown = self.redact(begun)
            return shown if isinstance(shown, str) else compact(shown, sort_keys=True), begun is not whole
        except Exception:  # noqa: BLE001 - whatever went wrong, the text is not shown
            return WITHHELD, False


def audit_line(event: Event, prev: str, text: Text) -> Sealed:
    """Write an event as a line of the audit, bound to the one before."""
    said, bound = members(event, text), f"{_PREV}{compact(prev)}"
    sealed = hashlib.sha256(f"{{{said},{bound}}}".encode()).hexdigest()
    links = f'{bound},{_HASH}"{sealed}"'
    return Sealed(f"{{{said},{links}}}\n".encode(), links, sealed)


@dataclass(frozen=True, slots=True)
class Batch:
    """Hold lines that go to the outlet together, and the number of the first."""

    lines: tuple[bytes, ...]
    first: int


class Chain:
    """Append one run's events to its session's chain. Usable from any thread."""

    def __init__(
        self,
        outlet: Outlet,
        slim: Slim,
        *,
        session_id: str,
        run: str,
        agent: str,
        head: Head,
        clock: Clock,
        new_id: Callable[[], str],
        redact: Callable[[Any], Any],
        digest: Digest,
        ids: Callable[[], tuple[str, str]],
    ) -> None:
        """Take the outlets, what all events share, and the head that the session's record holds.

        `ids` gives the trace and the span of the moment; empty texts where there are none.
        """
        self._outlet = outlet
        self._slim = slim
        self._session_id = session_id
        self._run = run
        self._agent = agent
        self._head = head
        self._clock = clock
        self._new_id = new_id
        self._text = AuditText(redact, digest)
        self._ids = ids
        self._waiting: list[bytes] = []
        self._refused: Batch | None = None
        self._failed: str | None = None
        self._lock = Lock()

    @property
    def head(self) -> Head:
        """Give the last event's number and hash, durable or not."""
        return self._head

    def append(self, name: EventName, *, step: int = 0, **values: Any) -> Event:
        """Say that something happened; the names of `values` are those of the contract's fields.

        A line that the outlet does not take stays, and goes first when the next one comes.

        Raises:
            AuditError: the outlet did not take it. From then until a flush succeeds every `tool_call` raises, unsaid.
        """
        fields = fields_of(values)
        with self._lock:
            if self._failed is not None and name is EventName.TOOL_CALL:
                raise AuditError(self._failed, "The audit could not be written before; no tool is called unrecorded.")
            if self._count() >= BACKLOG_LINES:
                raise AuditError("audit_backlog", f"{BACKLOG_LINES:,} events wait for the audit; no more are taken.")
            trace_id, span_id = self._ids()
            event = Event(
                name=name,
                session_id=self._session_id,
                chain=SESSION_CHAIN,
                run=self._run,
                step=step,
                ts=self._clock(),
                seq=self._head.seq + 1,
                event_id=self._new_id(),
                agent=self._agent,
                trace_id=trace_id,
                span_id=span_id,
                fields=fields,
            )
            sealed = audit_line(event, self._head.hash, self._text)
            self._waiting.append(sealed.line)
            self._head = Head(event.seq, sealed.hash)
            self._slim(event, sealed)
            if self._outlet.at_once or len(self._waiting) >= BATCH_LINES:
                self._hand_over()
        return event

    def flush(self) -> Head:
        """Come back when every event is durable, with the head that the session's record may now hold.

        Raises:
            AuditError: they are not.
        """
        with self._lock:
            self._hand_over()
            with self._watched():
                self._outlet.sync()
            self._failed = None
            return self._head

    def _hand_over(self) -> None:
        # What was refused may be there nevertheless: it goes again as it was, and what came since goes after it.
        while self._refused is not None or self._waiting:
            batch = self._refused or Batch(tuple(self._waiting), self._head.seq - len(self._waiting) + 1)
            if self._refused is None:
                self._waiting.clear()
            self._refused = batch
            with self._watched():
                self._outlet.write(batch.lines, folder=(self._session_id,), run=self._run, seq=batch.first)
            self._refused = None

    def _count(self) -> int:
        return len(self._waiting) + (0 if self._refused is None else len(self._refused.lines))

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except AuditError as error:
            self._failed = error.code
            raise
        except Exception:  # noqa: BLE001 - whatever an outlet raises, nothing may go on unrecorded
            self._failed = "audit_failed"
            raise AuditError(self._failed, "The audit cannot be written.") from None


def decision_chain(checkpoint_id: str) -> str:
    """Name the chain of what people said of a checkpoint: each of its events stands alone."""
    return f"{DECISION_CHAIN}{checkpoint_id}"


def erasure_chain(fingerprint: str) -> str:
    """Name the chain of what people did to erase a passage: each of its events stands alone."""
    return f"{ERASURE_CHAIN}{fingerprint}"


def lone_event(event: Event, text: Text) -> Sealed:
    """Write an event that is bound to none before: the record of what it says holds its hash."""
    return audit_line(event, "", text)


def write_alone(outlet: Outlet, event: Event, text: Text) -> Sealed:
    """Put a lone event of a person's into the audit, durably.

    Raises:
        AuditError: it is not there.
    """
    sealed = lone_event(event, text)
    kind, _, about = event.chain.partition("/")
    outlet.write((sealed.line,), folder=(_FOLDERS[f"{kind}/"], about), run=event.event_id, seq=event.seq)
    outlet.sync()
    return sealed
