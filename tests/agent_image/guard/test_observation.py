"""Equal calls have equal fingerprints, equal results equal observations, and nothing else has."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.guard.observation import fingerprint, observation

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def test_arguments_and_tool_tell_calls_apart() -> None:
    """Not the name alone."""
    same = fingerprint("read", {"path": "a", "lines": 1})

    assert same == fingerprint("read", {"lines": 1.0, "path": "a"})
    assert (
        len({same, fingerprint("read", {"path": "b", "lines": 1}), fingerprint("cat", {"path": "a", "lines": 1})}) == 3
    )


def test_volatile_arguments_do_not_count() -> None:
    """By key or by path; a path reaches into lists, and touches nothing of the same name elsewhere."""
    volatile = ("number", "meta.at")

    def of(number: int, at: str, number_within: int = 0) -> str:
        return fingerprint("t", {"number": number, "meta": [{"at": at, "number": number_within}]}, volatile)

    assert of(1, "noon") == of(2, "dusk")
    assert of(1, "noon") != of(1, "noon", number_within=1)


@pytest.mark.parametrize("arguments", [{"x": math.nan}, {"x": object()}, {"x": b"\0"}, {"x": "y" * 2_000_000}, {1: 2}])
def test_arguments_without_a_form_are_all_equal(arguments: dict[Any, Any]) -> None:
    """A model that repeats what no tool takes is in a loop too."""
    assert fingerprint("t", arguments) == fingerprint("t", {"x": math.inf})
    assert fingerprint("t", arguments) != fingerprint("t", {})


def test_arguments_deeper_than_the_stack_have_a_fingerprint() -> None:
    """Hostile arguments raise nothing."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    for volatile in ([], ["y"]):
        assert fingerprint("t", {"x": deep}, [*volatile, "x.y"]) == fingerprint("t", {"x": math.nan})
        assert observation(deep, is_error=False, volatile=volatile) == observation(deep, is_error=False)


def test_white_space_and_form_do_not_make_a_result_new() -> None:
    """NFC, and every run of white space is one space."""
    assert observation("caf\u00e9  \n 1", is_error=False) == observation(" cafe\u0301 1", is_error=False)
    assert observation("a b", is_error=False) != observation("ab", is_error=False)


def test_an_error_is_another_observation_than_a_success() -> None:
    """Even with the same words."""
    assert observation("x", is_error=True) != observation("x", is_error=False)


def test_volatile_keys_of_a_result_do_not_count() -> None:
    """In objects, and in texts that are JSON, as many tools answer."""
    for form in (lambda value: value, lambda value: [{"text": value}]):
        for earlier, later in (({"n": 1, "s": "x"}, {"n": 2, "s": "x"}), ('{"n": 1, "s": "x"}', '{"s":"x","n":2}')):
            one = observation(form(earlier), is_error=False, volatile=["n", "text.n"])
            other = observation(form(later), is_error=False, volatile=["n", "text.n"])
            assert one == other
            assert observation(form(earlier), is_error=False) != observation(form(later), is_error=False)


def test_two_objects_of_a_type_are_the_same_result() -> None:
    """What an object says of itself may name its place in memory: then nothing would ever be seen twice."""
    assert observation([object()], is_error=False) == observation([object()], is_error=False)


def test_texts_that_only_look_like_json_stay_texts() -> None:
    """A broken object is compared as it is written."""
    assert observation('{"n": 1', is_error=False, volatile=["n"]) != observation(
        '{"n": 2', is_error=False, volatile=["n"]
    )
    assert observation("[" * 100_000, is_error=False, volatile=["n"])


@given(JSON)
def test_any_json_has_an_observation_that_holds(value: Any) -> None:
    """Equal values, equal observations; another value beside it makes it new."""
    assert observation(value, is_error=False) == observation(value, is_error=False)
    assert observation([value], is_error=False) != observation([value, Decimal(1)], is_error=False)
