"""Saved queries use what AWS documents and what the trail has, and are declared under their environment."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from agent_image.contract import DEFAULT_INDEXED_FIELDS
from stacks.observability.queries import QUERIES
from stacks.observability.query import QueryRow
from tests.loopback.insights_fields import GENERATED, KNOWN
from tests.loopback.insights_language import parse
from tests.synthesis import Synthesis

GOLDEN = Path(__file__).parent / "goldens" / "queries.txt"
INDEXED: Final = ("name", "event", "status.code", "attributes.gen_ai.operation.name", "attributes.rag.answer")
# CWL_QuerySyntax: the commands of Logs Insights QL.
_COMMANDS = """
addtotals anomaly dedup diff display fields filter filterIndex join limit lookup parse pattern sort source stats unmask
unnest where
"""
# CWL_QuerySyntax-operations-functions and CWL_QuerySyntax-Stats.
_FUNCTIONS = """
abs ceil floor greatest least log sqrt
bin datefloor dateceil fromMillis toMillis now
ispresent coalesce
isempty isblank concat ltrim rtrim trim strlen toupper tolower substr replace strcontains
avg count count_distinct max min pct stddev sum earliest latest sortsFirst sortsLast
"""
COMMANDS: Final = frozenset(_COMMANDS.split())
FUNCTIONS: Final = frozenset(_FUNCTIONS.split())
WORDS: Final = frozenset({"as", "by", "asc", "desc", "and", "or", "not", "in", "like"})
NAME: Final = re.compile(r"[@A-Za-z_][\w.@]*")
ALIAS: Final = re.compile(r" as (\w+)")


def words(text: str) -> list[str]:
    """List the names in a query, those in texts and comments left out."""
    bare = re.sub(r"""'[^']*'|"[^"]*"|#[^\n]*\n""", "", text)
    return NAME.findall(bare)


@pytest.fixture(params=QUERIES, ids=lambda row: row.key)
def row(request: pytest.FixtureRequest) -> QueryRow:
    found: QueryRow = request.param
    return found


@pytest.mark.parametrize("indexed", [(), INDEXED], ids=["free", "all"])
def test_each_word_is_documented_or_a_field_of_the_trail(row: QueryRow, indexed: tuple[str, ...]) -> None:
    """Whatever is indexed: commands begin their lines, functions stand before brackets, the rest is known by name."""
    text = row.text(indexed)
    commands = {line.removeprefix("| ").split()[0] for line in text.splitlines()[1:]}
    called = set(re.findall(r"(\w+)\(", text.partition("\n")[2]))
    named = set(words(text)) - commands - called - WORDS - set(ALIAS.findall(text))

    assert commands <= COMMANDS
    assert called <= FUNCTIONS
    assert named <= KNOWN


def test_a_query_says_which_window_to_choose(row: QueryRow) -> None:
    """In its first line, a comment: a saved query keeps none of its own, and what it scans is paid for."""
    first, *_ = row.text(()).splitlines()

    assert re.match(r"# Window: (3 hours|1 day|7 days)\b[^.]*\. [A-Z][^.]*\.", first)


def test_a_query_goes_through_the_index_of_its_field(row: QueryRow) -> None:
    """Where there is one; else the same condition is a filter, and what it finds is the same."""
    with_index, without = parse(row.text((row.narrowed.field,))), parse(row.text(()))

    assert with_index.indexed == ((row.narrowed.field, row.narrowed.values),)
    if row.narrowed.field in DEFAULT_INDEXED_FIELDS:
        assert without.indexed == with_index.indexed
    else:
        assert without.indexed == ()
        assert len(without.conditions) == len(with_index.conditions) + 1


def test_shipped_environments_index_what_queries_ask_for(shipped: Synthesis) -> None:
    """No query of theirs reads more than it must."""
    for agent in shipped.agents:
        queries = agent.resources("aws_cloudwatch_query_definition").values()
        assert [query["name"] for query in queries if "filterIndex" not in query["query_string"]] == []


def test_each_is_limited(row: QueryRow) -> None:
    """Nobody reads ten thousand rows."""
    assert parse(row.text(())).limit in {50, 1_000}


def test_the_newest_or_the_most_come_first(row: QueryRow) -> None:
    """But a story is read from its beginning, and what waits is known by how long it does."""
    from_the_beginning = row.key in {"session", "trace", "approvals"}

    assert row.order.endswith(" asc") == from_the_beginning
    assert parse(row.text(())).descending != from_the_beginning


def test_the_word_to_replace_is_told(row: QueryRow) -> None:
    """It stands once in the query, and the first line names it."""
    first, _, rest = row.text(()).partition("\n")

    assert (row.word is None) == ("in the place of" not in first)
    if row.word is not None:
        assert row.word in first
        assert rest.count(f'"{row.word}"') == 1


def test_keys_are_unique_and_plain() -> None:
    """They are parts of names of resources."""
    keys = [row.key for row in QUERIES]

    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(r"[a-z][a-z-]*", key) for key in keys)


def test_the_table_is_as_agreed() -> None:
    """All queries, as a group without indexes of its own has them."""
    assert "\n\n".join(f"{row.key}\n{row.text(())}" for row in QUERIES) + "\n" == GOLDEN.read_text()


def test_each_environment_has_its_own_over_its_live_group(shipped: Synthesis, variants: Synthesis) -> None:
    """Names begin with the environment's folder, and the group is the resource's."""
    for agent in [*shipped.agents, *variants.agents]:
        environment = agent.name.removeprefix("agent-")
        declared = agent.resources("aws_cloudwatch_query_definition")
        assert {query["name"] for query in declared.values()} == {f"rastro/{environment}/{row.key}" for row in QUERIES}
        for query in declared.values():
            assert query["log_group_names"] == ["${aws_cloudwatch_log_group.log-group.name}"]
            assert len(query["query_string"]) <= 10_000
            assert len(query["name"]) <= 255


def test_fields_that_only_the_console_makes_are_no_fields_of_lines() -> None:
    """The list that queries are held to is not all there is to write."""
    assert "@timestamp" in GENERATED
    assert {"@ingestionTime", "message", "attributes.rastro.costusd"}.isdisjoint(KNOWN)
