"""Turn any words of a user into a query that SQLite's FTS5 understands: pure, in English and Portuguese."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

TERMS_LIMIT: Final = 64
"""Distinct words that count, the first ones: FTS5 bounds the depth of a query."""

_WORD: Final = re.compile(r"[^\W_]+")
_SHORTEST_STEM: Final = 3
# What tells one number of a word from the other: "policies", "devoluções". The longest come first.
_ENDINGS: Final = ("oes", "aos", "ies", "ao", "es", "s", "y")
_STOP_WORDS: Final = frozenset(
    _WORD.findall("""
    a about all an and any are as at be been but by can could did do does for from had has have how i if in is it its
    may me my no not of on or our should so than that the their them then there they this to up was we were what when
    where which who why will with would you your
    aos ate com como da das de dela dele do dos e ela elas ele eles em entre era essa esse esta estao este eu foi ha
    isso isto ja lhe mais mas meu minha muito na nao nas nem nos nossa nosso num numa o os ou para pela pelo pode
    posso por porque qual quais quando quanto quantos quem que sao se sem ser seu sua tem um uma voce voces
    """)
)


def full_text_query(query: str) -> str | None:
    """Write the query: any of the words, by their stems; None where there is no word.

    Words that stand in every text count only where there are no others. What FTS5 takes for syntax is left out.
    """
    words = list(dict.fromkeys(_WORD.findall(_folded(query))))
    telling = [word for word in words if word not in _STOP_WORDS] or words
    # A quoted string is never syntax, and the star makes it the beginning of a word.
    stems = dict.fromkeys(_stem(word) for word in telling[:TERMS_LIMIT])
    return " OR ".join(f'"{stem}"*' for stem in stems) or None


def _folded(text: str) -> str:
    """Take accents off, as the index does."""
    apart = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", "".join(one for one in apart if not unicodedata.combining(one)))


def _stem(word: str) -> str:
    return next(
        (
            word.removesuffix(ending)
            for ending in _ENDINGS
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM
        ),
        word,
    )
