"""What is synthesised of alarms, filters, topic, sweep and budget is what the rows and the settings say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stacks.observability.alarms import BY_KEY
from stacks.observability.metrics import BY_NAME
from tests.loopback.filter_pattern import parse
from tests.stacks.graph import before, graph_of
from tests.synthesis import Json, Stack, Synthesis, by_sid, policy

ALARM = "aws_cloudwatch_metric_alarm"
FILTER = "aws_cloudwatch_log_metric_filter"
SCHEDULE = "aws_scheduler_schedule"
RUNTIME = "aws_bedrockagentcore_agent_runtime.runtime"
GROUP = "${aws_cloudwatch_log_group.log-group.name}"
TOPIC = "${aws_sns_topic.alerts.arn}"
ALL = ("agent-dev", "agent-staging", "agent-prod")


def alarm(stack: Stack, key: str) -> Json:
    return stack.resources(ALARM)[f"alarm-{key}"]


def reads(found: Json) -> list[Json]:
    """Give the metrics that an alarm reads."""
    return [query["metric"] for query in found.get("metric_query", []) if "metric" in query] or [found]


@pytest.mark.parametrize("name", ALL)
def test_each_alarm_tells_what_where_and_what_to_do(shipped: Synthesis, name: str) -> None:
    """Its name and its sentence hold the environment, and it ends in the runbook's section."""
    stack, environment = shipped[name], name.removeprefix("agent-")

    assert len(stack.resources(ALARM)) >= 8
    for named, found in stack.resources(ALARM).items():
        row = BY_KEY[named.removeprefix("alarm-")]
        assert found["alarm_name"] == f"rastro-{environment}-{row.key}"
        assert found["alarm_description"] == f"{environment}: {row.title}. What to do: docs/runbooks.md#{row.key}"
        assert found["alarm_actions"] == [TOPIC]
        assert found.get("ok_actions") == ([TOPIC] if row.tells_ok else None)
        assert (found["comparison_operator"], found["treat_missing_data"]) == (row.comparison, row.missing)
        assert found["evaluation_periods"] == found["datapoints_to_alarm"] == row.periods


@pytest.mark.parametrize("name", ALL)
def test_every_metric_that_is_read_is_fed_and_every_one_that_is_fed_is_read(shipped: Synthesis, name: str) -> None:
    """A filter that nobody reads would cost for nothing, and an alarm without one would never ring."""
    stack = shipped[name]
    own = f"Rastro/{name.removeprefix('agent-')}"
    read = {m["metric_name"] for a in stack.resources(ALARM).values() for m in reads(a) if m["namespace"] == own}
    fed = {f["metric_transformation"]["name"]: f for f in stack.resources(FILTER).values()}

    assert read <= set(fed)
    for metric, found in fed.items():
        row, transformed = BY_NAME[metric], found["metric_transformation"]
        assert found["log_group_name"] == GROUP
        assert parse(found["pattern"])
        assert (found["pattern"], transformed["value"], transformed["unit"]) == (row.pattern, row.value, row.unit)
        assert transformed["namespace"] == own
        assert transformed.get("default_value") == (None if row.default is None else str(row.default))


def test_metrics_of_services_are_named_as_the_services_publish_them(shipped: Synthesis) -> None:
    """The live endpoint's own, the live group's own, and the group of the endpoint that nobody should call."""
    stack = shipped["agent-prod"]
    (latency,) = reads(alarm(stack, "latency_p99"))
    (findings,) = reads(alarm(stack, "masking_findings"))
    (default,) = reads(alarm(stack, "default_endpoint"))

    assert (latency["namespace"], latency["metric_name"]) == ("AWS/Bedrock-AgentCore", "Latency")
    assert latency["dimensions"] == {
        "Resource": f"${{{RUNTIME}.agent_runtime_arn}}",
        "Operation": "InvokeAgentRuntime",
        "Name": "handbook_prod::live",
    }
    assert (latency["extended_statistic"], "statistic" in latency) == ("p99", False)
    assert (findings["namespace"], findings["metric_name"]) == ("AWS/Logs", "LogEventsWithFindings")
    assert findings["dimensions"] == {"LogGroupName": GROUP, "DataProtectionOperation": "Audit"}
    assert (default["namespace"], default["metric_name"]) == ("AWS/Logs", "IncomingBytes")
    group = f"/aws/bedrock-agentcore/runtimes/${{{RUNTIME}.agent_runtime_id}}-DEFAULT"
    assert default["dimensions"] == {"LogGroupName": group}


def test_a_percentile_is_judged_however_few_calls_there_are(shipped: Synthesis) -> None:
    """CloudWatch would ignore a p99 of fewer than 10 / (1 - 0.99) calls in a period, and keep whatever state it had."""
    percentiles = [found for found in shipped["agent-prod"].resources(ALARM).values() if "extended_statistic" in found]

    assert [found["evaluate_low_sample_count_percentiles"] for found in percentiles] == ["evaluate"]


def test_a_rate_is_metric_math_over_the_metrics_that_it_names(shipped: Synthesis) -> None:
    """One number comes out, and the metrics under it are no numbers of their own."""
    queries = alarm(shipped["agent-prod"], "loop_rate")["metric_query"]

    assert [query["id"] for query in queries] == ["number", "looped", "ended"]
    assert queries[0]["expression"] == "IF(ended >= 20, 100 * looped / ended, 0)"
    assert [query.get("return_data") for query in queries] == [True, None, None]
    assert {(m["period"], m["stat"]) for m in (query["metric"] for query in queries[1:])} == {(3_600, "Sum")}


def test_settings_choose_alarms_and_what_they_compare(variants: Synthesis) -> None:
    """Off is not declared, on is, and a stated number goes before the row's."""
    stack = variants["agent-brought"]

    assert not {"alarm-latency_p99", "alarm-span_losses"} & set(stack.resources(ALARM))
    assert "metric-SpansLost" not in stack.resources(FILTER)
    assert alarm(stack, "daily_cost")["threshold"] == 12.5
    assert alarm(stack, "completion_rate")["threshold"] == 90
    assert alarm(variants["agent-locked"], "masking_findings")["threshold"] == 20
    assert alarm(variants["agent-locked"], "cost_over_budget")["threshold"] == 0.1


def test_spans_that_go_elsewhere_are_not_missed_here(variants: Synthesis) -> None:
    """The lines are watched in their place."""
    stack = variants["agent-code"]

    assert "alarm-dead_trail" not in stack.resources(ALARM)
    assert "metric-Spans" not in stack.resources(FILTER)
    assert [m["metric_name"] for m in reads(alarm(stack, "dead_lines"))] == ["Invocations", "IncomingLogEvents"]


def test_an_environment_that_nothing_watches_has_none_of_it(variants: Synthesis) -> None:
    """No alarm, no filter, no schedule, no key, and nobody but the agent publishes."""
    stack = variants["agent-plain"]
    kinds = (ALARM, FILTER, SCHEDULE, "aws_kms_key", "aws_kms_alias", "aws_sns_topic_policy", "aws_budgets_budget")

    assert not [kind for kind in kinds if stack.resources(kind)]


# --- the topic --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_the_topic_lets_in_each_alarm_of_its_stack_and_nobody_else(shipped: Synthesis, name: str) -> None:
    """Every alarm that is declared is named, and none that is not."""
    stack = shipped[name]
    (statement,) = policy(stack.only("aws_sns_topic_policy")["policy"])
    sources = statement["Condition"]["ArnLike"]["aws:SourceArn"]

    assert statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert {source.rpartition(":")[2] for source in sources} == {
        found["alarm_name"] for found in stack.resources(ALARM).values()
    }


def test_the_topic_has_a_key_of_its_own_whose_policy_lets_alarms_encrypt(shipped: Synthesis) -> None:
    """The service's own key would lose each of their messages; the agent reaches this one by its alias."""
    stack = shipped["agent-prod"]
    key, alias = stack.only("aws_kms_key"), stack.only("aws_kms_alias")
    role = by_sid(policy(stack.resources("aws_iam_role_policy")["role-policy"]["policy"]))

    assert key["enable_key_rotation"] is True
    assert by_sid(policy(key["policy"]))["AlarmsEncrypt"]["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert (alias["name"], alias["target_key_id"]) == ("alias/rastro-prod-alerts", "${aws_kms_key.alerts-key.key_id}")
    assert role["EncryptAlerts"]["Condition"]["ForAnyValue:StringEquals"] == {"kms:ResourceAliases": alias["name"]}
    assert "UseTrailKey" not in role


def test_a_key_that_was_brought_is_told_what_its_policy_must_say(variants: Synthesis) -> None:
    """No key is made beside it."""
    stack = variants["agent-code"]
    statements = json.loads(stack.output("kms_key_policy_statements_for_alerts"))

    assert not stack.resources("aws_kms_key")
    assert [statement["Principal"]["Service"] for statement in statements] == ["cloudwatch.amazonaws.com"]
    assert "kms_key_policy_statements_for_alerts" not in variants["agent-brought"].document["output"]


def test_mail_goes_to_whom_the_settings_name(variants: Synthesis, shipped: Synthesis) -> None:
    """One subscription for each address."""
    mails = variants["agent-brought"].resources("aws_sns_topic_subscription").values()

    assert [(mail["protocol"], mail["endpoint"], mail["topic_arn"]) for mail in mails] == [
        ("email", "oncall@example.com", TOPIC),
        ("email", "finops@example.com", TOPIC),
    ]
    assert not shipped["agent-prod"].resources("aws_sns_topic_subscription")


# --- sweep and budget -------------------------------------------------------------------------------------------------


def test_the_schedule_calls_the_live_endpoint_with_a_sweep(shipped: Synthesis) -> None:
    """The parameters are the API's, the payload is what the image reads, and each call is a session of its own."""
    schedule = shipped["agent-prod"].only(SCHEDULE)
    target: Any = schedule["target"]
    call = json.loads(target["input"])

    assert (schedule["schedule_expression"], schedule["flexible_time_window"]) == ("rate(15 minutes)", {"mode": "OFF"})
    assert schedule["group_name"] == "${aws_scheduler_schedule_group.sweep-group.name}"
    assert target["arn"] == "arn:aws:scheduler:::aws-sdk:bedrockagentcore:invokeAgentRuntime"
    assert target["retry_policy"] == {"maximum_event_age_in_seconds": 900, "maximum_retry_attempts": 2}
    assert target["role_arn"] == "${aws_iam_role.sweep-role.arn}"
    assert call["AgentRuntimeArn"] == f"${{{RUNTIME}.agent_runtime_arn}}"
    assert (call["Qualifier"], json.loads(call["Payload"])) == ("live", {"sweep": True})
    assert call["RuntimeSessionId"].endswith("-<aws.scheduler.scheduled-time>-<aws.scheduler.execution-id>")
    # Long enough for a session id, whatever the service puts in the place of both.
    assert len(call["RuntimeSessionId"].partition("<")[0]) >= 33


def test_the_schedule_waits_for_the_endpoint_and_for_its_rights(shipped: Synthesis) -> None:
    """Its first call would fail, and the trail would not hold it."""
    waits = before(graph_of(shipped["agent-prod"]), f"{SCHEDULE}.sweep")

    assert {
        "aws_iam_role_policy.sweep-role-policy",
        "aws_bedrockagentcore_agent_runtime_endpoint.live",
        "aws_cloudwatch_log_data_protection_policy.masking",
    } <= waits


def test_a_schedule_s_role_may_be_brought(variants: Synthesis) -> None:
    """Outputs say what it needs; who brings the agent's role alone has no schedule."""
    stack = variants["agent-brought"]

    assert not stack.resources("aws_iam_role")
    assert stack.only(SCHEDULE)["target"]["role_arn"] == "arn:aws:iam::777788889999:role/agents/sweeps"
    assert stack.only(SCHEDULE)["schedule_expression"] == "rate(90 minutes)"
    assert "SchedulerAssumesRole" in by_sid(policy(stack.output("sweep_role_trust_policy")))
    assert "SweepLive" in by_sid(policy(stack.output("sweep_role_permissions_policy")))


def test_a_boundary_bounds_the_schedule_s_role_too(variants: Synthesis, shipped: Synthesis) -> None:
    """Callers with tokens leave no schedule, and so no role, to bound."""
    assert set(variants["agent-locked"].resources("aws_iam_role")) == {"role"}
    assert "permissions_boundary" not in shipped["agent-prod"].resources("aws_iam_role")["sweep-role"]


def test_a_budget_counts_what_carries_the_environment_s_tag_and_tells_the_topic(variants: Synthesis) -> None:
    """Shares of what is spent, then of what is forecast; Budgets may publish, and alarms may go on doing so."""
    stack = variants["agent-brought"]
    budget = stack.only("aws_budgets_budget")

    assert (budget["limit_amount"], budget["limit_unit"], budget["time_unit"]) == ("250.50", "USD", "MONTHLY")
    assert budget["cost_filter"] == [{"name": "TagKeyValue", "values": ["user:Environment$brought"]}]
    assert [(each["notification_type"], each["threshold"]) for each in budget["notification"]] == [
        ("ACTUAL", 50),
        ("ACTUAL", 100),
        ("FORECASTED", 100),
    ]
    assert all(each["subscriber_sns_topic_arns"] == [TOPIC] for each in budget["notification"])
    assert "aws_sns_topic_policy.alerts-policy" in before(graph_of(stack), "aws_budgets_budget.budget")
    services = {s["Principal"]["Service"] for s in policy(stack.only("aws_sns_topic_policy")["policy"])}
    assert services == {"cloudwatch.amazonaws.com", "budgets.amazonaws.com"}
