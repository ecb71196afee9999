"""Let measured sessions stand in for sizes that nobody stated, and say so."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from agent_image.contract import KB_PER_SESSION_REGIMES, Regime
from benchmarks.agent import sizes_file
from benchmarks.agent.exported import Exported
from benchmarks.agent.sessions import Sizes
from benchmarks.agent.workload import SESSION
from cost_model.cli import app
from cost_model.errors import CostError, SessionSizesError
from cost_model.estimate import Estimate, estimate
from cost_model.money import BYTES_PER_GB
from cost_model.prices import PriceBook
from cost_model.regimes import compare_regimes
from cost_model.render.json_text import estimates_json
from cost_model.render.markdown import escape, render_markdown
from cost_model.render.plain import render_plain
from cost_model.render.report import estimate_sections
from cost_model.render.terminal import print_terminal
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes, assume_sizes, load_session_sizes
from tests.conftest import ROOT
from tests.cost_model.conftest import TODAY, USAGE, Synthesis

SIZES = SessionSizes(
    measured=date(2026, 5, 4),
    session="one question",
    spans_per_session=Decimal(20),
    kb_per_session=MappingProxyType(
        {Regime.METADATA: Decimal(10), Regime.ADDRESS: Decimal(30), Regime.CONTENT: Decimal(100)}
    ),
    event_kb_per_session=MappingProxyType(
        {Regime.METADATA: Decimal(2), Regime.ADDRESS: Decimal(3), Regime.CONTENT: Decimal(4)}
    ),
)
FILE = """
measured = 2026-05-04
session = "one question"
spans_per_session = 20

[kb_per_session]
metadata = 10
address = 30
content = 100

[event_kb_per_session]
metadata = 2
address = 3
content = 4
"""
SPAN_KB_WORDS = {
    Regime.METADATA: "kb_per_session.metadata is not stated: taken as 10",
    Regime.ADDRESS: "kb_per_session.address is not stated: taken as 30",
    Regime.ARCHIVE: "kb_per_session.address is not stated: taken as 30",
    Regime.CONTENT: "kb_per_session.content is not stated: taken as 100",
}
EVENT_KB_WORDS = {
    Regime.METADATA: "event_kb_per_session.metadata is not stated: taken as 2",
    Regime.ADDRESS: "event_kb_per_session.address is not stated: taken as 3",
    Regime.ARCHIVE: "event_kb_per_session.address is not stated: taken as 3",
    Regime.CONTENT: "event_kb_per_session.content is not stated: taken as 4",
}
SPANS_WORDS = "spans_per_session is not stated: taken as 20"
MEASURED_WORDS = "as `make bench` measured the agent image on 2026-05-04"
ALL_WORDS = (
    *(SPANS_WORDS, *SPAN_KB_WORDS.values(), *EVENT_KB_WORDS.values(), MEASURED_WORDS),
    "the measured session is",
)
UNSIZED = (
    USAGE.replace("spans_per_session = 8\n", "")
    .replace("[usage.kb_per_session]\nmetadata = 9.6\naddress = 20\ncontent = 85\n", "")
    .replace("[usage.event_kb_per_session]\nmetadata = 4\naddress = 4\ncontent = 5\n", "")
)


def under(scenario: Scenario, regime: Regime | None, **stated: Any) -> Scenario:
    """Return the scenario in a regime, without sizes but for what is stated."""
    none = MappingProxyType[Regime, Decimal]({})
    unsized = {"spans_per_session": None, "kb_per_session": none, "event_kb_per_session": none, **stated}
    return Scenario(replace(scenario.deployment, regime=regime), replace(scenario.workload, **unsized))


def said(result: Estimate) -> str:
    """Return all assumptions as one text."""
    return "\n".join(result.assumptions)


def read(folder: Path, text: str) -> SessionSizes:
    """Load a text as the file of sizes."""
    path = folder / "session_sizes.toml"
    path.write_text(text, encoding="utf-8")
    return load_session_sizes(path)


@pytest.mark.parametrize(
    ("regime", "kilobytes", "lines"),
    [(Regime.METADATA, 10, 2), (Regime.ADDRESS, 30, 3), (Regime.ARCHIVE, 30, 3), (Regime.CONTENT, 100, 4)],
)
def test_measured_sizes_stand_in_for_those_that_nobody_stated(
    article: Scenario, prices: PriceBook, *, regime: Regime, kilobytes: int, lines: int
) -> None:
    """With sessions alone, each regime is priced as if somebody had stated what was measured, and says so."""
    stated = {
        "spans_per_session": Decimal(20),
        "kb_per_session": SIZES.kb_per_session,
        "event_kb_per_session": SIZES.event_kb_per_session,
    }
    measured = estimate(under(article, regime), prices, TODAY, SIZES)
    written = estimate(under(article, regime, **stated), prices, TODAY)

    assert measured.lines == written.lines
    assert measured.scenario.span_gb == Decimal(1_000_000 * kilobytes * 1024) / BYTES_PER_GB
    assert measured.scenario.event_gb == Decimal(1_000_000 * lines * 1024) / BYTES_PER_GB
    assert measured.scenario.spans == 20_000_000
    assert f"{SPANS_WORDS}, {MEASURED_WORDS}" in measured.assumptions
    assert f"{SPAN_KB_WORDS[regime]}, {MEASURED_WORDS}" in measured.assumptions
    assert f"{EVENT_KB_WORDS[regime]}, {MEASURED_WORDS}" in measured.assumptions
    assert "the measured session is one question; one that does more leaves more" in measured.assumptions
    assert not any(words in said(written) for words in ALL_WORDS)


def test_what_a_person_stated_wins(article: Scenario, prices: PriceBook) -> None:
    """Stated sizes are priced as stated, each by itself, and what is not assumed is not called so."""
    sizes = MappingProxyType({Regime.ADDRESS: Decimal(7)})
    lines = MappingProxyType({Regime.ADDRESS: Decimal(0)})
    stated = {"spans_per_session": Decimal(3), "kb_per_session": sizes, "event_kb_per_session": lines}
    both = estimate(under(article, Regime.ADDRESS, **stated), prices, TODAY, SIZES)
    events = estimate(under(article, Regime.ADDRESS, event_kb_per_session=lines), prices, TODAY, SIZES)
    spans = estimate(under(article, Regime.ADDRESS, spans_per_session=Decimal(3)), prices, TODAY, SIZES)
    kilobytes = estimate(under(article, Regime.ADDRESS, kb_per_session=sizes), prices, TODAY, SIZES)
    nothing = estimate(under(article, Regime.ADDRESS, spans_per_session=Decimal(0)), prices, TODAY, SIZES)

    assert both.scenario.spans == spans.scenario.spans == 3_000_000
    assert both.scenario.span_gb == kilobytes.scenario.span_gb == Decimal(7_000_000 * 1024) / BYTES_PER_GB
    assert not any(words in said(both) for words in ALL_WORDS)
    assert both.scenario.event_gb == events.scenario.event_gb == 0
    assert EVENT_KB_WORDS[Regime.ADDRESS] not in said(events)
    assert SPAN_KB_WORDS[Regime.ADDRESS] in said(events)
    assert SPANS_WORDS not in said(spans)
    assert SPAN_KB_WORDS[Regime.ADDRESS] in said(spans)
    assert SPANS_WORDS in said(kilobytes)
    assert SPAN_KB_WORDS[Regime.ADDRESS] not in said(kilobytes)
    assert nothing.scenario.spans == 0, "a stated 0 is a statement"


def test_the_size_of_another_regime_is_none_of_this_one(article: Scenario, prices: PriceBook) -> None:
    """Where only content's size is stated, address is priced as measured; archive takes what is stated for address."""
    content = MappingProxyType({Regime.CONTENT: Decimal(85)})
    address = MappingProxyType({Regime.ADDRESS: Decimal(7)})

    assert SPAN_KB_WORDS[Regime.ADDRESS] in said(
        estimate(under(article, Regime.ADDRESS, kb_per_session=content), prices, TODAY, SIZES)
    )
    archive = estimate(
        under(article, Regime.ARCHIVE, kb_per_session=address, event_kb_per_session=address), prices, TODAY, SIZES
    )
    assert "kb_per_session" not in said(archive)


@pytest.mark.parametrize(("regime", "sessions"), [(Regime.ADDRESS, None), (None, Decimal(1_000_000))])
def test_without_sessions_or_regime_sizes_stay_unknown(
    article: Scenario, prices: PriceBook, *, regime: Regime | None, sessions: Decimal | None
) -> None:
    """Nothing is assumed about traffic that nobody stated, nor about sessions that may be of other software."""
    result = estimate(under(article, regime, sessions=sessions), prices, TODAY, SIZES)

    assert {"span_ingestion", "event_ingestion", "indexing", "storage", "queries"} == {
        line.key for line in result.unknown
    }
    assert not any(words in said(result) for words in ALL_WORDS)


def test_a_comparison_assumes_for_each_regime_its_own_size(article: Scenario, prices: PriceBook) -> None:
    """Each regime gets the measured size of its spans and states that one alone."""
    compared = compare_regimes(under(article, None), prices, TODAY, SIZES).estimates

    for regime, result in compared.items():
        assert result.lines == estimate(under(article, regime), prices, TODAY, SIZES).lines
        for measured in (SPAN_KB_WORDS, EVENT_KB_WORDS):
            assert {words for words in measured.values() if f"\n{words}" in f"\n{said(result)}"} == {measured[regime]}
        assert SPANS_WORDS in said(result)


def test_the_article_states_its_sizes(article: Scenario, prices: PriceBook) -> None:
    """Whatever was measured, the published figures rest on what the article states."""
    assert compare_regimes(article, prices, TODAY, SIZES).estimates == compare_regimes(article, prices, TODAY).estimates


def test_every_format_prints_what_is_assumed(article: Scenario, prices: PriceBook) -> None:
    """Pipe, terminal, Markdown and JSON say which sizes were taken, of what day, and from where."""
    result = estimate(under(article, Regime.CONTENT), prices, TODAY, SIZES)
    stream = io.StringIO()
    print_terminal(estimate_sections([result]), Console(file=stream, width=200))
    sections = list(estimate_sections([result]))
    expected = [
        f"{words}, {MEASURED_WORDS}"
        for words in (SPANS_WORDS, SPAN_KB_WORDS[Regime.CONTENT], EVENT_KB_WORDS[Regime.CONTENT])
    ]
    (document,) = json.loads(estimates_json([result]))["environments"].values()

    for each in expected:
        assert each in render_plain(sections)
        assert each in stream.getvalue()
        assert f"- {escape(each)}\n" in render_markdown(sections)
        assert each in document["assumptions"]


sizes = st.builds(
    Exported,
    spans=st.integers(1, 10_000),
    span_bytes=st.integers(200, 10**8),
    logs=st.integers(0, 100),
    log_bytes=st.integers(0, 10**6),
    lines=st.integers(1, 10_000),
    line_bytes=st.integers(200, 10**7),
)


@given(st.fixed_dictionaries(dict.fromkeys(Regime, sizes)), st.dates())
def test_what_the_benchmark_writes_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, regimes: dict[Regime, Exported], measured: date
) -> None:
    """The file holds the day, the session, the spans, and the bytes to half a tenth of a KB."""
    path = tmp_path_factory.mktemp("sizes") / "session_sizes.toml"
    sizes_file.write(Sizes(regimes, peer=regimes[Regime.CONTENT], ten_turns=regimes[Regime.CONTENT]), measured, path)
    found = load_session_sizes(path)

    assert (found.measured, found.session) == (measured, SESSION)
    assert found.spans_per_session == regimes[Regime.ADDRESS].spans
    for regime in KB_PER_SESSION_REGIMES:
        assert abs(found.kb_per_session[regime] * 1024 - regimes[regime].export_bytes) <= Decimal("51.2")
        assert abs(found.event_kb_per_session[regime] * 1024 - regimes[regime].line_bytes) <= Decimal("51.2")


def test_a_changed_file_changes_the_estimate(article: Scenario, prices: PriceBook, tmp_path: Path) -> None:
    """Twice the bytes cost twice the ingestion."""
    scenario = under(article, Regime.ADDRESS)
    before = estimate(scenario, prices, TODAY, read(tmp_path, FILE))
    after = estimate(scenario, prices, TODAY, read(tmp_path, FILE.replace("address = 30", "address = 60.0")))
    ingested = [line.monthly for result in (before, after) for line in result.lines if line.key == "span_ingestion"]

    assert before.lines == estimate(scenario, prices, TODAY, SIZES).lines
    assert ingested[1] == 2 * (ingested[0] or Decimal(0)) > 0


def test_a_broken_file_is_refused_with_all_its_faults(tmp_path: Path) -> None:
    """Each fault is named with its key, its value and what is allowed."""
    with pytest.raises(SessionSizesError) as refusal:
        read(
            tmp_path,
            """
            measured = 2026-05-04T10:00:00
            session = " "
            spans_per_sesion = 20
            [kb_per_session]
            metadata = 0
            address = "many"
            archive = 30
            [event_kb_per_session]
            metadata = 0
            address = 3
            content = 4
            """,
        )
    text = "\n".join(refusal.value.lines)

    assert "session_sizes.toml: measured: 2026-05-04 10:00:00 is not allowed; allowed: a date such as" in text
    assert 'session_sizes.toml: session: " " is not allowed' in text
    assert 'session_sizes.toml: spans_per_sesion: unknown key; did you mean "spans_per_session"?' in text
    assert "session_sizes.toml: spans_per_session: missing; allowed: a number from 1 to" in text
    assert "session_sizes.toml: kb_per_session.metadata: 0 is not allowed; allowed: a number from 0.1 to" in text
    assert 'session_sizes.toml: kb_per_session.address: "many" is not allowed' in text
    assert "session_sizes.toml: kb_per_session.archive: unknown key; allowed: metadata, address, content" in text
    assert "session_sizes.toml: kb_per_session.content: missing" in text
    assert "session_sizes.toml: event_kb_per_session.metadata: 0 is not allowed; allowed: a number from 0.1" in text
    assert len(refusal.value.lines) == 9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("measured = ", "not valid TOML"),
        ("", "toml: kb_per_session: missing; allowed: a table"),
        (FILE.partition("[event")[0], "event_kb_per_session: missing; allowed: a table"),
        (FILE.replace("2026-05-04", '"2026-05-04"'), 'measured: "2026-05-04" is not allowed'),
        (FILE.replace("n = 20\n", "n = nan\n"), "spans_per_session: NaN is not allowed"),
        (FILE.replace("= 100", "= true"), "kb_per_session.content: true is not allowed"),
    ],
)
def test_a_file_that_is_no_measurement_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """What is missing, no number or no day is never guessed."""
    with pytest.raises(CostError, match=r"session_sizes\.toml") as refusal:
        read(tmp_path, text)

    assert message in str(refusal.value)


def test_the_shipped_file_is_a_measurement() -> None:
    """The sizes that ship are in the order in which regimes hold more."""
    found = load_session_sizes()
    metadata, address, content = (found.kb_per_session[regime] for regime in KB_PER_SESSION_REGIMES)

    assert found.session == SESSION
    assert found.spans_per_session >= 1
    assert metadata < address < content


def test_both_commands_read_the_shipped_file(synthesis: Synthesis, prices: PriceBook) -> None:
    """With sessions alone in [usage], estimate and regimes price what ships; without sessions they wait for usage."""
    shipped = load_session_sizes()
    synthesis.add_environment("dev", regime="content")
    usage = synthesis.root / "usage.toml"

    def lines(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
        usage.write_text(text + '\n[deployed]\nregion = "us-east-1"\nindexing_percentage = 1\n', encoding="utf-8")
        run = CliRunner()
        priced = run.invoke(
            app, ["estimate", str(synthesis.write()), "--settings", str(synthesis.settings), "--usage", str(usage),
                  "--format", "json"]
        )  # fmt: skip
        compared = run.invoke(app, ["regimes", "--usage", str(usage), "--format", "json"])
        return (
            json.loads(priced.stdout)["environments"]["dev"],
            json.loads(compared.stdout)["regimes"]["content"],
        )

    gigabytes = shipped.kb_per_session[Regime.CONTENT] * 1_000_000 * 1024 / BYTES_PER_GB
    usd = prices.row("us-east-1", "span_ingestion").charge(gigabytes)
    for found in lines(UNSIZED):
        assert Decimal(found["details"]["span_ingestion"]["exact"]) == usd
        assert any(shipped.measured.isoformat() in text for text in found["assumptions"])
    for found in lines(UNSIZED.replace("sessions = 1_000_000\n", "")):
        assert found["lines"]["span_ingestion"] is None
        assert "span_ingestion" in found["depends_on_usage"]


def test_a_copy_of_the_package_reads_the_file_beside_it(tmp_path: Path) -> None:
    """Put another measurement in, and the command prices it; break it, and the command refuses."""
    for package in ("cost_model", "agent_image"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    usage = tmp_path / "usage.toml"
    usage.write_text(f'{UNSIZED}\n[deployed]\nregion = "us-east-1"\n', encoding="utf-8")
    file = tmp_path / "cost_model" / "data" / "session_sizes.toml"

    def regimes(text: str) -> subprocess.CompletedProcess[str]:
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "cost_model", "regimes", "--usage", str(usage)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    assert f"{SPANS_WORDS}, {MEASURED_WORDS}" in regimes(FILE).stdout
    refused = regimes(FILE.replace("n = 20\n", "n = -1\n"))
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith("session_sizes.toml: spans_per_session: -1 is not allowed")


def test_assuming_twice_assumes_nothing_more(article: Scenario) -> None:
    """Once a size is there, it stays."""
    once = assume_sizes(under(article, Regime.ADDRESS), SIZES)

    assert assume_sizes(once, replace(SIZES, spans_per_session=Decimal(99))) == once
