"""Each metric filter counts what it says, of the very lines that the image writes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agent_image.contract import Choice, EventName, Ruling
from agent_image.errors import StoreError
from agent_image.guard.alerts import Alert
from agent_image.guard.findings import Severity
from agent_image.guard.metrics import report
from agent_image.guard.outbox import ATTEMPTS, Outbox
from agent_image.guard.outlet import MemoryOutlet
from agent_image.guard.records import Records
from agent_image.guard.slim import SlimLine
from agent_image.invocation import Sweep
from agent_image.notice import line
from agent_image.retrieval.archive import Archive
from agent_image.stores.memory import MemoryRecords
from agent_image.telemetry.exporter import Lost, TrailExporter
from stacks.observability.metrics import METRICS
from tests.agent_image.grounds import NOON, RETURNS, Stage, closing
from tests.agent_image.guard.chains import DIGEST, Ticking, chain
from tests.agent_image.guard.gate_grounds import Effects, looking, paying
from tests.agent_image.scripted import Raises, Says
from tests.conftest import ROOT
from tests.loopback.filter_pattern import parse, published

OTHER = "session-" + "9" * 32
PATTERNS = {row.name: parse(row.pattern) for row in METRICS}
PRICES = {"scripted": {"input": "3", "output": "15", "source": "the test", "date": "2026-01-01"}}


def counted(lines: list[bytes]) -> dict[str, Decimal]:
    """Sum up each metric that any of the lines feeds."""
    sums: dict[str, Decimal] = {}
    for row in METRICS:
        added = [published(row.value, line) for line in lines if PATTERNS[row.name].matches(line)]
        assert None not in added, (row.name, "matches a line that lacks its number")
        if added:
            sums[row.name] = sum((one for one in added if one is not None), Decimal(0))
    return sums


def of_runs(sums: Mapping[str, Decimal]) -> dict[str, int]:
    """Leave out what is measured, not counted."""
    measured = {"RunCostUsd", "InputTokens", "OutputTokens", "ModelLatencyMs", "ToolLatencyMs"}
    return {name: int(value) for name, value in sums.items() if name not in measured}


def staged(*turns: Any, effects: Effects | None = None, **facts: Any) -> tuple[Stage, list[bytes]]:
    lines: list[bytes] = []
    held = effects or Effects()
    return Stage(turns, tools=[held.pay(), held.look()], slim=lines.append, **facts), lines


def completed() -> list[bytes]:
    stage, lines = staged(looking("a", "1"), looking("b", "2"), Says("Seen."))
    assert stage.ask()["status"] == "completed"
    return lines


def with_errors() -> list[bytes]:
    stage, lines = staged(looking("a", "1"), looking("b", "2"), Says("x"), effects=Effects(raises=[RuntimeError("no")]))
    assert stage.ask()["status"] == "completed"
    return lines


def model_failed() -> list[bytes]:
    stage, lines = staged(Raises(RuntimeError("no")))
    assert stage.ask()["status"] == "failed"
    return lines


def looped() -> list[bytes]:
    stage, lines = staged(looking())
    assert stage.ask()["error"]["code"] == "loop"
    return lines


def waiting() -> list[bytes]:
    stage, lines = staged(paying(), Says("Done."))
    assert stage.ask()["status"] == "suspended"
    return lines


def approved() -> list[bytes]:
    stage, lines = staged(paying(), Says("Done."))
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    assert stage.go_on(checkpoint)["status"] == "completed"
    return lines


def rejected_twice() -> list[bytes]:
    stage, lines = staged(paying(1, "1"), paying(2, "2"), Says("Well."))
    answer = stage.ask()
    while answer["status"] == "suspended":
        stage.decide(answer["checkpoint_id"], Choice.REJECT, reason="No.")
        answer = stage.go_on(answer["checkpoint_id"])
    assert answer["status"] == "completed"
    return lines


def expired() -> list[bytes]:
    stage, lines = staged(paying(), Says("Done."))
    stage.ask()
    stage.clock.turn(hours=4)
    assert closing(stage.sweep(OTHER, Sweep()))["swept"] == {"expired": 1}
    return lines


@pytest.mark.parametrize(
    ("lived", "sums"),
    [
        (completed, {"RunsStarted": 1, "RunsEnded": 1, "RunsCompleted": 1, "ToolCalls": 2}),
        (with_errors, {"RunsStarted": 1, "RunsEnded": 1, "RunsCompleted": 1, "ToolCalls": 2, "ToolErrors": 1}),
        (model_failed, {"RunsStarted": 1, "RunsEnded": 1, "RunsFailed": 1, "ModelErrors": 1}),
        (waiting, {"RunsStarted": 1, "ApprovalsAsked": 1}),
        (
            approved,
            {"RunsStarted": 2, "RunsEnded": 1, "RunsCompleted": 1, "ApprovalsAsked": 1, "ToolCalls": 1},
        ),
        (
            rejected_twice,
            {
                "RunsStarted": 3,
                "RunsEnded": 1,
                "RunsCompleted": 1,
                "ApprovalsAsked": 2,
                "CallsHeldBack": 2,
                "BlockedStreaks": 1,
            },
        ),
        (expired, {"RunsStarted": 1, "ApprovalsAsked": 1, "ApprovalsExpired": 1}),
    ],
)
def test_filters_count_what_a_run_left(lived: Callable[[], list[bytes]], sums: dict[str, int]) -> None:
    """Nothing more and nothing less: a filter that is not named here matches no line of it."""
    assert of_runs(counted(lived())) == sums


def test_a_loop_is_a_run_that_ended_in_one() -> None:
    """Not each of the warnings before it."""
    sums = of_runs(counted(looped()))

    assert (sums["RunsLooped"], sums["RunsEnded"]) == (1, 1)
    assert "RunsCompleted" not in sums
    assert "BlockedStreaks" not in sums


def test_cost_tokens_and_latencies_are_the_numbers_of_the_lines() -> None:
    """Two calls of a model, and one of a tool whose time is not known; a run that waits cost something, too."""
    lines: list[bytes] = []
    events = chain(MemoryOutlet(), slim=SlimLine(DIGEST, lines.append), clock=Ticking())
    tokens = {"input": 10, "output": 20, "cache_read": 5, "cache_write": 0}
    events.append(EventName.LLM_CALL, step=1, tokens=tokens, latency_ms=700, cost_usd="0.25", is_error=False)
    events.append(EventName.LLM_CALL, step=2, tokens=None, latency_ms=None, cost_usd=None, is_error=True)
    events.append(EventName.TOOL_RESULT, step=3, tool="look", decision="allowed", latency_ms=40, is_error=False)
    events.append(EventName.TOOL_RESULT, step=4, tool="look", decision="allowed", latency_ms=None, is_error=None)
    events.append(EventName.TOOL_RESULT, step=5, tool="look", decision="replayed", latency_ms=40, is_error=True)
    events.append(EventName.RUN_ENDED, step=6, outcome="suspended", cost_usd="0.25")
    events.append(EventName.RUN_ENDED, step=7, outcome="budget", cost_usd="0.0000003")
    events.append(EventName.RUN_ENDED, step=8, outcome="completed", cost_usd=None)

    assert counted(lines) == {
        "InputTokens": 10,
        "OutputTokens": 20,
        "ModelLatencyMs": 700,
        "ModelErrors": 1,
        "ToolCalls": 1,
        "ToolLatencyMs": 40,
        "RunCostUsd": Decimal("0.2500003"),
        "RunsEnded": 2,
        "RunsCompleted": 1,
    }


@pytest.mark.parametrize("ruling", Ruling)
def test_what_became_of_a_call_counts_as_the_image_s_own_report_counts_it(ruling: Ruling) -> None:
    """Carried out, held back, or neither: the two lists stand in two places, and are the same."""
    lines: list[bytes] = []
    events = chain(MemoryOutlet(), slim=SlimLine(DIGEST, lines.append), clock=Ticking())
    events.append(EventName.TOOL_RESULT, step=1, tool="pay", decision=ruling.value, is_error=True)
    told = report(json.loads(line) for line in lines)
    sums = counted(lines)

    assert sums.get("CallsHeldBack", 0) == told.blocked_calls
    assert sums.get("ToolCalls", 0) == sums.get("ToolErrors", 0) == sum(tool.calls for tool in told.tools.values())


def test_an_expiry_of_a_budget_counts_and_what_else_became_of_it_does_not() -> None:
    """A session that asks to go on waits for a person, like a call."""
    lines: list[bytes] = []
    events = chain(MemoryOutlet(), slim=SlimLine(DIGEST, lines.append), clock=Ticking())
    for decision in ("approved", "rejected", "blocked", "expired"):
        events.append(EventName.BUDGET, step=1, code="budget_usd", decision=decision)
    events.append(EventName.TOOL_RESULT, step=2, tool="pay", decision="expired")

    assert counted(lines) == {"ApprovalsExpired": 1, "CallsHeldBack": 1}


def test_other_alerts_than_the_streak_are_none() -> None:
    """A loop and an error streak have rows of their own, or none."""
    lines: list[bytes] = []
    events = chain(MemoryOutlet(), slim=SlimLine(DIGEST, lines.append), clock=Ticking())
    for code in ("error_streak", "loop", "cost", "blocked_streak"):
        events.append(EventName.ALERT, step=1, code=code, severity="warning", decision="nudge")
    events.append(EventName.ERROR, step=2, code="blocked_streak", is_error=True)

    assert counted(lines) == {"BlockedStreaks": 1}


# --- notices --------------------------------------------------------------------------------------------------------


def noticed(capfd: pytest.CaptureFixture[str]) -> list[bytes]:
    return [line.encode() for line in capfd.readouterr().err.splitlines()]


def test_a_sweep_counts_and_says_what_waits(capfd: pytest.CaptureFixture[str]) -> None:
    """One that waits, past half its life; the line is standard error's, beside whatever else is written there."""
    stage, _ = staged(paying(), Says("Done."))
    stage.ask()
    stage.clock.turn(hours=3)
    noticed(capfd)

    closing(stage.sweep(OTHER, Sweep()))

    assert counted(noticed(capfd)) == {"Sweeps": 1, "ApprovalsWaiting": 1, "ApprovalsPastHalf": 1}


class FullStore:
    """A store that takes no passage."""

    def known(self, fingerprints: Any) -> Any:
        raise StoreError("unavailable", "The store is full.")

    def put(self, fingerprint: str, passage: bytes) -> None:
        raise AssertionError


def test_lost_passages_are_counted_each(capfd: pytest.CaptureFixture[str]) -> None:
    """The notice says how many, and the metric adds that."""
    store: Any = FullStore()
    archive = Archive(store)
    archive.keep([RETURNS])
    archive.close()

    assert counted(noticed(capfd)) == {"PassagesLost": 1}


class Refusing(SpanExporter):
    """A backend that takes nothing."""

    def export(self, spans: Any) -> SpanExportResult:
        return SpanExportResult.FAILURE


def test_spans_that_no_backend_took_are_counted_each(capfd: pytest.CaptureFixture[str]) -> None:
    """Through the very counter that the exporter has."""
    stage, _ = staged(Says("x"))
    stage.ask()
    noticed(capfd)

    class Whole:
        def pruned(self, spans: Any) -> Any:
            return spans

        def admitted(self, spans: Any) -> Any:
            return list(spans)

    exporter: Any = TrailExporter(Refusing(), lambda span: span, Whole(), Whole(), Lost())  # type: ignore[arg-type]
    exporter.export(stage.spans)

    assert counted(noticed(capfd)) == {"SpansLost": len(stage.spans)}


class Broken(MemoryRecords):
    """A store that writes nothing any more."""

    def put(self, *arguments: Any, **facts: Any) -> None:
        raise StoreError("unavailable", "It is gone.")


class Deaf:
    """A channel that never takes anything."""

    name = "deaf"

    def send(self, alert: Any) -> None:
        raise StoreError("unreachable", "Nobody is there.")


def test_alerts_that_reach_nobody_are_counted(capfd: pytest.CaptureFixture[str]) -> None:
    """One that could not be kept, and one that was given up; an attempt that failed is none yet."""
    records: Records = MemoryRecords()
    stage, _ = staged(Says("x"), records=records)
    outbox = stage.guard.outbox
    facts: dict[str, Any] = {"session_id": OTHER, "run": "1", "step": 1, "at": stage.clock(), "evidence": {}}
    alert = Alert(id="a", kind="loop", severity=Severity.CRITICAL, **facts)
    outbox.put(alert)
    for _ in range(ATTEMPTS):
        outbox.deliver([Deaf()], 1)
        stage.clock.turn(hours=2)
    Outbox(Broken(), stage.clock, NOON - NOON).put(alert)

    assert counted(noticed(capfd)) == {"AlertsLost": 2}


@pytest.mark.parametrize(
    ("code", "sums"),
    [
        ("audit_not_durable", {"AuditsLost": 1}),
        ("sweep_unrecorded", {"AuditsLost": 1}),
        ("alert_lost", {"AlertsLost": 1}),
        ("alert_dead", {"AlertsLost": 1}),
        ("alert_unreadable", {"AlertsLost": 1}),
        ("archive_lost", {"PassagesLost": 3}),
        ("spans_lost", {"SpansLost": 3}),
        ("alerts_not_delivered", {}),
        ("slim_lines_lost", {}),
        ("sweep_failed", {}),
    ],
)
def test_each_notice_feeds_its_metric_and_no_other(code: str, sums: dict[str, int]) -> None:
    """The code is one that the image says somewhere: a renamed notice would leave an alarm that never rings."""
    said = {
        found
        for file in (ROOT / "agent_image").rglob("*.py")
        for found in re.findall(r'(?:notice|_tell)\("(\w+)"', file.read_text(encoding="utf-8"))
    }

    assert code in said
    assert counted([line(code, {"count": 3, "reason": "unavailable"})]) == sums


def test_a_span_counts_as_one_and_a_line_that_names_a_span_as_none() -> None:
    """Spans lie in the same group, in the shape that CloudWatch stores; lines name the span that they happened in."""
    stored = json.loads((ROOT / "tests" / "stacks" / "settings" / "golden_span.json").read_text(encoding="utf-8"))
    spans = [json.dumps(span).encode() for span in stored if "kind" in span]
    lines: list[bytes] = []
    events = chain(MemoryOutlet(), slim=SlimLine(DIGEST, lines.append), ids=lambda: ("1" * 32, "2" * 16))
    events.append(EventName.RUN_STARTED, step=0)
    record = json.dumps({"traceId": "1" * 32, "spanId": "2" * 16, "severityText": "INFO", "body": {}}).encode()

    assert spans
    assert counted(spans) == {"Spans": len(spans)}
    assert b"span_id" in lines[0]
    assert counted([*lines, record]) == {"RunsStarted": 1}
