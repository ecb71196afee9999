"""Read what is given to a program as GNU programs do: options anywhere before `--`, short ones together, long ones cut.

A word is a text in which `UNKNOWN` stands for what only the shell would know. An answer is yes, no, or None: it cannot
be told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

UNKNOWN: Final = "\0"
"""Stands in a word for what an expansion would put there; no command holds this character itself."""

Words = Sequence[str]


def options(words: Words) -> Iterator[str]:
    """Give the words that are options, or may turn out to be."""
    for word in words:
        if word == "--":
            return
        if word.startswith(UNKNOWN) or (word.startswith("-") and word != "-"):
            yield word


def positionals(words: Words) -> Iterator[str]:
    """Give the words that are no options, for a program whose options take no words of their own."""
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from rest
            return
        if not word.startswith("-") or word == "-":
            yield word


def given(words: Words, short: str, *long: str) -> bool | None:
    """Tell whether an option is given: any of the letters `short`, or any beginning of one of the names `long`."""
    answer: bool | None = False
    for word in options(words):
        if _is(word, short, long):
            return True
        # `-$x` may hold any letter; what stands after a `=` is a value.
        if UNKNOWN in word.partition("=")[0]:
            answer = None
    return answer


def _is(word: str, short: str, long: Sequence[str]) -> bool:
    name = word.removeprefix("--")
    if name != word:
        name = name.partition("=")[0]
        return bool(name) and any(full.startswith(name) for full in long)
    return any(letter in short for letter in word[1:])
