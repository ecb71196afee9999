"""A conversation holds what was said and read; numbers of passages never repeat."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest
from strands.types.content import Message

from agent_image.conversation import Reading, StoredConversations
from agent_image.errors import StoreError
from agent_image.guard.lease import LeaseLost
from agent_image.guard.store import GuardStore
from agent_image.stores.memory import MemoryRecords
from tests.agent_image.grounds import NOON

HELLO: Message = {"role": "user", "content": [{"text": "hello"}]}


def stored() -> StoredConversations:
    return StoredConversations(GuardStore(MemoryRecords()), lambda: NOON)


def test_an_unknown_session_starts_empty() -> None:
    """Nothing has to be created first."""
    conversation = stored().load("new")

    assert conversation.messages == []
    assert conversation.reading.addresses == ()


def test_changes_count_once_they_are_saved() -> None:
    """A turn that fails leaves no half of itself."""
    conversations = stored()
    conversation = conversations.load("s")
    conversation.messages.append(HELLO)
    conversation.reading.add(["a#1"])

    assert conversations.load("s").messages == []

    conversations.save("s", conversation)
    conversation.messages.clear()

    assert conversations.load("s").messages == [HELLO]
    assert conversations.load("s").reading.addresses == ("a#1",)


def test_who_was_overtaken_writes_no_history() -> None:
    """Two runs loaded one conversation; only one of them may go on with it."""
    conversations = stored()
    mine, theirs = conversations.load("s"), conversations.load("s")
    theirs.messages.append(HELLO)
    conversations.save("s", theirs)

    with pytest.raises(LeaseLost):
        conversations.save("s", mine)

    assert conversations.load("s").messages == [HELLO]


def test_what_cannot_be_kept_is_refused_before_anything_is_written() -> None:
    """Bytes of a picture are no JSON."""
    conversations = stored()
    conversation = conversations.load("s")
    conversation.messages.append(cast("Message", {"role": "user", "content": [{"text": b"x"}]}))

    with pytest.raises(StoreError, match="conversation_unwritable"):
        conversations.save("s", conversation)

    assert conversations.load("s").messages == []


def test_passages_are_numbered_in_the_order_of_reading() -> None:
    """The second retrieval goes on where the first ended."""
    reading = Reading()

    assert reading.add(["a#1", "b#2"]) == 1
    assert reading.add(["a#1"]) == 3
    assert reading.addresses == ("a#1", "b#2", "a#1")


def test_retrievals_at_the_same_time_share_no_number() -> None:
    """Models call tools in parallel."""
    reading = Reading()
    with ThreadPoolExecutor(8) as pool:
        firsts = list(pool.map(lambda n: reading.add([f"{n}#{i}" for i in range(5)]), range(200)))

    assert sorted(firsts) == list(range(1, 1001, 5))
    assert all(reading.addresses[first - 1] == f"{n}#0" for n, first in enumerate(firsts))
