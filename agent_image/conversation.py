"""Keep what was said and read in a session: in the guard's store, so that another process can go on with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol, cast

from strands.types.content import Message, Messages

from agent_image.errors import StoreError
from agent_image.guard.lease import LeaseLost
from agent_image.guard.moments import Clock
from agent_image.guard.records import Conflict
from agent_image.guard.session import ADDRESSES, CONVERSATION, MESSAGES
from agent_image.guard.store import GuardStore


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
    """Hold a session's messages, and what its model read.

    Attributes:
        version: of the record that was read; it grows with each save.
    """

    messages: list[Message] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)
    version: int = 0


class Conversations(Protocol):
    """Load and save conversations by session id."""

    def load(self, session_id: str) -> Conversation:
        """Load a conversation; an unknown session has an empty one. Changes to it count once they are saved."""
        ...

    def save(self, session_id: str, conversation: Conversation) -> None:
        """Save a conversation, durably.

        Raises:
            LeaseLost: another run wrote it since.
        """
        ...


class StoredConversations:
    """Keep conversations in the guard's store."""

    def __init__(self, store: GuardStore, clock: Clock) -> None:
        """Take the store and the clock."""
        self._store = store
        self._clock = clock

    def load(self, session_id: str) -> Conversation:
        """Load a conversation."""
        document, version = self._store.part(session_id, CONVERSATION)
        try:
            messages = json.loads(document.get(MESSAGES, "[]"))
        except (TypeError, ValueError):
            raise StoreError("record_malformed", "The conversation in the store cannot be read.") from None
        return Conversation(cast("list[Message]", messages), Reading(document.get(ADDRESSES, ())), version)

    def save(self, session_id: str, conversation: Conversation) -> None:
        """Save a conversation."""
        try:
            # As one text: what a store makes of numbers and of empty texts is its own affair.
            messages = json.dumps(conversation.messages, ensure_ascii=False, separators=(",", ":"))
        except (TypeError, ValueError):
            raise StoreError("conversation_unwritable", "The conversation holds what cannot be kept.") from None
        document = {MESSAGES: messages, ADDRESSES: list(conversation.reading.addresses)}
        try:
            conversation.version = self._store.put_part(
                session_id, CONVERSATION, document, conversation.version, self._clock()
            )
        except Conflict:
            raise LeaseLost from None


def unfinished(messages: Messages) -> bool:
    """Tell whether a conversation waits for its model or its tools."""
    return bool(messages) and (messages[-1]["role"] == "user" or bool(tool_uses(messages[-1])))


def tool_uses(message: Message) -> list[dict[str, Any]]:
    """List the tool calls of a message."""
    return [cast("dict[str, Any]", block["toolUse"]) for block in message["content"] if "toolUse" in block]
