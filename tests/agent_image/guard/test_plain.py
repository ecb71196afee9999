"""Whatever a tool returns has a plain form: an event is never lost for the value that it tells of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_image.contract import Zone
from agent_image.digest import Digest
from agent_image.guard.plain import DEPTH, NODES, compact, plain, text_of, words_of


class Colour(Enum):
    RED = ("r", 1)


class Rank(IntEnum):
    FIRST = 1


@dataclass
class Order:
    id: int
    amount: Decimal


class Spiteful(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("no")


@pytest.mark.parametrize(  # an id would be the number itself, which has too many digits
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (b"caf\xc3\xa9", "café"),
        (bytearray(b"\xff"), "\ufffd"),
        (Decimal("1E+3"), "1E+3"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (datetime(2026, 1, 31, 6, 30, tzinfo=timezone(-timedelta(hours=3))), "2026-01-31T09:30:00.000Z"),
        (datetime(2026, 1, 31, 6, 30), "2026-01-31T06:30:00"),  # noqa: DTZ001 - without a zone on purpose
        (date(2026, 1, 31), "2026-01-31"),
        (timedelta(seconds=1), "<timedelta>"),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", 1}), ["b", 1]),
        ((1, [2]), [1, [2]]),
        ({1: "a", None: "b", (2, 3): "c", Zone.RED: "d"}, {"1": "a", "null": "b", "[2,3]": "c", "red": "d"}),
        (Colour.RED, ["r", 1]),
        (Rank.FIRST, 1),
        (Order(1, Decimal("2.50")), {"id": 1, "amount": "2.50"}),
        (Order, "<type>"),
        (object(), "<object>"),
        ("\ud800x", "\ufffdx"),
        (1 << 99_999, "<int>"),
        (10**30, 10**30),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_type_has_a_plain_form(value: object, expected: object) -> None:
    """What the seed's encoder died of among them: None, bytes, sets, moments, numbers that are none."""
    assert plain(value) == expected


def test_an_object_that_raises_when_it_is_looked_at_is_named() -> None:
    """Its siblings are written."""
    assert plain([Spiteful(), 1]) == ["<Spiteful>", 1]


def test_a_value_that_contains_itself_ends() -> None:
    """At the deepest level that is written."""
    ring: list[Any] = [1]
    ring.append(ring)

    assert compact(plain(ring)).count("1,[") == DEPTH


def test_a_value_that_shares_its_parts_is_bounded() -> None:
    """Thirty levels of pairs of one list are a billion values."""
    value: list[Any] = ["x"]
    for _ in range(30):
        value = [value, value]

    assert len(compact(plain(value))) < 20 * NODES


def test_bidirectional_marks_and_terminal_controls_are_escaped() -> None:
    """A line may be shown in a terminal, and splits nowhere."""
    text = "\x1b[2J\x9b2J\u202eevil\u2028\r\n\x85"

    written = compact(text)

    assert written.isprintable()
    assert json.loads(written) == text
    assert compact("a\x7fb") == '"a\\u007fb"'


def test_equal_values_have_one_text() -> None:
    """Whatever the order of their keys; a text is its own."""
    assert text_of({"b": 1, "a": [None]}) == text_of({"a": [None], "b": 1}) == '{"a":[null],"b":1}'
    assert text_of('{"b":1}') == '{"b":1}'


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.decimals()
    | st.datetimes()
    | st.datetimes(timezones=st.just(UTC))
    | st.characters(categories=["Cs"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.none() | st.binary(), inner),
    max_leaves=8,
)


@settings(deadline=None)
@given(ANYTHING)
def test_any_value_is_written_as_one_line_of_json(value: object) -> None:
    """And read again as what was written."""
    shown = plain(value)
    written = compact(shown)

    assert json.loads(written) == shown
    assert written.encode().splitlines() == [written.encode()]


def test_words_have_one_digest_under_each_key() -> None:
    """Both outlets ask for it; another key gives another."""
    words = words_of({"b": 1, "a": "x"})
    keys = [Digest(b"a" * 32), Digest(b"b" * 32)]

    assert [words.digest(key) for key in keys * 2] == [key.of(text_of({"a": "x", "b": 1})) for key in keys] * 2
