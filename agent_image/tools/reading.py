"""Write passages as the model reads them, and read them back: the form in which `search_knowledge` answers.

Passages stand apart by a blank line; each begins with a line `[n] <uri>`, and its text follows. A line of a text that
looks like such a beginning is indented by one space, so that no document can pass its own words off as another's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import quote

from agent_image.retrieval.passage import Passage

SEARCH_KNOWLEDGE: Final = "search_knowledge"
"""The name of the tool that answers in this form."""

# Whatever a reader may take for the end of a line, not only what the parser does.
_LINE_ENDS: Final = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_AT_LINE_START: Final = rf"(?:(?<=[{_LINE_ENDS}])|\A)"
_BEGINNING: Final = r"[ \t]*\[[0-9]+\]"
_LOOKS_LIKE_A_BEGINNING: Final = re.compile(rf"{_AT_LINE_START}(?={_BEGINNING})")
_INDENTED: Final = re.compile(rf"{_AT_LINE_START} (?={_BEGINNING})")
_HEAD: Final = re.compile(r"(?:\A|\n\n)\[([0-9]{1,9})\] [^\n]*(?:\n|\Z)")


def render(first: int, passages: Iterable[Passage]) -> str:
    """Write passages, numbered from `first` on."""
    return "\n\n".join(
        f"[{n}] {_one_line(passage.uri)}\n{_LOOKS_LIKE_A_BEGINNING.sub(' ', passage.text)}"
        for n, passage in enumerate(passages, start=first)
    )


def parse(text: str) -> list[tuple[int, str]]:
    """Read the numbers and texts of the passages; what stands before the first is not one of them."""
    heads = list(_HEAD.finditer(text))
    stops = [head.start() for head in heads] + [len(text)]
    return [
        (int(head[1]), _INDENTED.sub("", text[head.end() : stop])) for head, stop in zip(heads, stops[1:], strict=True)
    ]


def rewritten(text: str, change: Callable[[str], str | None]) -> str:
    """Write passages again with other words, where `change` gives some for theirs; all else stays as it is."""
    heads = list(_HEAD.finditer(text))
    stops = [head.start() for head in heads] + [len(text)]
    parts = [text[: stops[0]]]
    for head, stop in zip(heads, stops[1:], strict=True):
        changed = change(_INDENTED.sub("", text[head.end() : stop]))
        parts += [head[0], text[head.end() : stop] if changed is None else changed]
    return "".join(parts)


def unnumbered(text: str) -> str:
    """Give passages without their numbers: whether they were read before, under other ones."""
    return _HEAD.sub(lambda head: head[0].replace(f"[{head[1]}]", "[]", 1), text)


def _one_line(uri: str) -> str:
    return "".join(quote(character, errors="replace") if character in _LINE_ENDS else character for character in uri)
