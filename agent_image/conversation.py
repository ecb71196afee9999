"""Keep what was said and read in a session, behind a port: one process serves one session in AWS, many on a laptop."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, Protocol

from strands.types.content import Message

_SESSIONS_KEPT: Final = 1_000


class Reading:
    """Number the passages that a session's model reads: each keeps its number, even in a turn that failed."""

    def __init__(self, addresses: Sequence[str] = ()) -> None:
        """Take up the numbering behind passages that were read before."""
        self._addresses = list(addresses)
        self._lock = Lock()

    def add(self, addresses: Sequence[str]) -> int:
        """Note passages by their whole addresses, in the order in which the model reads them; give the first number."""
        with self._lock:
            first = len(self._addresses) + 1
            self._addresses.extend(addresses)
        return first

    @property
    def addresses(self) -> tuple[str, ...]:
        """Give the address of each passage; number 1 stands first."""
        with self._lock:
            return tuple(self._addresses)


@dataclass(slots=True)
class Conversation:
    """Hold a session's messages, and what its model read."""

    messages: list[Message] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)


class Conversations(Protocol):
    """Load and save conversations by session id."""

    def load(self, session_id: str) -> Conversation:
        """Load a conversation; an unknown session has an empty one. Changes to it count once they are saved."""
        ...

    def save(self, session_id: str, conversation: Conversation) -> None:
        """Save a conversation."""
        ...


class MemoryConversations:
    """Keep conversations in the process; the sessions unused for longest are forgotten first."""

    def __init__(self, kept: int = _SESSIONS_KEPT) -> None:
        """Keep at most so many sessions."""
        self._kept = kept
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = Lock()

    def load(self, session_id: str) -> Conversation:
        """Load a conversation."""
        with self._lock:
            saved = self._conversations.get(session_id, Conversation())
            return Conversation(deepcopy(saved.messages), Reading(saved.reading.addresses))

    def save(self, session_id: str, conversation: Conversation) -> None:
        """Save a conversation, and forget the oldest where there are too many."""
        with self._lock:
            self._conversations[session_id] = Conversation(
                deepcopy(conversation.messages), Reading(conversation.reading.addresses)
            )
            self._conversations.move_to_end(session_id)
            while len(self._conversations) > self._kept:
                self._conversations.popitem(last=False)
