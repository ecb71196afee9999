"""Of long texts the beginnings are kept, wherever they stand; a text that is JSON is kept whole."""

from __future__ import annotations

import json

import pytest

from agent_image.guard.beginnings import beginnings


@pytest.mark.parametrize(
    ("value", "begun"),
    [
        ("abcdef", "abc"),
        (["abcdef", "ab"], ["abc", "ab"]),
        ({"a": {"b": ["abcdef"]}, "c": 12345678}, {"a": {"b": ["abc"]}, "c": 12345678}),
        ("[1] s3://kb/1.md", "[1]"),
        ("{not JSON}", "{no"),
    ],
)
def test_long_texts_are_cut(value: object, begun: object) -> None:
    """At any depth; what only looks like JSON as well."""
    assert beginnings(value, 3) == begun


@pytest.mark.parametrize(
    "value", ["abc", "", 12345678, None, True, 1.5, ["abc"], {"a": "abc"}, json.dumps({"password": "x" * 9}), " [1, 2]"]
)
def test_what_needs_no_cut_stays_itself(value: object) -> None:
    """The very same, so that it can be told; a field's name would be lost with the other half of its object."""
    assert beginnings(value, 3) is value


def test_json_too_deep_to_read_is_cut_like_a_text() -> None:
    """It would not be read as JSON afterwards either."""
    assert beginnings("[" * 100_000, 3) == "[[["
