"""The evaluator of filter patterns says what AWS's page does, and refuses what is not on it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.loopback.filter_pattern import LENGTH, MalformedPatternError, UnsettledError, parse, published

EVENT = b"""{"eventType": "UpdateTrail", "sourceIPAddress": "111.111.111.111", "count": 1, "bandwidth": 1e9,
 "spent": 0.25, "ready": true, "empty": null, "user": {"id": 1, "email": "a@example.com"}, "broken": false}"""


@pytest.mark.parametrize(
    "pattern",
    [
        '{ $.eventType = "UpdateTrail" }',
        '{$.eventType="UpdateTrail"}',
        '{ $.eventType = "Update*" }',
        '{ $.eventType = "*Trail" }',
        '{ $.eventType != "StopTrail" }',
        '{ $.sourceIPAddress != "123.123.*" }',
        "{ $.count = 1 }",
        "{ $.count != 2 }",
        "{ $.bandwidth > 75 }",
        "{ $.bandwidth >= 1e9 }",
        "{ $.spent < 0.5 }",
        "{ $.user.id = 1 }",
        "{ $.ready IS TRUE }",
        "{ $.broken IS FALSE }",
        "{ $.empty IS NULL }",
        "{ $.nothing NOT EXISTS }",
        '{ ($.user.id = 1) && ($.user.email = "a@*") }',
        "{ $.count = 2 || $.count = 1 }",
        "{ $.ready IS FALSE && $.count = 1 || $.count = 1 }",
    ],
)
def test_a_pattern_matches(pattern: str) -> None:
    """Each form of the page, on an event that it is meant for."""
    assert parse(pattern).matches(EVENT)


@pytest.mark.parametrize(
    "pattern",
    [
        '{ $.eventType = "Update" }',
        '{ $.eventType = "updatetrail" }',
        '{ $.eventType != "Update*" }',
        "{ $.count > 1 }",
        '{ $.count = "1" }',
        "{ $.eventType = 1 }",
        "{ $.nothing >= 0 }",
        "{ $.empty NOT EXISTS }",
        "{ $.nothing IS NULL }",
        "{ $.nothing IS FALSE }",
        "{ $.count IS TRUE }",
        '{ $.nothing = "*" }',
        "{ $.ready IS FALSE && ($.count = 1 || $.count = 1) }",
        "{ $.user = 1 }",
    ],
)
def test_a_pattern_does_not_match(pattern: str) -> None:
    """The same forms, beside the mark."""
    assert not parse(pattern).matches(EVENT)


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "ERROR",
        '"ERROR"',
        "{ $.eventType = UpdateTrail }",
        '{ $.eventType = "UpdateTrail" ',
        '{ $.eventType == "UpdateTrail" }',
        '{ eventType = "UpdateTrail" }',
        '{ $.eventType > "UpdateTrail" }',
        '{ $.eventType IS "UpdateTrail" }',
        "{ $.ready = TRUE }",
        "{ $.ready is true }",
        "{ $.ready EXISTS }",
        "{ $.a = 1 AND $.b = 1 }",
        "{ $.a = 1 & $.b = 1 }",
        "{ ($.a = 1 }",
        "{ $.a = 1 } { $.b = 1 }",
        '{ $.a = "%x%" && }',
        "{ }",
        '{ $.a = "' + "x" * LENGTH + '" }',
    ],
)
def test_a_typo_is_refused(pattern: str) -> None:
    """What AWS would refuse, or read as something else, fails here."""
    with pytest.raises(MalformedPatternError):
        parse(pattern)


def test_what_no_document_settles_is_not_answered() -> None:
    """Whether a field that is not there is unequal to a text: the test that needs it is told to ask otherwise."""
    with pytest.raises(UnsettledError):
        parse('{ $.nothing != "x" }').matches(EVENT)


@pytest.mark.parametrize("line", [b"Traceback (most recent call last):", b"[1]", b'"text"', b"\xff{}", b""])
def test_a_line_that_is_no_json_object_matches_nothing(line: bytes) -> None:
    """Patterns for JSON pass over other lines."""
    assert not parse("{ $.a NOT EXISTS }").matches(line)


def test_a_match_adds_a_number_or_a_field_of_the_event() -> None:
    """A field that is no number adds nothing."""
    assert published("1", EVENT) == 1
    assert published("$.spent", EVENT) == Decimal("0.25")
    assert published("$.user.id", EVENT) == 1
    assert published("$.eventType", EVENT) is None
    assert published("$.nothing", EVENT) is None
