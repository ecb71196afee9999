"""What the page about redaction says is what redaction does."""

from __future__ import annotations

import re

import pytest

from agent_image.digest import Digest
from agent_image.guard.detectors import Kind
from agent_image.guard.redaction import DEPTH, TEXT_LIMIT, TOTAL_LIMIT, WITHHELD, Redactor
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "redaction.md").read_text()
ROWS = {
    kind: (re.findall(r"`([^`]+)`", found), re.findall(r"`([^`]+)`", left))
    for kind, found, left in re.findall(r"^\| `([A-Z_]+)` \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
}
REDACT = Redactor(Digest(b"k" * 32)).redact


def test_every_kind_has_its_row() -> None:
    """In the order in which one goes before another."""
    assert list(ROWS) == list(Kind)


@pytest.mark.parametrize("kind", Kind)
def test_the_examples_are_found_and_left(kind: Kind) -> None:
    """Each under its kind; what only looks so stays as it is."""
    found, left = ROWS[kind]

    assert found
    assert left
    assert [text for text in found if f"[{kind}:" not in REDACT(text)] == []
    assert [text for text in left if REDACT(text) != text] == []


@pytest.mark.parametrize(
    "name", re.findall(r"`([\w-]+)`", PAGE.partition("**Fields first.**")[2].partition("is taken out whatever")[0])
)
def test_the_fields_that_are_named_are_taken_out(name: str) -> None:
    """Whatever they hold."""
    assert REDACT({name: "plain words"}) != {name: "plain words"}


def test_limits_are_those_of_the_code() -> None:
    """As the page counts them."""
    assert WITHHELD in PAGE
    assert f"{DEPTH} levels" in PAGE
    assert f"first {TEXT_LIMIT:,} characters" in PAGE
    assert f"{TOTAL_LIMIT:,} of a value" in PAGE
