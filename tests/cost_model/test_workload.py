"""Check the `[usage]` table: what it may hold, and how it is refused."""

from __future__ import annotations

import tomllib
from decimal import Decimal

import pytest

from agent_image.contract import (
    DASHBOARD,
    EVENT_KB_PER_SESSION,
    KB_PER_SESSION,
    QUERY_CLASS,
    RUNTIME_USAGE,
    TOKENS,
    USAGE,
    Quantity,
    Regime,
    Streams,
)
from cost_model.errors import UsageError
from cost_model.pieces import COUNTS
from cost_model.query_classes import Dashboard
from cost_model.workload import RuntimeUse, Tokens, Workload, read_workload
from tests.cost_model.conftest import USAGE as WHOLE

QUANTITIES = (
    *(*USAGE, KB_PER_SESSION, EVENT_KB_PER_SESSION),
    *(*QUERY_CLASS, *DASHBOARD, *RUNTIME_USAGE, *TOKENS, *COUNTS),
)


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
    workload = read(WHOLE)

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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stdout_kb_per_sesion = 1", 'usage.stdout_kb_per_sesion: unknown key; did you mean "stdout_kb_per_session"?'),
        (
            "storage_compression = 0",
            "usage.storage_compression: 0 is not allowed; allowed: a number from 0.01 to 1 (share)",
        ),
        ("storage_compression = 1.1", "usage.storage_compression: 1.1 is not allowed"),
        ("split_telemetry = 1", "usage.split_telemetry: 1 is not allowed; allowed: true or false"),
        (
            'query_set = "usally"',
            'usage.query_set: "usally" is not allowed; allowed: article or usual; did you mean "usual"?',
        ),
        ("query_set = 5", "usage.query_set: 5 is not allowed; allowed: article or usual"),
        ("dashboards = 5", "usage.dashboards: 5 is not allowed; allowed: a list of tables, each headed [[usage.dashb"),
        ("runtime = { memory = 1 }", 'usage.runtime.memory: unknown key; did you mean "memory_gb"?'),
        ("runtime = { version = 3 }", "usage.runtime.version: 3 is not allowed; allowed: a whole number from 1 to 2"),
        ("tokens = { modell = 'x' }", 'usage.tokens.modell: unknown key; did you mean "model"?'),
        ("tokens = { model = '' }", 'usage.tokens.model: "" is not allowed; allowed: a text that is not empty'),
    ],
)
def test_each_table_says_what_it_takes(text: str, message: str) -> None:
    """The nearest key or name is suggested."""
    assert message in "\n".join(faults_of(f"[usage]\n{text}"))


def test_every_fault_of_a_dashboard_is_said() -> None:
    """Its numbers are required; its queries may be indexed."""
    found = "\n".join(
        faults_of(
            """
            [[usage.dashboards]]
            name = "errors"
            widgets = 0.5
            refresh_minute = 5
            window_days = 30
            streams = "span"
            """
        )
    )

    assert "usage.dashboards[0].widgets: 0.5 is not allowed; allowed: a whole number from 0 to 500 (widgets)" in found
    assert 'usage.dashboards[0].refresh_minute: unknown key; did you mean "refresh_minutes"?' in found
    assert "usage.dashboards[0].refresh_minutes: missing; allowed: a number from 0.1 to 43,200 (minutes)" in found
    assert "usage.dashboards[0].hours_open_per_month: missing" in found
    assert 'usage.dashboards[0].streams: "span" is not allowed; allowed: all or spans; did you mean "spans"?' in found


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda quantity: quantity.key)
def test_every_number_has_a_bound(quantity: Quantity) -> None:
    """Beyond it a number is a slip of the hand, whatever it counts."""
    assert quantity.maximum is not None
    assert quantity.minimum < quantity.maximum <= 10**15


def test_all_that_can_be_stated_is_read() -> None:
    """Each table arrives as a record."""
    workload = read(
        """
        [usage]
        split_telemetry = true
        runtime = { version = 1, vcpu_seconds_per_session = 10 }
        tokens = { model = "m", input_per_session = 12_000 }
        [[usage.dashboards]]
        name = "errors"
        widgets = 2
        refresh_minutes = 5
        window_days = 1
        hours_open_per_month = 160
        indexed = true
        streams = "spans"
        [[usage.queries]]
        name = "q"
        runs_per_month = 1
        window_days = 1
        indexed = true
        streams = "spans"
        """
    )
    (dashboard,) = workload.dashboards

    assert workload.split_telemetry
    assert workload.runtime == RuntimeUse(Decimal(1), Decimal(10))
    assert workload.tokens == Tokens("m", Decimal(12_000))
    assert dashboard == Dashboard(
        "errors", Decimal(2), Decimal(5), Decimal(1), Decimal(160), indexed=True, streams=Streams.SPANS
    )
    assert dashboard.queries.runs_per_month == 3840
    assert [query.streams for query in workload.queries or ()] == [Streams.SPANS]
