"""What a person types becomes a wish, or is refused with what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_image.contract import Choice
from console.approvals.wish import REASON_LIMIT, Wish, arguments_of, reason_of
from console.errors import BadInputError


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("{}", {}),
        (' {"amount": 150.5, "to": ["a", null, true]} ', {"amount": 150.5, "to": ["a", None, True]}),
        ('{"amount": 1e2}', {"amount": 100.0}),
        ('{"name": "Jo\u00e3o \u202e"}', {"name": "Jo\u00e3o \u202e"}),
    ],
)
def test_arguments_are_a_json_object(given: str, found: object) -> None:
    """Read as it was written; empty is an object too."""
    assert arguments_of(given) == found


def test_arguments_may_lie_in_a_file(tmp_path: Path) -> None:
    """What is too long for a line stands in a file, in UTF-8."""
    (file := tmp_path / "arguments.json").write_text('{"name": "João"}', encoding="utf-8")

    assert arguments_of(f"@{file}") == {"name": "João"}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("[1]", "it is a list"),
        ("150", "it is a int"),
        ("null", "it is a NoneType"),
        ('{"amount": NaN}', "NaN is in it"),
        ('{"amount": -Infinity}', "-Infinity is in it"),
        ('{"amount": 1, "amount": 2}', "the key 'amount' is in it twice"),
        ('{"a": {"\x1b[2J": 1, "\x1b[2J": 2}}', "Invalid control character"),
        ('{"\\u001b[2J": 1, "\\u001b[2J": 2}', "the key .* is in it twice"),
        ('{"amount": 150.12345678901234567890}', "150.1234567890123456.* cannot be kept exactly"),
        ('{"amount": 1e999}', "1e999 cannot be kept exactly"),
        ('{"half": "\\ud800"}', "The arguments are not JSON"),
        ('{"long": "' + "x" * 1_000_001 + '"}', "at most 1,000,000 are allowed"),
        ("[" * 100_000, "it cannot be read"),
        ("@no-such-file", "no-such-file cannot be read .No such file"),
        ("@", "cannot be read"),
    ],
)
def test_what_is_none_is_refused(given: str, reason: str) -> None:
    """One sentence, what is allowed, exit status 2, and nothing that could steer a terminal."""
    with pytest.raises(BadInputError, match=f"^--arguments: .*{reason}.*; allowed: a JSON object, or @file") as refused:
        arguments_of(given)

    assert refused.value.status == 2
    assert "\x1b" not in str(refused.value)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    """Its bytes might mean anything."""
    (file := tmp_path / "arguments.json").write_bytes(b'{"name": "Jo\xe3o"}')

    with pytest.raises(BadInputError, match="is not UTF-8"):
        arguments_of(f"@{file}")


@pytest.mark.parametrize(("given", "found"), [(None, ""), ("", ""), ("  because \n", "because")])
def test_a_reason_may_be_left_out(given: str | None, found: str) -> None:
    """White space around it is none of it."""
    assert reason_of(given) == found


@pytest.mark.parametrize("given", [None, "", " \n\t"])
def test_a_needed_reason_is_asked_for(given: str | None) -> None:
    """The model is told why."""
    with pytest.raises(BadInputError, match="--reason is empty; allowed: a text, which the model is told"):
        reason_of(given, required=True)


def test_a_reason_is_no_book() -> None:
    """It goes into the model's context."""
    assert reason_of("x" * REASON_LIMIT)
    with pytest.raises(BadInputError, match="--reason has 10,001 characters; allowed: at most 10,000"):
        reason_of("x" * (REASON_LIMIT + 1))


@pytest.mark.parametrize("choice", Choice)
def test_what_is_approved_or_edited_runs(choice: Choice) -> None:
    """The others let nothing run."""
    assert Wish(choice=choice).releases is (choice in {"approve", "edit"})
