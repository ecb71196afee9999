"""Figures follow from events, each counted once; what nobody measured is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import EventName
from agent_image.guard.figures import Spread, as_number, percentile, rate, spread
from agent_image.guard.metrics import Report, ToolFigures, report, run_summary
from agent_image.guard.outlet import MemoryOutlet
from agent_image.guard.slim import SlimLine
from tests.agent_image.guard.chains import DIGEST, SESSION, START, Ticking, chain, parsed

NUMBERS = count(1)


def told(name: EventName, *, run: str = "r1", session: str = SESSION, at: int = 0, **fields: Any) -> dict[str, Any]:
    """Give an event as a reader sees it, `at` seconds after the start."""
    moment = (START + timedelta(seconds=at)).isoformat().replace("+00:00", ".000Z")
    return {
        "event": name.value,
        "ts": moment,
        "event_id": f"e{next(NUMBERS)}",
        "run": run,
        "attributes": {"session.id": session},
        **fields,
    }


def model(**fields: Any) -> dict[str, Any]:
    usage = {"input": 100, "output": 10, "cache_read": 0, "cache_write": 0}
    return told(EventName.LLM_CALL, **{"tokens": usage, "cost_usd": Decimal("0.001"), "is_error": False, **fields})


def tool(name: str = "search", decision: str = "allowed", **fields: Any) -> dict[str, Any]:
    values = {"tool": name, "decision": decision, "zone": "green", "is_error": False, "cost_usd": 0, **fields}
    return told(EventName.TOOL_RESULT, **values)


def started(**fields: Any) -> dict[str, Any]:
    return told(EventName.RUN_STARTED, kind="prompt", **fields)


def ended(outcome: str = "completed", **fields: Any) -> dict[str, Any]:
    return told(EventName.RUN_ENDED, outcome=outcome, **fields)


def test_nothing_is_known_of_nothing() -> None:
    """An empty audit has no rates, and not rates of 0; seeds called a missing number 0."""
    empty = report([])

    assert (empty.events, empty.runs, empty.tasks, empty.cost_usd) == (0, 0, 0, Decimal(0))
    for value in (empty.completion_rate, empty.loop_rate, empty.step_error_rate, empty.approvals.approval_rate):
        assert value is None
    for spreads in (empty.steps_per_run, empty.tokens_per_task, empty.model_latency_ms, empty.tool_latency_ms):
        assert spreads == Spread()
    assert empty.tools == {}


def test_a_run_that_waits_has_not_ended_its_task() -> None:
    """It is resumed by another run: one task, one end."""
    events = [started(run="r1"), ended("suspended", run="r1"), started(run="r2"), ended(run="r2")]
    whole = report([*events, started(run="r3", session="s" * 40), ended("failed", run="r3", session="s" * 40)])

    assert (whole.runs, whole.tasks, whole.outcomes) == (3, 2, {"completed": 1, "failed": 1, "suspended": 1})
    assert whole.completion_rate == Decimal("0.5")


def test_a_loop_is_what_stopped_a_run() -> None:
    """Not what a window of names looks like."""
    runs = [ended("loop", run="a"), ended(run="b"), ended("budget", run="c"), ended("refused", run="d")]

    assert report(runs).loop_rate == Decimal("0.25")


def test_steps_are_calls_of_models_and_tools() -> None:
    """What was blocked or replayed was no call; a run without an answer still has steps."""
    events = [model(), tool(), tool(decision="blocked"), tool(decision="replayed"), tool(decision="edited"), ended()]

    assert report(events).steps_per_run == Spread(1, Decimal(3), 3, 3, 3, 3)


def test_tokens_and_money_are_those_of_a_task() -> None:
    """Over all its runs; tokens read from a cache are told apart."""
    usage = {"input": 40, "output": 2, "cache_read": 1000, "cache_write": None}
    whole = report([model(run="r1"), model(run="r2", tokens=usage), tool(cost_usd=Decimal("0.5"))])

    assert whole.tokens == {"input": 140, "output": 12, "cache_read": 1000, "cache_write": 0}
    assert whole.tokens_per_task.p50 == 152
    assert whole.cost_usd == whole.cost_per_task_usd.p50 == Decimal("0.502")


def test_the_last_turn_costs_as_well() -> None:
    """The seed counted only turns that called a tool."""
    events = [model(stop_reason="tool_use"), tool(), model(stop_reason="end_turn"), ended()]
    summary = run_summary(events, "r1")

    assert (summary.iterations, summary.cost_usd) == (2, Decimal("0.002"))
    assert summary.tokens == {"input": 200, "output": 20, "cache_read": 0, "cache_write": 0}


def test_a_cost_that_nobody_knows_makes_the_sum_unknown() -> None:
    """An unpriced model is not a free one; other tasks keep their figures."""
    whole = report([model(), model(cost_usd=None), model(session="s" * 40)])

    assert whole.cost_usd is None
    assert (whole.unpriced_calls, whole.cost_per_task_usd.count, whole.cost_per_task_usd.p50) == (
        1,
        1,
        Decimal("0.001"),
    )
    assert run_summary([model(cost_usd=None)], "r1").cost_usd is None


def test_tokens_that_nobody_counted_are_told() -> None:
    """A failed call says nothing of its usage."""
    whole = report([model(), model(tokens=None, is_error=True), model(tokens={"input": None, "output": 3})])

    assert whole.uncounted_calls == 2
    assert whole.tokens["input"] == 100


@given(st.lists(st.integers(min_value=0, max_value=10**12), min_size=1))
def test_the_sum_of_the_steps_is_the_total(nanos: list[int]) -> None:
    """To the last nano-dollar; rounding each step to six places would lose it."""
    events = [model(cost_usd=Decimal(nano) / 10**9) for nano in nanos]

    assert run_summary(events, "r1").cost_usd == Decimal(sum(nanos)) / 10**9


def test_errors_are_counted_where_they_happen() -> None:
    """Per tool and over all steps; the seed looked for a key that it never wrote, and found 0."""
    events = [
        model(),
        model(is_error=True),
        tool("search"),
        tool("search", is_error=True),
        tool("refund", is_error=True, decision="approved", zone="red"),
        tool("refund", is_error=True, decision="blocked"),
        tool("search", is_error=None),
    ]
    whole = report(events)

    assert whole.step_error_rate == Decimal("0.6")
    assert {name: (one.calls, one.errors, one.error_rate) for name, one in whole.tools.items()} == {
        "refund": (1, 1, Decimal(1)),
        "search": (3, 1, Decimal("0.5")),
    }


def test_latency_is_that_of_the_work() -> None:
    """A person who takes an hour makes no tool slow: only what was carried out is measured, and no wait."""
    events = [
        *(model(latency_ms=latency) for latency in range(1, 101)),
        tool(latency_ms=7),
        tool(latency_ms=None),
        tool(decision="rejected", latency_ms=3_600_000),
        told(EventName.DECISION, checkpoint_id="c", decision="approve", approver="a", waited_ms=3_600_000),
    ]
    whole = report(events)

    assert whole.model_latency_ms == Spread(100, Decimal("50.5"), 50, 95, 99, 100)
    assert whole.tool_latency_ms == Spread(1, Decimal(7), 7, 7, 7, 7)
    assert whole.tools == {"search": ToolFigures(2, 0, Decimal(0), whole.tool_latency_ms)}


@given(st.lists(st.integers(), min_size=1), st.integers(1, 100))
def test_a_percentile_is_one_of_the_numbers(values: list[int], percent: int) -> None:
    """The smallest that so many of a hundred do not exceed; p99 of five numbers is the largest."""
    found = percentile(sorted(values), percent)
    not_above = sum(value <= found for value in values)
    below = sum(value < found for value in values)

    assert found in values
    assert not_above * 100 >= percent * len(values) > below * 100


def test_a_spread_of_nothing_is_unknown() -> None:
    """Also a rate."""
    assert spread([]) == Spread()
    assert rate(0, 0) is None
    assert rate(0, 3) == 0


@pytest.mark.parametrize("value", [None, True, "1", [], float("nan"), Decimal("NaN"), {}])
def test_what_is_no_number_is_unknown(value: object) -> None:
    """Whoever wrote the line."""
    assert as_number(value) is None


def test_an_event_counts_once_whichever_outlets_it_came_from() -> None:
    """Audit and slim line have the same id, and the same figures follow from either."""
    audit, slim = MemoryOutlet(), list[bytes]()
    events = chain(audit, slim=SlimLine(DIGEST, slim.append), clock=Ticking())
    events.append(EventName.RUN_STARTED, kind="prompt", reason="a question")
    events.append(EventName.LLM_CALL, model="m", tokens={"input": 5, "output": 1}, cost_usd="0.1", latency_ms=9)
    events.append(EventName.TOOL_RESULT, tool="search", decision="allowed", is_error=False, result="x", cost_usd=0)
    events.append(EventName.RUN_ENDED, outcome="completed", cost_usd="0.1")

    one, other, both = (
        report(records) for records in (parsed(audit.lines), parsed(slim), [*parsed(audit.lines), *parsed(slim)])
    )
    assert one == other == both
    assert one.completion_rate == 1


def test_alerts_are_counted_by_kind() -> None:
    """As they were raised."""
    kinds = ["loop", "cost", "loop"]

    assert report([told(EventName.ALERT, code=kind) for kind in kinds]).alerts == {"cost": 1, "loop": 2}


def test_a_run_s_summary_is_what_its_log_says() -> None:
    """The seed's sample said two blocks, one destructive call and a cost a hundred times its steps'."""
    events = [
        started(),
        model(),
        tool("read_file"),
        model(),
        told(EventName.GATE, checkpoint_id="c1", decision="asked", tool="delete_file"),
        tool("delete_file", "blocked", zone="red"),
        model(),
        tool("run_command", "approved", zone="red", is_error=True),
        model(is_error=True),
        ended(cost_usd=Decimal("0.004")),
        model(run="another"),
        tool("delete_file", "approved", zone="red", run="another"),
    ]
    summary = run_summary(events, "r1")

    assert (summary.iterations, summary.tool_calls, summary.asked) == (4, 2, 1)
    assert (summary.destructive_calls, summary.blocks, summary.errors) == (1, 1, 2)
    assert summary.cost_usd == summary.stated_usd == Decimal("0.004")
    assert summary.outcome == "completed"


def test_a_run_that_has_not_ended_says_so() -> None:
    """No outcome is not a good one."""
    summary = run_summary([started(), model()], "r1")

    assert (summary.outcome, summary.stated_usd) == (None, None)


@pytest.mark.parametrize("record", [{}, {"event": None}, {"event": "run_ended"}, {"event": "llm_call", "tokens": 3}])
def test_a_malformed_event_is_no_error(record: Mapping[str, Any]) -> None:
    """Whoever reports reads what was left, and verifies elsewhere."""
    assert isinstance(report([record]), Report)
