"""Find numbers of people, companies and cards: grouped as they are written, and held against their check digits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from stdnum import luhn
from stdnum.br import cnpj, cpf
from stdnum.id import nik

from agent_image.guard.detectors.found import Found, Kind

_DIGITS: Final = re.compile("[0-9]+")
_SEPARATORS: Final = frozenset(" .-/")
_LONGEST: Final = 19
_FEWEST: Final = 11
_MOST_GROUPS: Final = 5
_CPF: Final = frozenset({(11,), (3, 3, 3, 2), (9, 2)})
_CNPJ: Final = frozenset({(14,), (2, 3, 3, 4, 2), (12, 2), (8, 4, 2)})
_NIK: Final = frozenset({(16,), (6, 6, 4)})
_CARD_GROUPS: Final = range(4, 7)
# The networks' ranges: Mastercard's second, Amex, Diners and JCB, and those of whole leading digits.
_CARD: Final = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{17,18})|(?:5[0-9]|22[2-9]|2[3-6]|27[01]|2720)[0-9]*|3[47][0-9]{13}"
    r"|3(?:0[0-59]|[689])[0-9]*|35(?:2[89]|[3-8])[0-9]*|6[0-9]*"
)
_CARD_LENGTHS: Final = {"2": (16,), "3": range(14, 20), "4": range(13, 20), "5": range(16, 20), "6": range(16, 20)}
_MOMENT: Final = re.compile(
    r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[01][0-9]|2[0-3])(?:[0-5][0-9]){2}"
)
_COMPANY: Final = re.compile(
    r"(?:(?<!\w)|(?<=\\[nrt]))[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}/[0-9A-Z]{4}-[0-9]{2}(?!\w)", re.IGNORECASE
)
_BRANCH: Final = re.compile("/[0-9A-Z]{4}-[0-9]{2}", re.IGNORECASE)
"""What a search can skip to: a company's branch."""
_BEFORE_BRANCH: Final = len("12.ABC.345")


def numbers(text: str) -> Iterator[Found]:
    """Find numbers of digits alone."""
    for groups in _sequences(text):
        first = 0
        while first < len(groups):
            found = _at(groups[first : first + _MOST_GROUPS])
            if found is None:
                first += 1
                continue
            count, kind, digits = found
            yield Found(groups[first].start(), groups[first + count - 1].end(), kind, digits)
            first += count


def companies(text: str) -> Iterator[Found]:
    """Find the numbers of companies that have letters; they are told from codes by how they are written."""
    for sign in _BRANCH.finditer(text):
        found = _COMPANY.match(text, max(0, sign.start() - _BEFORE_BRANCH))
        if found and cnpj.is_valid(found[0]):
            yield Found(found.start(), found.end(), Kind.CNPJ, cnpj.compact(found[0]))


def _sequences(text: str) -> Iterator[list[re.Match[str]]]:
    """Give the groups of digits that stand together, one separator apart; letters beside them make them no number."""
    groups: list[re.Match[str]] = []
    for group in _DIGITS.finditer(text):
        apart = not groups or group.start() - groups[-1].end() != 1 or text[groups[-1].end()] not in _SEPARATORS
        if apart and groups:
            yield groups
            groups = []
        if not _is_glued(text, group):
            groups.append(group)
    if groups:
        yield groups


def _is_glued(text: str, group: re.Match[str]) -> bool:
    before, after = text[max(0, group.start() - 2) : group.start()], text[group.end() : group.end() + 1]
    # A line's end in a text that was written into JSON is a backslash and a letter.
    escaped = before in {"\\n", "\\r", "\\t"}
    return (_is_word(before[-1:]) and not escaped) or _is_word(after)


def _is_word(character: str) -> bool:
    return character.isalpha() or character == "_"


def _at(groups: Sequence[re.Match[str]]) -> tuple[int, Kind, str] | None:
    """Try the groups at the beginning, the most first: how many they are, what they make, and its digits."""
    digits, ends = "", []
    for group in groups:
        digits += group[0]
        if len(digits) > _LONGEST:
            break
        ends.append(len(digits))
    for count in range(len(ends), 0, -1):
        if ends[count - 1] < _FEWEST:
            break
        shape = tuple(len(group[0]) for group in groups[:count])
        if kind := _kind(digits[: ends[count - 1]], shape):
            return count, kind, digits[: ends[count - 1]]
    return None


def _kind(digits: str, shape: tuple[int, ...]) -> Kind | None:
    if len(set(digits)) == 1:
        return None
    if shape in _CPF and cpf.is_valid(digits):
        return Kind.CPF
    if shape in _CNPJ and cnpj.is_valid(digits) and (len(shape) > 1 or _MOMENT.fullmatch(digits) is None):
        return Kind.CNPJ
    if _is_card(digits, shape):
        return Kind.CARD
    if shape in _NIK and nik.is_valid(digits):
        return Kind.NIK
    return None


def _is_card(digits: str, shape: tuple[int, ...]) -> bool:
    grouped = len(shape) == 1 or all(size in _CARD_GROUPS for size in shape[:-1])
    known = len(digits) in _CARD_LENGTHS.get(digits[0], ()) and _CARD.fullmatch(digits) is not None
    return grouped and known and luhn.is_valid(digits)
