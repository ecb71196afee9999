"""Normalise a long text piece by piece, with the very result of `fingerprint.normalised`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_image.retrieval.fingerprint import normalised


def normalised_pieces(pieces: Iterable[str]) -> bytes:
    """Normalise the text that the pieces are together.

    A list of all words takes many times their text. Between a blank and a word nothing composes, so a text may be taken
    apart there, and what was normalised apart is joined by one blank.
    """
    return b" ".join(part for part in map(normalised, _apart(pieces)) if part)


def _apart(pieces: Iterable[str]) -> Iterator[str]:
    """Take a text apart between words, wherever its pieces end."""
    word: list[str] = []
    for piece in filter(None, pieces):
        last = "" if piece[-1].isspace() else piece.rsplit(None, 1)[-1]
        if before := piece.removesuffix(last):
            yield "".join((*word, before))
            word = []
        word.append(last)
    yield "".join(word)
