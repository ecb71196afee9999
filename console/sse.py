"""Read server-sent events, as WHATWG's HTML standard says, out of the bytes of a response."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from console.errors import ConsoleError

EVENT_LIMIT: Final = 16 * 1024 * 1024
"""Characters of one event; more than any answer has."""

_LINE_END: Final = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """Hold one event: its name, `message` where it has none, and its data."""

    name: str
    data: str


def parse(chunks: Iterable[bytes]) -> Iterator[ServerSentEvent]:
    """Give each event as soon as the blank line behind it has come; an unfinished one at the end is dropped.

    Raises:
        ConsoleError: an event has no end.
    """
    name, size = "", 0
    data: list[str] = []
    for line in _lines(chunks):
        if not line:
            if data:
                yield ServerSentEvent(name or "message", "\n".join(data))
            name, data, size = "", [], 0
            continue
        size += len(line)
        if size > EVENT_LIMIT:
            raise ConsoleError(_ENDLESS)
        # A line that begins with a colon is a comment: its field has no name.
        field, _, value = line.partition(":")
        if field == "event":
            name = value.removeprefix(" ")
        elif field == "data":
            data.append(value.removeprefix(" "))


_ENDLESS: Final = f"the answer holds an event of more than {EVENT_LIMIT:,} characters"


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    pending: list[str] = []
    size = 0
    after_return = False
    for chunk in chunks:
        text = decoder.decode(chunk)
        if not text:
            continue
        # A line that ended with a carriage return has ended: the line feed of the next chunk ends no other.
        body = text.removeprefix("\n") if after_return else text
        after_return = text.endswith("\r")
        *ended, rest = _LINE_END.split(body)
        for end in ended:
            yield "".join(pending) + end
            pending.clear()
            size = 0
        pending.append(rest)
        size += len(rest)
        if size > EVENT_LIMIT:
            raise ConsoleError(_ENDLESS)
