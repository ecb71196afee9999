"""Measure an account on loopback, through real boto3 clients."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from cost_model.workload import read_workload
from stacks.policies import people
from tests.cost_model.conftest import Synthesis
from tests.cost_model.measure.conftest import DAY_BYTES, GB, OPEN_ONE, SCAN_ALL, Measure, ago, month
from tests.loopback.measured import DEFAULT, GROUP, Query
from tests.stacks.grounds import GROUND


def near(value: Any, expected: float) -> bool:
    """Compare a decimal string or number with what it should be."""
    return abs(Decimal(str(value)) - Decimal(str(expected))) < Decimal("0.0002")


def test_a_month_is_thirty_days_such_as_those_that_are_over(measure: Measure) -> None:
    """Today is a part of a day, and is left out; pages are followed."""
    measure.trail.page = 7
    measure.trail.queries *= 5
    document = measure.measured()

    assert (document["first_day"], document["last_day"]) == (ago(30).isoformat(), ago(1).isoformat())
    assert document["unknown_days"] == 0
    assert near(document["gb_per_month"], 3)
    assert Decimal(document["incoming"]["events"]) == Decimal(30 * DAY_BYTES) / 1024
    assert len([action for action, _ in measure.account.asked if action == "cloudwatch:GetMetricData"]) > 10
    assert sum(query["runs"] for query in document["queries"]) == 15


def test_days_without_a_sum_are_unknown_and_not_nothing(measure: Measure) -> None:
    """The month is of the days that are known, and what it is at least is said beside."""
    measure.trail.bytes_by_day[GROUP] = {ago(day): DAY_BYTES for day in range(2, 40, 2)}
    document = measure.measured()

    assert document["unknown_days"] == 15
    assert near(document["gb_per_month"], 3)
    assert near(document["gb_per_month_at_least"], 1.5)
    assert "15 days without a sum are left out, not counted as nothing" in measure.run().stdout


def test_the_day_on_which_a_group_began_is_no_whole_day(measure: Measure) -> None:
    """Nothing is known of the day before it: its sum is a part of a day's."""
    measure.trail.bytes_by_day[GROUP] = {**month(days=5), ago(5): 1}

    assert near(measure.measured()["gb_per_month"], 3)


def test_a_single_day_is_all_there_is(measure: Measure) -> None:
    """A part of a day is better than none, and the days say that it is one."""
    measure.trail.bytes_by_day[GROUP] = {ago(1): DAY_BYTES}
    document = measure.measured()

    assert near(document["gb_per_month"], 3)
    assert document["unknown_days"] == 29


@pytest.mark.parametrize("days", [{}, {ago(3): 0, ago(4): 0}])
def test_nothing_that_came_in_is_an_error_and_never_a_usage_of_0(measure: Measure, days: dict[date, int]) -> None:
    """A misspelt name looks just so."""
    measure.trail.bytes_by_day[GROUP] = days
    result = measure.run("--sessions", 1000, "--write", measure.file)

    assert result.exit_code == 1
    assert f"nothing came in: {GROUP} has no IncomingBytes in us-east-1" in result.stderr
    assert not measure.file.exists()


def test_the_default_endpoint_is_measured_beside(measure: Measure) -> None:
    """Nothing should come in there; what does is told, and is in no sum."""
    assert "DEFAULT endpoint's group, GB" in measure.run().stdout
    assert measure.measured()["default_endpoint"]["bytes"] == "0"

    measure.trail.bytes_by_day[DEFAULT] = {ago(2): GB}
    assert "somebody calls the DEFAULT endpoint" in measure.run().stdout
    assert near(measure.measured()["gb_per_month"], 3)


def test_queries_become_classes_that_cost_what_they_read(measure: Measure) -> None:
    """By the shapes of their texts: two look-ups that skipped nine tenths of ten days, one scan of ten days."""
    look_up, scan = sorted(measure.measured()["queries"], key=lambda query: query["name"])

    assert (look_up["name"], look_up["indexed"], look_up["runs"]) == ("look-up by traceId", True, 2)
    assert near(look_up["skip_ratio"], 0.9)
    assert near(look_up["window_days"], 10)
    assert near(look_up["runs_per_month"], 2)
    assert (scan["name"], scan["indexed"], scan["runs"]) == ("scan filtered by name", False, 1)
    assert scan["skip_ratio"] is None
    assert near(scan["window_days"], 10)


def test_the_classes_are_priced_at_the_bytes_that_were_read(measure: Measure) -> None:
    """Whatever window and ratio say, 12 days of a tenth of a GB are 1.2 GB at 0.005."""
    costs = measure.measured("--sessions", 1000)["costs"]["lines"]

    assert near(costs["queries"]["measured"], 0.006)


def test_a_look_up_whose_statistics_are_gone_costs_what_it_read_too(measure: Measure) -> None:
    """The ratio is 0 and the window the shorter."""
    measure.trail.queries = [Query(OPEN_ONE, ago(25), DAY_BYTES)]
    (query,) = measure.measured()["queries"]

    assert (query["indexed"], query["skip_ratio"]) == (True, None)
    assert near(query["window_days"], 1)


def test_queries_over_several_groups_count_as_runs_alone(measure: Measure) -> None:
    """Their bytes are not this group's."""
    measure.trail.queries = [
        Query(SCAN_ALL, ago(2), DAY_BYTES, 0.0),
        Query(SCAN_ALL, ago(2), 999 * DAY_BYTES, 0.0, groups=3),
    ]
    (query,) = measure.measured()["queries"]

    assert (query["runs"], query["runs_told"]) == (2, 1)
    assert near(query["window_days"], 1)


def test_a_history_that_does_not_reach_back_says_so(measure: Measure) -> None:
    """AWS forgets queries: fewer may be listed than ran."""
    assert measure.measured()["history_complete"] is True
    measure.trail.queries = measure.trail.queries[:3]

    assert measure.measured()["history_complete"] is False
    assert "there may have been more" in measure.run().stdout


def test_running_queries_and_its_own_are_no_part_of_the_history(measure: Measure) -> None:
    """What still runs has read nothing whole; measuring does not measure itself."""
    measure.trail.queries = [
        Query(SCAN_ALL, ago(2), 5, status="Running"),
        Query("# rastro cost measure\nstats count(*)", ago(2), 5),
    ]

    assert measure.measured()["queries"] == []


def test_counts_are_paged_and_one_that_is_denied_is_left_out(measure: Measure) -> None:
    """The investigator's policy has no right to list metrics: everything else is measured."""
    measure.trail.page, measure.trail.metrics = 50, {"bedrock-agentcore": 107}
    assert (measure.measured()["metrics"], measure.measured()["alarms"]) == ({"bedrock-agentcore": 107}, 5)
    measure.trail.denied = {"cloudwatch:ListMetrics", "cloudwatch:ListDashboards"}
    document = measure.measured()

    assert (document["metrics"], document["dashboards"]) == ({"bedrock-agentcore": None}, None)
    assert document["denied"] == [
        "counting (list metrics) failed: access denied: this needs cloudwatch:ListMetrics",
        "counting (list dashboards) failed: access denied: this needs cloudwatch:ListDashboards",
    ]


@pytest.mark.parametrize("right", ["cloudwatch:GetMetricData", "logs:DescribeQueries"])
def test_a_right_that_is_missing_is_named(measure: Measure, right: str) -> None:
    """One line, and nothing of AWS's own words."""
    measure.trail.denied = {right}
    result = measure.run()

    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert f"access denied: this needs {right}" in result.stderr
    assert "secret words" not in result.stderr


def test_without_the_right_to_statistics_the_rest_is_measured(measure: Measure) -> None:
    """What queries skipped is not told; what they read is."""
    measure.trail.denied = {"logs:GetQueryResults"}
    result = measure.run()

    assert result.exit_code == 0
    assert "what was skipped is not told: access denied, this needs logs:GetQueryResults" in result.stdout


def test_what_is_throttled_is_asked_again(measure: Measure) -> None:
    """Each kind of call, once."""
    measure.trail.throttle = 1

    assert near(measure.measured()["gb_per_month"], 3)


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_a_sum_that_cannot_be_is_refused(measure: Measure, value: float) -> None:
    """A malformed answer is no measurement."""
    measure.trail.bytes_by_day[GROUP][ago(3)] = value
    result = measure.run("--write", measure.file, "--sessions", 10)

    assert result.exit_code == 1
    assert "GetMetricData answered" in result.stderr
    assert not measure.file.exists()


def test_a_metric_that_failed_is_no_measurement(measure: Measure) -> None:
    """CloudWatch answers with status 200 and says inside that it failed."""
    measure.trail.metric_status = "InternalError"

    assert "GetMetricData answered InternalError for bytes0" in measure.run().stderr


def test_the_written_usage_is_read_by_the_model(measure: Measure) -> None:
    """Sessions as stated; bytes by sessions; spans and lines apart as in the agent image's session."""
    usage = measure.written("--sessions", 1000)
    workload = read_workload(usage, "measured")
    text = measure.file.read_text()
    spans, events = usage["kb_per_session"]["address"], usage["event_kb_per_session"]["address"]

    assert workload.sessions == 1000
    assert near(spans + events, 3 * 2**20 / 1000)
    assert [query.name for query in workload.queries or ()] == ["scan filtered by name", "look-up by traceId"]
    assert f"in us-east-1, {ago(30)} to {ago(1)} (UTC, whole days)" in text
    assert "Sessions: as --sessions states them; not measured." in text
    assert "--split asks the trail" in text


def test_a_file_is_not_written_over_without_force(measure: Measure) -> None:
    """It is refused before AWS is asked, and kept as it is."""
    measure.file.write_text("mine")
    result = measure.run("--sessions", 1000, "--write", measure.file)

    assert result.exit_code == 2
    assert "is there already; --force writes over it" in result.stderr
    assert (measure.file.read_text(), measure.account.asked) == ("mine", [])
    assert measure.written("--sessions", 1000, "--force")["sessions"] == 1000


def test_a_place_that_cannot_be_written_is_refused(measure: Measure) -> None:
    """Nothing is left there."""
    result = measure.run("--sessions", 1000, "--write", measure.folder / "nowhere" / "usage.toml")

    assert result.exit_code == 2
    assert "cannot be written: No such file or directory" in result.stderr


def test_without_sessions_queries_alone_are_written(measure: Measure) -> None:
    """What one session leaves is not known either, and the file says so."""
    usage = measure.written()

    assert usage.keys() == {"queries"}
    assert "Sessions were not counted" in measure.file.read_text()


def test_nothing_to_write_is_an_error(measure: Measure) -> None:
    """An empty [usage] would say that nothing depends on usage."""
    measure.trail.queries = []
    result = measure.run("--write", measure.file)

    assert result.exit_code == 1
    assert "nothing was measured that [usage] can say" in result.stderr
    assert not measure.file.exists()


def test_a_query_tells_spans_from_other_lines_after_its_cost_was_said(measure: Measure) -> None:
    """One day is read; spans a session come of it, too."""
    measure.trail.rows = [
        {"@data_format": "AWS-OTEL-TRACE-V1", "lines": "1800", "characters": "75000", "sessions": "100"},
        {"lines": "900", "characters": "25000", "sessions": "99"},
    ]
    measure.trail.polls = 2
    result = measure.run("--split", "--yes", "--sessions", 1000, "--write", measure.file)
    usage = measure.file.read_text()

    assert result.exit_code == 0
    assert f"telling spans from other lines on {ago(1)}: reads about 0.1000 GB, for <0.01 USD" in result.stderr
    assert "spans_per_session = 18" in usage
    assert "75.0 % of them are spans, as a query told them apart" in usage
    started = next(asked for action, asked in measure.account.asked if action == "logs:StartQuery")
    assert started["endTime"] - started["startTime"] == 86_399
    assert "by @data_format" in started["queryString"]


def test_sessions_are_counted_by_a_query_over_all_days(measure: Measure) -> None:
    """They are of the same days as the bytes: days without traffic had none."""
    measure.trail.bytes_by_day[GROUP] = {ago(day): DAY_BYTES for day in range(2, 40, 2)}
    measure.trail.rows = [{"sessions": "500"}]
    document = measure.measured("--count-sessions", "--yes")

    assert Decimal(document["sessions_per_month"]) == 1000
    assert near(Decimal(document["kb_per_session"]) + Decimal(document["event_kb_per_session"]), 3 * 2**20 / 1000)


def test_sessions_of_the_day_on_which_a_group_began_are_not_counted(measure: Measure) -> None:
    """Its bytes are left out: with its sessions alone among them, each would leave too little."""
    measure.trail.bytes_by_day[GROUP] = month(days=3)
    measure.trail.rows = [{"sessions": "100"}]
    document = measure.measured("--count-sessions", "--yes")
    asked = next(given for action, given in measure.account.asked if action == "logs:StartQuery")

    assert datetime.fromtimestamp(int(asked["startTime"]), UTC).date() == ago(1)
    assert Decimal(document["sessions_per_month"]) == 3000


def test_no_query_runs_that_nobody_agreed_to(measure: Measure) -> None:
    """Without a terminal nobody can: the cost is said, and the way to agree."""
    result = measure.run("--split", "--count-sessions")

    assert result.exit_code == 2
    assert "counting sessions from" in result.stderr
    assert "reads about 3.00 GB, for 0.01 USD" in result.stderr
    assert "--yes agrees" in result.stderr
    assert "logs:StartQuery" not in measure.account.actions()


@pytest.mark.parametrize(
    ("rows", "ends", "said"),
    [
        ([], "Complete", "no span is of"),
        ([{"lines": "9", "characters": "9", "sessions": "9"}], "Complete", "no span is of"),
        ([{"@data_format": "AWS-OTEL-TRACE-V1", "characters": "many"}], "Complete", 'answered "many" for characters'),
        ([], "Failed", "ended as Failed"),
        ([], "Timeout", "ended as Timeout"),
    ],
)
def test_a_query_that_tells_nothing_is_an_error(
    measure: Measure, rows: list[dict[str, str]], ends: str, said: str
) -> None:
    """Nothing is written, and a query that failed is left behind by nobody."""
    measure.trail.rows, measure.trail.ends = rows, ends
    result = measure.run("--split", "--yes", "--sessions", 10, "--write", measure.file)

    assert result.exit_code == 1
    assert said in result.stderr
    assert not measure.file.exists()


def test_no_session_is_an_error(measure: Measure) -> None:
    """Bytes cannot be divided by nothing."""
    measure.trail.rows = [{"sessions": "0"}]

    assert "no session from" in measure.run("--count-sessions", "--yes").stderr


DISCOVERY = {
    "environment": "dev",
    "region": "us-east-1",
    "capture": "archive",
    "log_group": GROUP,
    "retention_days": 30,
    "masking": ["EmailAddress"],
    "indexing_percentage": 1.0,
}


def test_an_environment_is_found_by_its_discovery_document(measure: Measure) -> None:
    """Its regime says under which key sizes stand: archive leaves what address does. Costs need no stacks."""
    measure.trail.discovery = DISCOVERY
    usage = measure.written("--environment", "dev", "--sessions", 1000, group=False)
    document = measure.measured("--environment", "dev", "--sessions", 1000, group=False)

    assert usage["kb_per_session"].keys() == {"address"}
    assert document["environment"] == "dev"
    assert document["costs"]["estimated"] is None
    assert Decimal(document["costs"]["lines"]["span_ingestion"]["measured"]) > 0
    assert Decimal(document["costs"]["lines"]["masking"]["measured"]) > 0
    assert ("ssm:GetParameter", {"Name": "/rastro/dev"}) in measure.account.asked


def test_the_investigator_s_policy_allows_what_measuring_takes(measure: Measure) -> None:
    """All but the counts, which are left out without a right of their own."""
    measure.trail.discovery = DISCOVERY
    measure.trail.rows = [{"@data_format": "AWS-OTEL-TRACE-V1", "lines": "9", "characters": "9", "sessions": "9"}]
    assert measure.run("--environment", "dev", "--split", "--count-sessions", "--yes", group=False).exit_code == 0
    investigator = next(policy for policy in people.policies(GROUND) if policy.person == "investigator")
    allowed = {action for statement in investigator.statements for action in statement.actions}

    assert measure.account.actions() - allowed == {
        "cloudwatch:ListMetrics",
        "cloudwatch:ListDashboards",
    }


def test_a_class_that_read_more_than_the_group_keeps_says_so(measure: Measure) -> None:
    """Fewer bytes come in than once did: the model prices no more than what is kept."""
    measure.trail.discovery = {**DISCOVERY, "retention_days": 7}

    assert "priced at what the group keeps" in measure.run("--environment", "dev", group=False).stdout


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (None, "/rastro/dev is not in this account and Region"),
        ({}, "/rastro/dev names no log group and Region; deploy the environment again"),
        ({**DISCOVERY, "log_group": 7}, "names no log group and Region"),
    ],
)
def test_an_environment_that_is_not_found_is_an_error(
    measure: Measure, document: dict[str, Any] | None, said: str
) -> None:
    """The message names the parameter."""
    measure.trail.discovery = document
    result = measure.run("--environment", "dev", group=False)

    assert result.exit_code == 1
    assert said in result.stderr


def test_the_estimate_stands_beside_what_was_measured(measure: Measure, synthesis: Synthesis) -> None:
    """Per line, with per cent: 1,000,000 sessions were stated, and no more than 3 GB came in."""
    measure.trail.discovery = DISCOVERY
    synthesis.add_environment("dev", regime="archive")
    where = ("--environment", "dev", "--out", synthesis.write(), "--settings", synthesis.settings)
    document = measure.measured(*where, group=False)
    lines = document["costs"]["lines"]

    assert near(lines["span_ingestion"]["estimated"], 6.6757)
    assert Decimal(lines["span_ingestion"]["measured"]) < Decimal("1.1")
    assert Decimal(lines["span_ingestion"]["percent"]) < -80
    # The passages were not measured: they cost what was stated, on both sides.
    assert lines["archive_storage"]["percent"] == "0"
    assert Decimal(document["costs"]["measured"]) < Decimal(document["costs"]["estimated"])
    assert document["sessions_from"] == "as [usage] states them; not measured"
    table = measure.run(*where, group=False).stdout
    assert "estimated beside measured" in table
    assert "Off by" in table


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name one of --environment ENV and --log-group NAME"),
        (("--environment", "dev", "--log-group", GROUP), "name one of --environment ENV and --log-group NAME"),
        (("--log-group", GROUP), "--log-group needs --region"),
        (("--log-group", "a b", "--region", "eu-west-1"), '"a b" is no log group\'s name'),
        (("--log-group", GROUP, "--region", "eu-west-1", "--capture", "all"), '--capture "all" is not allowed'),
        (("--environment", "Dev"), "is no environment's name"),
        (("--environment", "dev", "--days", "0"), "--days 0 is not allowed; allowed: 1 to 455"),
        (("--environment", "dev", "--days", "456"), "--days 456 is not allowed"),
        (("--environment", "dev", "--sessions", "-1"), "--sessions: -1 is not allowed"),
        (("--environment", "dev", "--sessions", "nan"), "--sessions: "),
        (("--environment", "dev", "--sessions", "0"), "--sessions 0: bytes are divided by sessions"),
        (("--environment", "dev", "--sessions", "1", "--count-sessions"), "one of --sessions N and --count-sessions"),
        (("--environment", "dev", "--namespace", ""), "is no namespace of CloudWatch"),
    ],
)
def test_bad_input_is_refused_before_aws_is_asked(measure: Measure, arguments: tuple[str, ...], said: str) -> None:
    """Status 2, and nothing written."""
    result = measure.run(*arguments, group=False)

    assert result.exit_code == 2
    assert said in result.stderr
    assert measure.account.asked == []


def test_several_environments_need_a_name(measure: Measure, synthesis: Synthesis) -> None:
    """A group's name does not say which of them it is."""
    synthesis.add_environment("dev")
    synthesis.add_environment("prod")
    result = measure.run("--out", synthesis.write(), "--settings", synthesis.settings)

    assert result.exit_code == 2
    assert "holds several environments (dev, prod)" in result.stderr


def test_a_query_s_text_cannot_steer_a_terminal(measure: Measure) -> None:
    """Names of classes hold fields alone, without what prints nothing, and no values."""
    measure.trail.queries = [Query("filterIndex secret_field = 'hunter2\x1b[31m'", ago(1), 10.0)]
    shown = measure.run().stdout

    assert "look-up by secret_field" in shown
    assert "hunter2" not in shown
    assert "\x1b" not in shown


def test_json_is_one_document(measure: Measure) -> None:
    """What is said beside goes to standard error."""
    measure.trail.rows = [{"sessions": "500"}]
    result = measure.run("--count-sessions", "--yes", "--format", "json", "--write", measure.file)

    assert json.loads(result.stdout)["log_group"] == GROUP
    assert f"{measure.file}: written" in result.stderr


def test_days_outside_the_window_do_not_count(measure: Measure) -> None:
    """CloudWatch aligns sums to days of its own, and may begin before."""
    measure.account.answers["cloudwatch:GetMetricData"] = _two_days

    assert near(measure.measured("--days", 1)["gb_per_month"], 3)


def _two_days(asked: Any) -> dict[str, Any]:
    end = asked["EndTime"]
    moments, sums = [end, end - 86_400], [9e9, float(DAY_BYTES)]
    return {
        "MetricDataResults": [
            {"Id": query["Id"], "StatusCode": "Complete", "Timestamps": moments, "Values": sums}
            for query in asked["MetricDataQueries"]
        ]
    }


def test_a_query_that_nobody_can_read_is_stopped(measure: Measure) -> None:
    """It would read on, and be charged."""
    measure.trail.denied = {"logs:GetQueryResults"}
    result = measure.run("--split", "--yes")

    assert result.exit_code == 1
    assert "this needs logs:GetQueryResults" in result.stderr
    assert ("logs:StopQuery", {"queryId": "own"}) in measure.account.asked
