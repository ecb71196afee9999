"""Find in a text what must not be kept: credentials, and numbers and addresses that lead to a person.

Whatever has a check digit, a header or a numbering plan is held against it. All of it takes time in proportion to the
text, whatever the text is made of. Names and street addresses have no such form: nothing finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from agent_image.guard.detectors import credentials, emails, numbers, phones
from agent_image.guard.detectors.found import Found, Kind
from agent_image.guard.detectors.reading import NUMBER_LIKE, folded, without_ids

Detector = Callable[[str], Iterator[Found]]
"""Finds spans in a text; several may overlap."""

WORDS: Final[tuple[Detector, ...]] = (
    credentials.private_keys, credentials.web_tokens, credentials.keys, credentials.schemes, credentials.labelled,
    credentials.of_urls, emails.emails, numbers.companies,
)  # fmt: skip
NUMBERS: Final[tuple[Detector, ...]] = (numbers.numbers, phones.phones)
"""These see no UUIDs and no network addresses: letters stand in their place."""

__all__ = ["Detector", "Found", "Kind", "find", "merged"]


def find(text: str, words: Iterable[Detector] = WORDS, digits: Iterable[Detector] = NUMBERS) -> list[Found]:
    """Find spans, in the order of the text; none overlaps another."""
    plain = folded(text)
    found = [one for detector in words for one in detector(plain)]
    if NUMBER_LIKE.search(plain):
        bare = without_ids(plain)
        found += [one for detector in digits for one in detector(bare)]
    return merged(found, plain)


def merged(found: Iterable[Found], text: str) -> list[Found]:
    """Join spans that overlap: what one of them leaves over may be a part of the other's secret."""
    joined: list[Found] = []
    for one in sorted(found, key=lambda span: (span.start, -span.end)):
        if joined and one.start < joined[-1].end:
            joined[-1] = joined[-1].joined(one, text)
        else:
            joined.append(one)
    return joined
