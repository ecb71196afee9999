"""Read deployments out of synthesised Terraform, ours and other people's."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agent_image.contract import Regime
from cost_model.deployed import read_deployed
from cost_model.deployment import Deployment, LogClass
from cost_model.errors import SynthesisError
from cost_model.pieces import Pieces
from cost_model.synthesis import Environment
from cost_model.terraform import Stack
from tests.cost_model.conftest import account_document, agent_document
from tests.synthesis import Synthesis

GROUP = {"name": "/aws/bedrock-agentcore/runtimes/x-live"}


def read(*documents: dict[str, Any], region: str | None = None) -> Deployment:
    """Read stacks as one environment."""
    stacks = tuple(Stack(f"stack-{position}", document) for position, document in enumerate(documents))
    return read_deployed(Environment("dev", stacks), region)


def foreign(**resource: Any) -> dict[str, Any]:
    """Return a stack of somebody else's in us-east-1."""
    return {"provider": {"aws": {"region": "us-east-1"}}, "resource": resource}


def test_everything_is_read_from_the_two_stacks() -> None:
    """Regime, retention, masking and Region stand in the agent stack, indexing in the account's; nothing is assumed."""
    assert read(agent_document(regime="archive", retention=90), account_document(5)) == Deployment(
        region="us-east-1",
        environment="dev",
        regime=Regime.ARCHIVE,
        indexing_percentage=Decimal(5),
        retention_days=Decimal(90),
        masking=True,
        log_class=LogClass.STANDARD,
        pieces=Pieces(runtime=True),
    )


def test_an_empty_stack_of_other_people_is_read_as_assumptions() -> None:
    """Without a runtime, a group or a rule, everything is unknown and said to be."""
    deployment = read(foreign())

    assert deployment.regime is None
    assert deployment.indexing_percentage is None
    assert deployment.retention_days is None
    assert not deployment.masking
    assert deployment.assumptions[0] == "no observability is in stack-0: nothing there makes or keeps a trail"
    assert "RAG_CAPTURE" in deployment.assumptions[1]
    assert "no log group for spans" in deployment.assumptions[2]


@pytest.mark.parametrize(
    "rule",
    [
        {"probabilistic": {"desired_sampling_percentage": "2.5"}},
        [{"probabilistic": [{"desired_sampling_percentage": 2.5}]}],
    ],
)
def test_a_block_is_an_object_or_a_list_of_one(rule: object) -> None:
    """Terraform's JSON allows both forms, and numbers as text."""
    document = {
        "provider": [{"aws": {"region": "us-east-1"}}],
        "resource": [{"aws_xray_indexing_rule": [{"all": [{"rule": rule}]}]}],
    }
    if isinstance(rule, list):
        rule[0]["probabilistic"][0]["desired_sampling_percentage"] = Decimal("2.5")

    assert read(document).indexing_percentage == Decimal("2.5")


def test_what_only_a_deployment_settles_is_unknown() -> None:
    """A reference is no value; a variable's default is one."""
    document = foreign(
        aws_cloudwatch_log_group={"g": {**GROUP, "retention_in_days": "${var.days}", "log_group_class": "${var.c}"}},
        aws_xray_indexing_rule={"r": {"rule": {"probabilistic": {"desired_sampling_percentage": "${var.percent}"}}}},
        aws_bedrockagentcore_agent_runtime={"a": {"environment_variables": {"RAG_CAPTURE": "${local.regime}"}}},
    )
    document["variable"] = {"days": {"default": 14}, "percent": {"type": "number"}}
    deployment = read(document)

    assert deployment.retention_days == 14
    assert deployment.indexing_percentage is None
    assert deployment.regime is None
    assert any("taken as STANDARD" in text for text in deployment.assumptions)


@pytest.mark.parametrize("retention", [None, 0])
def test_no_retention_keeps_for_ever(retention: int | None) -> None:
    """Terraform's 0, and nothing at all, mean that events never expire."""
    deployment = read(foreign(aws_cloudwatch_log_group={"g": {**GROUP, "retention_in_days": retention}}))

    assert deployment.retention_days is None
    assert any("kept for ever" in text for text in deployment.assumptions)


def test_the_group_that_holds_spans_is_told_from_others() -> None:
    """A function's log group does not decide how long spans are kept, unless it is the only group there is."""
    other = {"name": "/aws/lambda/f", "retention_in_days": 1}
    both = read(foreign(aws_cloudwatch_log_group={"f": other, "g": {**GROUP, "retention_in_days": 60}}))
    shared = read(foreign(aws_cloudwatch_log_group={"f": other, "g": {"name": "aws/spans", "retention_in_days": 60}}))
    alone = read(foreign(aws_cloudwatch_log_group={"f": other}))

    assert both.retention_days == 60
    assert shared.retention_days == 60
    assert alone.retention_days == 1
    assert any("the only log group" in text for text in alone.assumptions)


def test_of_several_span_groups_the_longest_kept_is_priced() -> None:
    """The dearest reading is taken, and said."""
    first, second = ({**GROUP, "retention_in_days": days} for days in (7, 90))
    deployment = read(foreign(aws_cloudwatch_log_group={"a": first, "b": second}))

    assert deployment.retention_days == 90
    assert any("2 log groups can hold spans" in text for text in deployment.assumptions)


def test_masking_follows_the_policy_of_the_group_or_of_the_account() -> None:
    """Another group's policy, one counted out, or an account policy of another kind masks nothing."""
    other = {"log_group_name": "${aws_cloudwatch_log_group.other.name}"}
    own = {"log_group_name": GROUP["name"]}
    group = {"aws_cloudwatch_log_group": {"g": GROUP}}

    def masked(**resource: Any) -> bool:
        return read(foreign(**group, **resource)).masking

    assert masked(aws_cloudwatch_log_data_protection_policy={"p": own})
    assert masked(aws_cloudwatch_log_account_policy={"p": {"policy_type": "DATA_PROTECTION_POLICY"}})
    assert not masked(aws_cloudwatch_log_data_protection_policy={"p": other})
    assert not masked(aws_cloudwatch_log_data_protection_policy={"p": {**own, "count": 0}})
    assert not masked(aws_cloudwatch_log_account_policy={"p": {"policy_type": "SUBSCRIPTION_FILTER_POLICY"}})
    assert not masked()


def test_the_region_is_never_guessed() -> None:
    """A Region that nobody knows yet is refused, and one on the command line stands in for it."""
    unknown = {"provider": {"aws": {"region": "${var.region}"}}, "resource": {}}

    with pytest.raises(SynthesisError, match="state it with --region"):
        read(unknown)
    assert read(unknown, region="us-east-1").region == "us-east-1"
    assert read({**unknown, "variable": {"region": {"default": "eu-west-1"}}}).region == "eu-west-1"


def test_the_provider_without_an_alias_names_the_region() -> None:
    """An aliased provider serves other Regions."""
    providers = [{"alias": "dr", "region": "us-west-2"}, {"region": "us-east-1"}]

    assert read({"provider": {"aws": providers}, "resource": {}}).region == "us-east-1"


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        ({"aws_cloudwatch_log_group": {"g": {**GROUP, "log_group_class": "DELIVERY"}}}, "'DELIVERY' has no prices"),
        ({"aws_cloudwatch_log_group": {"g": {**GROUP, "retention_in_days": -3}}}, "retention_in_days: -3"),
        (
            {"aws_bedrockagentcore_agent_runtime": {"a": {"environment_variables": {"RAG_CAPTURE": "all"}}}},
            "'all' is not",
        ),
        (
            {"aws_xray_indexing_rule": {"r": {"rule": {"probabilistic": {"desired_sampling_percentage": 101}}}}},
            "desired_sampling_percentage: 101",
        ),
    ],
)
def test_values_that_cannot_be_are_refused(resource: dict[str, Any], message: str) -> None:
    """A value outside its range is refused with what is allowed."""
    with pytest.raises(SynthesisError, match=message) as refusal:
        read(foreign(**resource))

    assert "priced classes" in str(refusal.value) or "allowed" in str(refusal.value)


@pytest.mark.parametrize("second", ["content", None, "${var.regime}"])
def test_runtimes_that_differ_leave_the_regime_unknown(second: str | None) -> None:
    """Two runtimes under different regimes, or one that is silent, cannot be priced as one."""
    variables = {"RAG_CAPTURE": second} if second else {}
    runtimes = {
        "a": {"environment_variables": {"RAG_CAPTURE": "address"}},
        "b": {"environment_variables": variables},
    }

    assert read(foreign(aws_bedrockagentcore_agent_runtime=runtimes)).regime is None


@pytest.mark.parametrize(
    ("expression", "said"),
    [("rate(15 minutes)", "at rate(15 minutes)"), ("${var.rate}", "at a rate that is settled later")],
)
def test_a_schedule_is_said_to_be_in_no_price(expression: str, said: str) -> None:
    """Its calls are free up to millions, and what they wake has a meter that nobody gave numbers for them."""
    schedule = {"sweep": {"schedule_expression": expression, "target": {}}}
    found = read(foreign(aws_scheduler_schedule=schedule)).assumptions

    assert len([text for text in found if "aws_scheduler_schedule.sweep calls" in text and said in text]) == 1
    assert not any("aws_scheduler" in text for text in read(foreign()).assumptions)


def test_what_watches_an_environment_is_counted_as_the_stacks_declare_it(shipped: Synthesis) -> None:
    """Each metric of metric math counts; a budget, a schedule and a subscription are no pieces."""
    stack = shipped["agent-prod"]
    alarms = stack.resources("aws_cloudwatch_metric_alarm").values()
    read_by = [len([q for q in alarm.get("metric_query", []) if "metric" in q]) or 1 for alarm in alarms]
    pieces = read(stack.document).pieces

    assert pieces.alarm_metrics == sum(read_by) > len(alarms)
    assert pieces.metric_filters == len(stack.resources("aws_cloudwatch_log_metric_filter"))
    assert pieces.kms_keys == 1
    assert pieces.topic
    assert pieces.encrypted_by_key
    assert not pieces.high_resolution_alarm_metrics + pieces.insights_alarms + pieces.composite_alarms
