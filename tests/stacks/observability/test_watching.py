"""Which alarms an environment has follows from its settings, and each compares what its row and the settings say."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.observability.alarms import ALARMS, BY_KEY, AlarmRow, Source
from stacks.observability.metrics import BY_NAME, METRICS
from stacks.observability.watching import Chosen, chosen, least_calls, metrics_of, publishers, sweep_minutes
from stacks.settings.model import Environment

GOLDEN = Path(__file__).parent / "goldens" / "alarms.txt"
NEEDY = {"masking_findings", "dead_lines", "archive_losses"}
"""On by default, and not in an environment that has nothing for them."""
USUAL = [row.key for row in ALARMS if row.on and row.key not in NEEDY]


def environment(**tables: Any) -> Environment:
    observability = {"capture": "address", "retention_days": 30, **tables.pop("observability", {})}
    return Environment.model_validate(
        {
            "account": "a",
            "owner": "o",
            "cost_center": "c",
            "observability": observability,
            "agent": {"name": "x", "models": ["arn:aws:bedrock:us-east-1::foundation-model/m"], "image": "v1"},
            **tables,
        }
    )


def keys(found: Environment) -> list[str]:
    return [alarm.row.key for alarm in chosen(found)]


def one(found: Environment, key: str) -> Chosen:
    (alarm,) = [alarm for alarm in chosen(found) if alarm.row.key == key]
    return alarm


def line(row: AlarmRow) -> str:
    watched = ", ".join(f"{each.statistic} {each.source.value} {each.metric}" for each in row.watches)
    default = row.limit.default if isinstance(row.limit.default, Decimal) else f"guard.{row.limit.default}"
    span = f"{row.period_seconds}s x {row.periods}" + (f", at least {row.sweeps} sweeps" if row.sweeps else "")
    flags = " ".join(
        word
        for word, holds in (("on", row.on), ("ok", row.tells_ok), (f"needs {row.needs}", row.needs is not None))
        if holds
    )
    return f"{row.key:18} {watched} | {row.comparison.name.lower()} {default} | {span} | {row.missing} | {flags}"


def test_the_rows_are_these() -> None:
    """A threshold, a period or a default that changes is seen here."""
    shown = "".join(f"{line(row)}\n" for row in ALARMS)

    assert shown == GOLDEN.read_text(encoding="utf-8"), f"write to {GOLDEN.name}:\n{shown}"


@pytest.mark.parametrize("row", ALARMS, ids=lambda row: row.key)
def test_a_row_says_all_that_it_must(row: AlarmRow) -> None:
    """What it reads is there, its expression names what it reads, and both of its choices have a reason."""
    own = [watched.metric for watched in row.watches if watched.source is Source.OWN]

    assert all(metric in BY_NAME for metric in own)
    assert row.why.endswith(".")
    assert row.why_missing.endswith(".")
    assert row.runbook == f"docs/runbooks.md#{row.key}"
    assert row.period_seconds % 60 == 0
    assert row.period_seconds * row.periods <= 86_400
    assert (row.expression is None) is (len(row.watches) == 1)
    assert all(watched.id in (row.expression or watched.id) for watched in row.watches)


def test_each_metric_has_one_row_and_each_row_a_pattern_that_cloudwatch_takes() -> None:
    """Names are those of CloudWatch's metrics; the patterns themselves have a test of their own."""
    assert len(BY_NAME) == len(METRICS)
    assert all(row.name.isalnum() for row in METRICS)


def test_at_least_eight_are_on_in_an_environment_that_sets_nothing() -> None:
    """More: whoever wants less names what is off."""
    assert keys(environment()) == USUAL
    assert len(USUAL) >= 8


@pytest.mark.parametrize(
    ("tables", "more", "less"),
    [
        ({"observability": {"capture": "archive"}}, {"archive_losses"}, set()),
        ({"observability": {"masking": {"identifiers": ["EmailAddress"]}}}, {"masking_findings"}, set()),
        ({"observability": {"masking": {"patterns": {"x": "[A-Z]{2}#[0-9]{9}"}}}}, {"masking_findings"}, set()),
        (
            {
                "observability": {
                    "capture": "content",
                    "content_reason": "r",
                    "masking": {"identifiers": ["EmailAddress"]},
                }
            },
            set(),
            set(),
        ),
        (
            {
                "observability": {
                    "capture": "content",
                    "content_reason": "r",
                    "masking": {"identifiers": ["EmailAddress"]},
                },
                "alarms": {"on": ["masking_findings"]},
            },
            {"masking_findings"},
            set(),
        ),
        (
            {
                "observability": {
                    "capture": "content",
                    "content_reason": "r",
                    "masking": {"identifiers": ["EmailAddress"]},
                },
                "alarms": {"thresholds": {"masking_findings": 20}},
            },
            {"masking_findings"},
            set(),
        ),
        ({"alarms": {"on": ["masking_findings", "archive_losses"]}}, set(), set()),
        ({"observability": {"destination": "https://otel.example.com/v1"}}, {"dead_lines"}, {"dead_trail"}),
        ({"observability": {"kept_sessions": Decimal(0)}}, {"dead_lines"}, {"dead_trail"}),
        ({"sweep": {"every_minutes": 0}}, set(), {"approvals_waiting", "sweep_silent"}),
        ({"alarms": {"off": ["loop_rate", "sweep_silent"]}}, set(), {"loop_rate", "sweep_silent"}),
        ({"alarms": {"on": ["daily_cost"]}}, {"daily_cost"}, set()),
    ],
)
def test_what_is_watched_follows_from_what_there_is(tables: dict[str, Any], more: set[str], less: set[str]) -> None:
    """An alarm that has nothing to watch would be quiet for ever and cost as much."""
    assert set(keys(environment(**tables))) == (set(USUAL) | more) - less


@pytest.mark.parametrize(
    ("tables", "minutes"),
    [
        ({}, 15),
        ({"sweep": {"every_minutes": 7}}, 7),
        ({"sweep": {"every_minutes": 0}}, 0),
        ({"auth": {"type": "JWT", "discovery_url": "https://l/.well-known/openid-configuration"}}, 0),
        ({"role": {"arn": "arn:aws:iam::111122223333:role/x"}}, 0),
        (
            {
                "role": {"arn": "arn:aws:iam::111122223333:role/x"},
                "sweep": {"role_arn": "arn:aws:iam::111122223333:role/y"},
            },
            15,
        ),
    ],
)
def test_a_schedule_sweeps_where_it_can(tables: dict[str, Any], minutes: int) -> None:
    """It has no token, and no role where roles are brought."""
    assert sweep_minutes(environment(**tables)) == minutes


def test_a_threshold_is_the_settings_else_the_guard_s_else_the_row_s() -> None:
    """Money follows the session's budget until somebody says otherwise."""
    stated = environment(alarms={"thresholds": {"cost_over_budget": Decimal("0.9"), "loop_rate": 7}})
    budgeted = environment(guard={"budget_usd": Decimal("2.5")})

    assert one(stated, "cost_over_budget").threshold == Decimal("0.9")
    assert one(stated, "loop_rate").threshold == 7
    assert one(budgeted, "cost_over_budget").threshold == Decimal("2.5")
    assert one(budgeted, "loop_rate").threshold == 5


@pytest.mark.parametrize(("minutes", "waiting", "silent"), [(1, 900, 3_600), (15, 900, 3_600), (60, 3_600, 14_400)])
def test_a_period_lasts_as_long_as_the_sweeps_that_it_needs(minutes: int, waiting: int, silent: int) -> None:
    """Else an hour without a sweep would alarm where one comes every hour."""
    found = environment(sweep={"every_minutes": minutes})

    assert one(found, "approvals_waiting").period_seconds == waiting
    assert one(found, "sweep_silent").period_seconds == silent


def test_the_longest_interval_keeps_to_what_cloudwatch_takes() -> None:
    """A period times its number is a day at most."""
    found = environment(sweep={"every_minutes": 240})

    assert max(alarm.period_seconds * alarm.row.periods for alarm in chosen(found)) <= 86_400


@given(st.decimals(min_value=Decimal("0.001"), max_value=1, places=3))
def test_as_many_calls_as_a_sample_needs_to_hold_one_almost_surely(share: Decimal) -> None:
    """Fewer would cry over a trail that is well; more would be late."""
    calls = least_calls(share)
    none = 1 - float(share)

    assert none**calls <= 0.001 or calls == 1
    assert calls == 1 or none ** (calls - 1) > 0.001


def test_a_dead_trail_is_told_by_as_many_calls_as_the_sample_needs() -> None:
    """One, where every session is kept."""
    assert "invocations, 0) >= 1 AND" in str(one(environment(), "dead_trail").expression)
    sampled = environment(observability={"kept_sessions": Decimal("0.5")})
    assert "invocations, 0) >= 10 AND" in str(one(sampled, "dead_trail").expression)


def test_only_metrics_that_somebody_reads_have_a_filter() -> None:
    """Each costs by the month; what a dashboard reads is named beside, and a name that is none is refused."""
    alarms = [one(environment(), "loop_rate"), one(environment(), "latency_p99")]

    assert [row.name for row in metrics_of(alarms)] == ["RunsEnded", "RunsLooped"]
    assert [row.name for row in metrics_of(alarms, ["InputTokens"])] == ["RunsEnded", "RunsLooped", "InputTokens"]
    assert metrics_of([]) == ()
    with pytest.raises(KeyError):
        metrics_of([], ["Inputtokens"])


def test_who_publishes_to_the_topic_is_known_from_the_settings() -> None:
    """The policy names each alarm; without any, and without a budget, there is nobody."""
    everything = [row.key for row in ALARMS]
    quiet = environment(alarms={"off": everything})

    assert publishers(environment()).alarms == tuple(USUAL)
    assert not publishers(quiet).any
    assert publishers(environment(alarms={"off": everything}, budget={"monthly_usd": 5})).budget


def test_rows_are_found_by_their_keys() -> None:
    """No two share one."""
    assert len(BY_KEY) == len(ALARMS)
