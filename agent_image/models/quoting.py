"""Find the sentences of passages that share most with a question, by words alone, in English and Portuguese."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

QUOTES: Final = 3
"""Sentences quoted at most."""
_WORTH_QUOTING: Final = 0.6  # of the best sentence's score
_ENOUGH: Final = 1 / 3  # of the question's weight
_FRAGMENT: Final = 0.5  # what half a sentence is worth beside a whole one

_WORD: Final = re.compile(r"[^\W_]+")

_ENGLISH: Final = frozenset(
    _WORD.findall(
        "a about after an and any are as at be been before by can could did do does for from get had has have how i "
        "if in is it its long many may me much my no not of on or our please shall should so tell than that the their "
        "them then there these they this to up was we were what when where which who why will with would you your"
    )
)
_PORTUGUESE: Final = frozenset(
    _WORD.findall(
        "a ao aos as ate com como da das de devo do dos e ela ele em essa esse esta este eu foi ha isso isto ja lhe "
        "mais mas me meu meus minha minhas muito na nao nas no nos o onde os ou para pela pelas pelo pelos pode podem "
        "por porque posso quais qual quando quanta quantas quanto quantos que quem sao se sem ser seu seus so sua "
        "suas tem tenho ter um uma voce voces"
    )
)
_COMMON: Final = _ENGLISH | _PORTUGUESE
_LETTERS_OF_PORTUGUESE: Final = frozenset("ãõçáéíóúâêô")
_ENDINGS: Final = (("oes", "ao"), ("ies", "y"), ("ing", ""), ("ed", ""), ("s", ""))
_SHORTEST_STEM: Final = 3

_BLOCK_END: Final = re.compile(r"\n\s*\n|\n(?=[ \t]*(?:[-*+>|#]|[0-9]+[.)])[ \t])")
_BLOCK_MARK: Final = re.compile(r"\s*(?:(?:[-*+>]|[0-9]+[.)])\s+)*")
_HEADING: Final = re.compile(r"\s*#+\s[^\n]*")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W_a-zà-ÿ]|[\"“(])")


@dataclass(frozen=True, slots=True)
class Quote:
    """Hold a sentence, and the number of the passage that holds it."""

    number: int
    sentence: str


def is_portuguese(question: str) -> bool:
    """Tell whether a question is in Portuguese rather than in English."""
    words = set(_words(question))
    letters = _LETTERS_OF_PORTUGUESE & set(unicodedata.normalize("NFC", question).lower())
    return len(words & (_PORTUGUESE - _ENGLISH)) + len(letters) > len(words & (_ENGLISH - _PORTUGUESE))


def quotes(question: str, passages: Sequence[tuple[int, str]]) -> list[Quote]:
    """Choose what to quote from numbered passages, in their order; empty where they share too little with the question.

    A word weighs the more, the fewer passages hold it.
    """
    weights = _weights(_stems(question), [_stems(text) for _, text in passages])
    ranked = sorted(_scored(weights, passages), key=lambda scored: -scored.score)
    if not ranked or ranked[0].score < max(_ENOUGH * sum(weights.values()), math.ulp(1.0)):
        return []
    worth = [scored for scored in ranked if scored.score >= _WORTH_QUOTING * ranked[0].score]
    return [scored.quote for scored in sorted(_distinct(worth)[:QUOTES], key=lambda scored: scored.place)]


@dataclass(frozen=True, slots=True)
class _Scored:
    quote: Quote
    score: float
    place: tuple[int, int]


def _scored(weights: dict[str, float], passages: Sequence[tuple[int, str]]) -> Iterator[_Scored]:
    for rank, (number, text) in enumerate(passages):
        for place, sentence in enumerate(_sentences(text)):
            shared = sum(weights[stem] for stem in sorted(weights.keys() & _stems(sentence)))
            yield _Scored(Quote(number, sentence), shared * (1.0 if _is_whole(sentence) else _FRAGMENT), (rank, place))


def _distinct(ranked: Sequence[_Scored]) -> list[_Scored]:
    """Leave out sentences that a better one repeats: windows of one document overlap."""
    kept: list[_Scored] = []
    for scored in ranked:
        sentence = _plain(scored.quote.sentence)
        if not any(sentence in _plain(other.quote.sentence) for other in kept):
            kept.append(scored)
    return kept


def _weights(question: frozenset[str], passages: Sequence[frozenset[str]]) -> dict[str, float]:
    holding = Counter(stem for stems in passages for stem in stems)
    return {stem: math.log1p(len(passages) / max(holding[stem], 1)) for stem in sorted(question)}


def _sentences(text: str) -> Iterator[str]:
    for block in _BLOCK_END.split(text):
        prose = _BLOCK_MARK.sub("", _HEADING.sub("", block), count=1)
        yield from (" ".join(sentence.split()) for sentence in _SENTENCE_END.split(prose) if sentence.strip())


def _is_whole(sentence: str) -> bool:
    return sentence[-1] in '.!?:”")' and not sentence[0].islower()


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _words(text) if word not in _COMMON)


def _plain(text: str) -> str:
    return f" {' '.join(_words(text))} "


def _words(text: str) -> list[str]:
    """Read the words, in lower case and without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(character for character in apart if not unicodedata.combining(character)))


def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word.removesuffix(ending) + instead
            break
    # Portuguese genders, and the English e that -ing and -ed drop.
    return word[:-1] if word[-1] in "aeo" and len(word) > _SHORTEST_STEM else word
