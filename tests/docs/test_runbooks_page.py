"""Each alarm has its runbook, under its key, and each runbook an alarm."""

from __future__ import annotations

import re

import pytest

from stacks.observability.alarms import ALARMS, RUNBOOKS, AlarmRow
from stacks.observability.queries import QUERIES
from tests.conftest import ROOT

PAGE = (ROOT / RUNBOOKS).read_text()
SECTIONS = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
PARTS = ("Likely causes", "What to do", "When to ignore it")
LEAST = 3
"""Commands and saved queries with which a section begins."""


@pytest.fixture(params=ALARMS, ids=lambda row: row.key)
def row(request: pytest.FixtureRequest) -> AlarmRow:
    found: AlarmRow = request.param
    return found


def test_sections_and_rows_are_the_same_in_the_same_order() -> None:
    """Whoever reads down the page reads down the table."""
    assert list(SECTIONS) == [row.key for row in ALARMS]


def test_a_row_names_its_section(row: AlarmRow) -> None:
    """The anchor that a page of headings makes of a key is the key itself."""
    page, _, anchor = row.runbook.partition("#")

    assert (ROOT / page).is_file()
    assert anchor in SECTIONS
    assert re.fullmatch(r"[a-z][a-z0-9_]*", anchor)


def test_a_section_says_what_is_wrong_in_the_alarm_s_words(row: AlarmRow) -> None:
    """Whoever comes from the mail sees at once that this is the place."""
    assert SECTIONS[row.key].lstrip().startswith(f"**{row.title}.** ")


def test_a_section_says_what_to_run_first(row: AlarmRow) -> None:
    """Three commands or more, and saved queries that there are; commands are held to the program elsewhere."""
    section = SECTIONS[row.key]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    (named,) = re.findall(r"^Saved queries: (.*)\.$", section, re.MULTILINE)
    queries = re.findall(r"`([^`]+)`", named)

    assert len(blocks) == 1
    assert len(commands) == LEAST
    assert all(command.startswith("rastro ") and "--environment prod" in command for command in commands)
    assert queries
    assert set(queries) <= {query.key for query in QUERIES}


def test_a_section_has_every_part(row: AlarmRow) -> None:
    """Causes, what to do, and when to leave it."""
    assert re.findall(r"^\* \*\*([^*]+):\*\*", SECTIONS[row.key], re.MULTILINE) == list(PARTS)


def test_sections_name_settings_and_queries_that_there_are() -> None:
    """A key in code style with a dot in it is one of the settings page."""
    settings = (ROOT / "docs" / "settings.md").read_text()
    named = set(re.findall(r"`((?:guard|agent|observability)\.[a-z_.<>]+)(?: = [^`]*)?`", PAGE))

    assert named
    assert [key for key in sorted(named) if f"| `{key}` |" not in settings] == []
