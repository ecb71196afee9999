"""A conversation holds what was said and read; numbers of passages never repeat."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from strands.types.content import Message

from agent_image.conversation import MemoryConversations, Reading

HELLO: Message = {"role": "user", "content": [{"text": "hello"}]}


def test_an_unknown_session_starts_empty() -> None:
    """Nothing has to be created first."""
    conversation = MemoryConversations().load("new")

    assert conversation.messages == []
    assert conversation.reading.addresses == ()


def test_changes_count_once_they_are_saved() -> None:
    """A turn that fails leaves no half of itself."""
    conversations = MemoryConversations()
    conversation = conversations.load("s")
    conversation.messages.append(HELLO)
    conversation.reading.add(["a#1"])

    assert conversations.load("s").messages == []

    conversations.save("s", conversation)
    conversation.messages.clear()

    assert conversations.load("s").messages == [HELLO]
    assert conversations.load("s").reading.addresses == ("a#1",)


def test_the_sessions_unused_for_longest_are_forgotten() -> None:
    """Memory stays bounded on a laptop that serves many sessions."""
    conversations = MemoryConversations(kept=2)
    for session in ("first", "second", "first", "third"):
        conversation = conversations.load(session)
        conversation.messages.append(HELLO)
        conversations.save(session, conversation)

    assert len(conversations.load("first").messages) == 2
    assert conversations.load("second").messages == []
    assert conversations.load("third").messages == [HELLO]


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
