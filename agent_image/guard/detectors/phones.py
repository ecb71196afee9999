"""Find telephone numbers: written as one, and held against the numbering plan of their country."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agent_image.guard.detectors.found import Found, Kind
from agent_image.guard.detectors.reading import NUMBER_LIKE

_BEGIN: Final = r"(?:(?<![\w+.])|(?<=\\[nrt]))"
"""No letter or digit stands before a number; what does in a text that was written into JSON is a line's end."""
_GROUP_END: Final = re.compile(r"[0-9](?![0-9])")


@dataclass(frozen=True, slots=True)
class Plan:
    """Say how a country writes its numbers.

    Attributes:
        region: the country; None for numbers that name theirs.
        form: what a number may look like, or begin like.
        bare: a number that is digits alone; others might be anything.
    """

    region: str | None
    form: re.Pattern[str]
    bare: re.Pattern[str]


def _plan(region: str, form: str, bare: str) -> Plan:
    return Plan(region, re.compile(f"{_BEGIN}(?:{form})"), re.compile(bare))


_NEVER: Final = r"(?!)"
_INTERNATIONAL: Final = Plan(None, re.compile(r"\+(?:[ .()/-]{0,3}[0-9]){8,15}"), re.compile(_NEVER))
PLANS: Final = (
    _plan(
        "BR",
        r"(?:55[ .-]?)?(?:0 ?)?(?:\(0?[1-9][0-9]\)|[1-9][0-9])[ .-]?(?:9[ .-]?)?[2-9][0-9]{3}[ .-]?[0-9]{4}",
        r"(?:55)?0?[1-9][1-9]9[0-9]{8}",
    ),
    _plan(
        "ID",
        r"(?:62[ .-]?|\(0|0)[1-9][0-9]{1,2}\)?[ .-]?[0-9]{3,4}[ .-]?[0-9]{3,4}(?:[ .-]?[0-9]{1,4})?",
        r"(?:0|62)8[1-9][0-9]{7,10}",
    ),
    _plan("US", r"(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[2-9][0-9]{2}[ .-][0-9]{4}", _NEVER),
)
# What is called an order's number is one.
_NAMED: Final = re.compile(
    r"(?:(?<![\w.])(?:order|pedido|pesanan|invoice|fatura|faktur|ticket|chamado|protocolo|ref|id|n[ºo°])|#)"
    r"[\s.:#ºo°-]{0,4}\Z",
    re.IGNORECASE,
)
_NAME_REACH: Final = 16
PARSED: Final = 5_000
"""Beginnings of numbers that are read in one text: reading one takes as long as looking at thousands of letters."""


class TooManyError(Exception):
    """Say that a text looks like numbers all over, and is not worth reading them."""


def phones(text: str) -> Iterator[Found]:
    """Find numbers with a country's code, and those of the countries whose plans are known.

    Raises:
        TooManyError: more was read than PARSED.
    """
    left = PARSED
    for run in NUMBER_LIKE.finditer(text):
        for plan in (_INTERNATIONAL, *PLANS):
            # A sign or a bracket before it is a part of the number.
            position = max(0, run.start() - 1)
            while found := plan.form.search(text, position, run.end()):
                ends = [last.end() for last in _GROUP_END.finditer(text, found.start(), found.end())]
                left -= len(ends)
                if left < 0:
                    raise TooManyError
                # The groups behind it may be another number: the longest beginning that is one counts.
                numbers = ((end, _number(text, found.start(), end, plan)) for end in reversed(ends))
                position, number = next((one for one in numbers if one[1]), (found.start() + 1, None))
                if number:
                    yield Found(found.start(), position, Kind.PHONE, number)


def _number(text: str, start: int, end: int, plan: Plan) -> str | None:
    """Read a number as its country counts it; None if that has no such number."""
    span = text[start:end]
    if text[end : end + 1].isalnum() or not _is_written(text, start, span, plan):
        return None
    import phonenumbers  # noqa: PLC0415 - a fortieth of a second, and not on the way to the first answer

    try:
        number = phonenumbers.parse(span, plan.region)
    except phonenumbers.NumberParseException:
        return None
    # Plans grow: behind a country's code, the right length is enough.
    is_one = phonenumbers.is_valid_number if plan.region else phonenumbers.is_possible_number
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) if is_one(number) else None


def _is_written(text: str, start: int, span: str, plan: Plan) -> bool:
    if not span.isdigit():
        return True
    named = _NAMED.search(text[max(0, start - _NAME_REACH) : start])
    return named is None and plan.bare.fullmatch(span) is not None
