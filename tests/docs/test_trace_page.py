"""What the page about tracing says is what the code does."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from console.cli import app
from console.trace.archive import Lack
from console.trace.commands import PARTIAL, STRICT
from console.trace.facts import Index, Source, Text
from console.trace.sources.source import Why
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "trace.md").read_text()
FACTS = PAGE.partition("## Three facts")[2].partition("\nSources are read")[0]
REASONS = PAGE.partition("| `why` of a source")[2].partition("\n## ")[0]


@pytest.mark.parametrize(("fact", "states"), [("text", Text), ("source", Source), ("index", Index)])
def test_every_state_of_a_fact_is_explained(fact: str, states: type[Text | Source | Index]) -> None:
    """Each in the row of its fact, and none beside."""
    (row,) = re.findall(rf"^\| {fact} \| (.*) \|$", FACTS, re.MULTILINE)

    assert re.findall(r"`(\w+)`:", row) == [state.value for state in states]


def test_every_reason_is_explained() -> None:
    """Whoever meets a code finds it on the page."""
    assert {why.value for why in Why} | {lack.value for lack in Lack} <= set(re.findall(r"`(\w+)`", REASONS))


def test_every_option_on_the_page_is_one() -> None:
    """What a reader types is understood."""
    runner = CliRunner()
    shown = "".join(runner.invoke(app, [command, "--help"]).output for command in ("trace", "sessions"))

    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE))
    assert {option for option in named if option not in shown} == set()


def test_the_statuses_are_those_of_the_command() -> None:
    """A script may rely on them."""
    rows = dict(re.findall(r"^\| (\d) \| (.*) \|$", PAGE, re.MULTILINE))

    assert set(rows) == {"0", "1", "2", str(PARTIAL), str(STRICT)}
    assert "--strict" in rows[str(STRICT)]
    assert "part of the trail" in rows[str(PARTIAL)]
