"""Server-sent events are read as the standard says, however their bytes are cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.errors import ConsoleError
from console.sse import EVENT_LIMIT, ServerSentEvent, parse

NAMES = st.sampled_from(["text", "citations", "completed", "message"])
# No line break of any kind, and no character that UTF-8 cannot carry.
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=20)


@given(
    st.lists(st.builds(ServerSentEvent, name=NAMES, data=st.lists(LINES, min_size=1, max_size=3).map("\n".join))),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(1, 5)),
)
def test_every_event_is_read_whatever_the_cuts(events: list[ServerSentEvent], end: str, cuts: list[int]) -> None:
    """Line ends of all three kinds, in chunks that split letters and line ends."""
    stream = "".join(
        f"event: {event.name}{end}{''.join(f'data: {line}{end}' for line in event.data.split(chr(10)))}{end}"
        for event in events
    ).encode()

    assert list(parse(cut(stream, cuts))) == events
    assert list(parse(cut(stream, [1] * len(stream)))) == events


def cut(stream: bytes, sizes: list[int]) -> Iterator[bytes]:
    start = 0
    for size in sizes:
        yield stream[start : start + size]
        start += size
    yield stream[start:]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b": a comment\n\ndata:x\n\n", [("message", "x")]),
        (b"\xef\xbb\xbfdata: x\n\n", [("message", "x")]),
        (b"id: 7\nretry: 5\nevent: text\ndata: x\n\n", [("text", "x")]),
        (b"data\n\n", [("message", "")]),
        (b"data:  two blanks\n\n", [("message", " two blanks")]),
        (b"event: text\n\ndata: x\n\n", [("message", "x")]),
        (b"data: x\n\ndata: unfinished\n", [("message", "x")]),
        (b"data: \xff\n\n", [("message", "\ufffd")]),
        (b"", []),
    ],
)
def test_the_odd_cases_of_the_standard(stream: bytes, events: list[tuple[str, str]]) -> None:
    """Comments, a byte order mark, fields of no use, names without data, an unfinished end, broken UTF-8."""
    assert [(event.name, event.data) for event in parse([stream])] == events


def test_an_event_is_given_before_the_next_bytes_come() -> None:
    """A reader sees what was said while more is being said."""
    seen = []

    def chunks() -> Iterator[bytes]:
        yield b"data: one\r\n\r\n"
        seen.append("asked for more")
        yield b"data: two\n\n"

    events = parse(chunks())

    assert next(events).data == "one"
    assert seen == []
    assert next(events).data == "two"


@pytest.mark.parametrize("piece", [b"x" * 65_536, b"data: " + b"x" * 65_536 + b"\n"])
def test_an_event_without_an_end_is_refused(piece: bytes) -> None:
    """Neither a line nor an event fills the memory."""
    with pytest.raises(ConsoleError, match="more than 16,777,216 characters"):
        list(parse(piece for _ in range(EVENT_LIMIT // 65_536 + 1)))
