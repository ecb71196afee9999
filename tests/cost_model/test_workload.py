"""Check the `[usage]` table: what it may hold, and how it is refused."""

from __future__ import annotations

import tomllib
from decimal import Decimal

import pytest

from agent_image.contract import Regime
from cost_model.errors import UsageError
from cost_model.workload import Workload, read_workload
from tests.cost_model.conftest import USAGE


def read(text: str) -> Workload:
    """Read TOML text as a usage file."""
    return read_workload(tomllib.loads(text, parse_float=Decimal)["usage"], "dev.toml")


def faults_of(text: str) -> tuple[str, ...]:
    """Return the faults for which a text is refused."""
    with pytest.raises(UsageError) as refusal:
        read(text)
    return refusal.value.lines


def test_a_whole_table_is_read_exactly() -> None:
    """Numbers arrive as written, without a binary fraction."""
    workload = read(USAGE)

    assert workload.sessions == 1_000_000
    assert workload.kb_per_session[Regime.METADATA] == Decimal("9.6")
    assert workload.event_kb_per_session[Regime.CONTENT] == 5
    assert workload.queries is not None
    assert workload.queries[0].skip_ratio is None


def test_what_is_left_out_is_unknown() -> None:
    """An empty table states nothing, and no queries stated differs from a list of none."""
    assert read("[usage]") == Workload()
    assert read("[usage]\nqueries = []").queries == ()


def test_all_faults_appear_at_once() -> None:
    """Every fault of the file is listed with its key path, its value and what is allowed."""
    found = faults_of(
        """
        [usage]
        sesions = 5
        spans_per_session = -8
        passage_kb = "3.5"
        [usage.kb_per_session]
        archive = 20
        [usage.event_kb_per_session]
        metadata = "four"
        [[usage.queries]]
        name = "q"
        runs_per_month = 1
        window_days = 0.5
        indexed = "no"
        skip_ratio = 1.5
        [[usage.queries]]
        """
    )
    text = "\n".join(found)

    assert 'dev.toml: usage.sesions: unknown key; did you mean "sessions"?' in text
    assert "usage.spans_per_session: -8 is not allowed; allowed: a number from 0" in text
    assert 'usage.passage_kb: "3.5" is not allowed' in text
    assert "usage.kb_per_session.archive: unknown key; allowed: metadata, address, content" in text
    assert 'usage.queries[0].indexed: "no" is not allowed; allowed: true or false' in text
    assert "usage.queries[0].skip_ratio: 1.5 is not allowed; allowed: a number from 0 to 1 (share)" in text
    assert "usage.queries[1].name: missing; allowed: a text that is not empty" in text
    assert "usage.queries[1].runs_per_month: missing" in text
    assert 'usage.event_kb_per_session.metadata: "four" is not allowed; allowed: a number from 0' in text
    assert len(found) == 11


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "true", "1e16", "1e-13", "1e999999", "'many'", "[1]", "1.5"])
def test_a_number_must_be_finite_and_sane(value: str) -> None:
    """Neither infinities nor absurd sizes nor truth values pass for a number of sessions."""
    (fault,) = faults_of(f"[usage]\nsessions = {value}")

    assert "usage.sessions" in fault
    assert "a whole number from 0 to 1,000,000,000,000 (sessions/month)" in fault


@pytest.mark.parametrize(
    "text", ["usage = 5", "[usage]\nqueries = 5", "[usage]\nqueries = [5]", "[usage]\nkb_per_session = 1"]
)
def test_a_table_must_be_a_table(text: str) -> None:
    """A value where a table belongs is refused, not read as an empty one."""
    assert faults_of(text)


def test_query_classes_have_names_of_their_own() -> None:
    """Two classes of one name could not be told apart in a table."""
    query = '[[usage.queries]]\nname = "q"\nruns_per_month = 1\nwindow_days = 1\nindexed = true\n'

    assert "a name of its own" in faults_of(query * 2)[0]


def test_a_number_is_nothing_or_worth_counting() -> None:
    """Below any size that traffic has, a number is a slip; 0 is a statement."""
    assert "usage.passage_kb: 1E-13 is not allowed" in faults_of("[usage]\npassage_kb = 1e-13")[0]
    assert read("[usage]\npassage_kb = 0e-999999").passage_kb == 0
