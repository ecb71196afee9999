"""The references between resources form a graph without cycles, and it holds the declared order."""

from __future__ import annotations

import copy
import json

import pytest

from tests.stacks.graph import before, cycle_in, graph_of
from tests.synthesis import Stack, Synthesis

RUNTIME = "aws_bedrockagentcore_agent_runtime.runtime"
LIVE = "aws_bedrockagentcore_agent_runtime_endpoint.live"
GROUP = "aws_cloudwatch_log_group.log-group"
ROLE_POLICY = "aws_iam_role_policy.role-policy"
MASKING = "aws_cloudwatch_log_data_protection_policy.masking"
INDEX = "aws_cloudwatch_log_index_policy.index"
HOLDERS = ("aws_dynamodb_table.table", "aws_s3_bucket.archive", "aws_s3_bucket.audit")
ENVIRONMENTS = ("agent-dev", "agent-staging", "agent-prod")


def test_no_stack_has_a_cycle(shipped: Synthesis, variants: Synthesis) -> None:
    """Terraform could order every stack: synthesis itself does not look."""
    cycles = {
        name: cycle_in(graph_of(stack)) for synthesis in (shipped, variants) for name, stack in synthesis.stacks.items()
    }

    assert cycles == dict.fromkeys(cycles)


def test_a_role_policy_that_names_the_group_by_its_arn_closes_a_cycle(shipped: Synthesis) -> None:
    """The known cycle, planted on purpose, is found: policy, group, runtime, policy."""
    document = copy.deepcopy(shipped["agent-dev"].document)
    policy = json.loads(document["resource"]["aws_iam_role_policy"]["role-policy"]["policy"])
    policy["Statement"][0]["Resource"] = ["${aws_cloudwatch_log_group.log-group.arn}"]
    document["resource"]["aws_iam_role_policy"]["role-policy"]["policy"] = json.dumps(policy)

    cycle = cycle_in(graph_of(Stack("planted", document)))

    assert cycle is not None
    assert set(cycle) == {ROLE_POLICY, GROUP, RUNTIME}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_what_holds_the_trail_stands_before_the_role_that_writes_to_it(shipped: Synthesis, name: str) -> None:
    """Table, buckets with all that guards them and topic come first, then the role's policy."""
    stack = shipped[name]
    bucket_guards = {address for address, _ in stack.each() if address.startswith("aws_s3_bucket")}

    assert len(bucket_guards) > len(HOLDERS)
    assert {*HOLDERS, *bucket_guards, "aws_sns_topic.alerts"} <= before(graph_of(stack), ROLE_POLICY)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_runtime_waits_for_the_policy_of_its_role(shipped: Synthesis, name: str) -> None:
    """Waiting for the role alone would let the runtime start before it may pull its image."""
    assert ROLE_POLICY in graph_of(shipped[name])[RUNTIME]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_group_waits_for_the_runtime_whose_id_names_it(shipped: Synthesis, name: str) -> None:
    """The id is drawn by the service, so the group's name is a reference."""
    stack = shipped[name]

    assert RUNTIME in graph_of(stack)[GROUP]
    assert stack.only("aws_cloudwatch_log_group")["name"] == (
        f"/aws/bedrock-agentcore/runtimes/${{{RUNTIME}.agent_runtime_id}}-live"
    )


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_masking_and_index_wait_for_the_group(shipped: Synthesis, name: str) -> None:
    """Both act on the group that the stack owns."""
    graph = graph_of(shipped[name])

    assert GROUP in graph[MASKING]
    assert GROUP in graph[INDEX]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_endpoint_waits_for_everything_that_must_hold_before_the_first_event(shipped: Synthesis, name: str) -> None:
    """Nothing reaches the live group unmasked, unindexed or kept for ever, and no bucket is open for a moment."""
    stack = shipped[name]
    bucket_guards = {address for address, _ in stack.each() if address.startswith("aws_s3_bucket")}

    assert {RUNTIME, ROLE_POLICY, GROUP, MASKING, INDEX, *HOLDERS, *bucket_guards} <= graph_of(stack)[LIVE] | {RUNTIME}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_what_guards_a_bucket_waits_for_it(shipped: Synthesis, name: str) -> None:
    """A guard of a bucket that is not there yet would fail."""
    for address, waited in graph_of(shipped[name]).items():
        if address.startswith("aws_s3_bucket_"):
            bucket = address.partition(".")[2].partition("-")[0]
            assert f"aws_s3_bucket.{bucket}" in waited, address


def test_an_object_is_locked_in_a_bucket_that_keeps_versions(shipped: Synthesis) -> None:
    """S3 takes no Object Lock configuration before versioning is on."""
    waited = graph_of(shipped["agent-prod"])["aws_s3_bucket_object_lock_configuration.audit-lock"]

    assert "aws_s3_bucket_versioning.audit-versions" in waited


def test_transaction_search_comes_in_the_order_in_which_it_works(shipped: Synthesis) -> None:
    """X-Ray's right to write, then the destination, then the index."""
    graph = graph_of(shipped["account-sandbox"])
    policy = "aws_cloudwatch_log_resource_policy.xray-writes-spans"
    destination = "aws_xray_trace_segment_destination.trace-destination"

    assert graph[destination] == {policy}
    assert graph["aws_xray_indexing_rule.indexing"] == {destination}


def test_each_environment_is_deployed_after_its_account(shipped: Synthesis) -> None:
    """The order between stacks is declared without reading another stack's state."""
    dependencies = {name: stack["dependencies"] for name, stack in shipped.manifest["stacks"].items()}

    assert dependencies == {
        "account-production": [],
        "account-sandbox": [],
        "agent-dev": ["account-sandbox"],
        "agent-staging": ["account-sandbox"],
        "agent-prod": ["account-production"],
    }
    assert not any("data" in stack.document for stack in shipped.stacks.values())
