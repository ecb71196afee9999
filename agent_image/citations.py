"""Check an answer's marks, such as `[2]`, against the passages that were read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

RANGE_LIMIT: Final = 100
"""Numbers that one range, such as `[1-3]`, stands for at most; a longer one stands for its first."""

# Longer numbers than these name no passage that any session could hold.
_NUMBER: Final = r"[0-9]{1,9}"
_ITEM: Final = rf"{_NUMBER}(?:[ ]?[-\u2013][ ]?{_NUMBER})?"  # a hyphen or an en dash
_MARK: Final = re.compile(
    rf"\[[ ]?({_ITEM}(?:[ ]?[,;][ ]?{_ITEM})*)[ ]?\]"
    r"(?!\((?:<[^<>\n]*>|[^\s()<]*)(?:\)|\s+[\"'(]))"  # a link, with or without a title
)
_MARK_AND_SPACE: Final = re.compile(rf"\s*{_MARK.pattern}")
_DEFINITION: Final = re.compile(r"^ {0,3}\[[^\]\n]*\]:", re.MULTILINE)
_FENCE: Final = re.compile(
    r"^ {0,3}(?:(?P<ticks>`{3,})[^`\n]*|(?P<tildes>~{3,})[^\n]*)$"
    r".*?(?:^ {0,3}(?:(?(ticks)(?P=ticks)`*|(?P=tildes)~*))[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")
_CODE_SPAN: Final = re.compile(r"(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Citations:
    """Hold the numbers that an answer names, in the order in which they first stand there, each once.

    Attributes:
        cited: numbers of passages that were read.
        unsupported: numbers of no passage.
    """

    cited: tuple[int, ...] = ()
    unsupported: tuple[int, ...] = ()


def check(answer: str, addresses: Sequence[str]) -> Citations:
    """Check the marks of an answer against the addresses of what was read; number 1 stands first.

    A mark is `[1]`, `[1, 2]` or `[1-3]`. Marks in code, links and footnotes are none.
    """
    named = tuple(dict.fromkeys(_numbers(answer)))
    return Citations(
        cited=tuple(number for number in named if 1 <= number <= len(addresses)),
        unsupported=tuple(number for number in named if not 1 <= number <= len(addresses)),
    )


def without_marks(answer: str) -> str:
    """Leave out every mark with the space before it: what a page shows that renders marks in a way of its own."""
    return _MARK_AND_SPACE.sub("", answer)


def _numbers(answer: str) -> Iterator[int]:
    for mark in _MARK.finditer(_prose(answer)):
        for item in re.split("[,;]", mark[1]):
            first, *last = (int(end) for end in re.split("[-\u2013]", item))
            low, high = min([first, *last]), max([first, *last])
            yield from range(low, min(high, low + RANGE_LIMIT - 1) + 1)


def _prose(answer: str) -> str:
    """Leave out code, and the definitions of link references; what is left stands as far apart as before."""
    paragraphs = _PARAGRAPH_END.split(_FENCE.sub("\n\n", answer))
    return "\n\n".join(_DEFINITION.sub(" ", _CODE_SPAN.sub(" ", paragraph)) for paragraph in paragraphs)
