"""What the page about the dashboard and the saved queries says is what the stack declares."""

from __future__ import annotations

import re

from agent_image.contract import DEFAULT_INDEXED_FIELDS
from stacks.observability.dashboard import reads
from stacks.observability.panels import SECTIONS
from stacks.observability.queries import QUERIES
from stacks.observability.query import WORDS
from stacks.observability.watching import chosen, metrics_of, shows
from stacks.settings.load import load
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "dashboard.md").read_text()
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in PAGE.splitlines()
    if re.match(r"\| `[a-z-]+` \|", line)
]


def test_the_table_of_queries_is_the_table_of_the_code() -> None:
    """Key, purpose, window and index, in their order."""
    assert [
        (f"`{row.key}`", row.what.removesuffix("."), row.window, f"`{row.narrowed.field}`") for row in QUERIES
    ] == ROWS


def test_every_section_of_the_dashboard_is_told() -> None:
    """In its order, after the alarms."""
    (table,) = re.findall(r"\| section \| shows \|\n\|---\|---\|\n(.*?)\n\n", PAGE, re.DOTALL)

    assert re.findall(r"^\| (\w+) \|", table, re.MULTILINE) == ["Alarms", *(section.title for section in SECTIONS)]


def test_metrics_that_only_the_dashboard_reads_are_named() -> None:
    """They are what it costs beside itself."""
    for environment in load(ROOT / "environments").environments:
        alarms = {row.name for row in metrics_of(chosen(environment.declared))}
        only = set(reads(shows(environment.declared))) - alarms
        (named,) = re.findall(r"five metrics that no alarm reads\n\((.*?)\)", PAGE, re.DOTALL)
        assert set(re.findall(r"`(\w+)`", named)) == only


def test_words_to_replace_and_free_indexes_are_named() -> None:
    """Those of the code."""
    assert [word for word in WORDS if f"`{word}`" not in PAGE] == []
    for field in ("traceId", "attributes.session.id", "@data_format"):
        assert field in DEFAULT_INDEXED_FIELDS
        assert f"`{field}`" in PAGE
