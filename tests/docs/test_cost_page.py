"""What the page about costs says is what the model does."""

from __future__ import annotations

import re
from datetime import date

import pytest
import typer
from typer.testing import CliRunner

from agent_image.contract import QUERY_CLASS, QUERY_CLASS_INDEXED, QUERY_CLASS_NAME, QuerySet
from cost_model.cli import OVER_A_CEILING, app
from cost_model.estimate import METERS, SCALE
from cost_model.meters.queries import ASSUMED_SKIP_RATIO
from cost_model.prices import load_prices
from cost_model.query_classes import query_set
from cost_model.render.figures import money
from cost_model.report.steps import article_scenario, steps
from cost_model.session_sizes import load_session_sizes
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "cost.md").read_text()
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^rastro cost (\w+(?: (?:show|refresh))?)", PAGE, re.MULTILINE)


def section(heading: str) -> str:
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_every_line_is_explained() -> None:
    """Each label that an estimate may print, in its order, the trail's first; those for scale by their kind."""
    cells = re.findall(r"^\| ([A-Z][^|]*) \|", section("What is counted"), re.MULTILINE)
    kinds = (re.sub(r"( v\d)?, .*", "", meter.label) for meter in SCALE)

    assert [label for cell in cells for label in cell.split("; ")] == list(
        dict.fromkeys([*(meter.label for meter in METERS), *kinds])
    )


def test_every_command_has_its_line() -> None:
    """And each option on the page is one of some command."""
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    runner = CliRunner()
    shown = "".join(runner.invoke(app, [*command.split(), "--help"]).output for command in sorted(set(COMMANDS)))
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE))

    assert {command.split()[0] for command in COMMANDS} == set(group.commands)
    assert {option for option in named if option not in shown} == set()


def test_the_readme_says_what_archive_costs() -> None:
    """The figure that it promises is the model's, and under 20."""
    found = steps(article_scenario(), load_prices(), date(2026, 11, 30), load_session_sizes())[-1].total

    assert found is not None
    assert found < 20
    assert f"the same million sessions cost {money(found)} in" in README


def test_the_statuses_are_those_of_the_commands() -> None:
    """A pipeline may rely on them."""
    assert re.findall(r"^\| (\d) \|", PAGE, re.MULTILINE) == ["0", "1", "2", str(OVER_A_CEILING)]


@pytest.mark.parametrize("words", [f"skips {ASSUMED_SKIP_RATIO} of its window", 'query_set = "usual"'])
def test_what_is_assumed_of_queries_is_what_the_page_says(words: str) -> None:
    """The skip ratio, and the sets that come with the model."""
    assert words in PAGE


def test_the_usual_queries_are_counted_right() -> None:
    """500 a month, 470 of them through the index."""
    usual = query_set(QuerySet.USUAL)

    assert sum(query.runs_per_month for query in usual) == 500
    assert sum(query.runs_per_month for query in usual if query.indexed) == 470


def test_the_keys_of_a_query_class_are_its_own() -> None:
    """What a reader copies is read."""
    example = section("What it is told").partition("[[usage.queries]]")[2].partition("```")[0]
    keys = {QUERY_CLASS_NAME, QUERY_CLASS_INDEXED, *(quantity.key for quantity in QUERY_CLASS)}

    assert set(re.findall(r"^(\w+) =", example, re.MULTILINE)) <= keys
