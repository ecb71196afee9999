"""Check the validator with planted errors."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests.terraform_schema.validate import Fault, Finding, Schema, findings, load_schema

AGENT: Final[dict[str, Any]] = {
    "agent_runtime_artifact": {
        "container_configuration": {"container_uri": "${aws_ecr_repository.images.repository_url}:1"}
    },
    "agent_runtime_name": "agent",
    "environment_variables": {"RAG_CAPTURE": "address"},
    "lifecycle": {"prevent_destroy": True},
    "network_configuration": {"network_mode": "PUBLIC"},
    "role_arn": "${aws_iam_role.agent.arn}",
}
POLICY: Final = json.dumps({"Statement": [{"Effect": "Allow", "Resource": "${aws_dynamodb_table.sessions.arn}/*"}]})
DOCUMENT: Final[dict[str, Any]] = {
    "//": {"metadata": {"stackName": "${aws_nothing.at_all.id}"}},
    "data": {"aws_region": {"here": {}}},
    "output": {"region": {"value": "${data.aws_region.here.name}"}},
    "provider": {"aws": [{"allowed_account_ids": ["111122223333"], "region": "eu-west-1"}]},
    "resource": {
        "aws_bedrockagentcore_agent_runtime": {"agent": AGENT},
        "aws_dynamodb_table": {
            "sessions": {
                "attribute": [{"name": "pk", "type": "S"}, {"name": "sk", "type": "S"}],
                "hash_key": "pk",
                "name": "sessions",
                "point_in_time_recovery": {"enabled": True},
                "range_key": "sk",
            }
        },
        "aws_ecr_repository": {"images": {"name": "agent", "tags": {"stage": "${terraform.workspace}"}}},
        "aws_iam_role": {"agent": {"assume_role_policy": "{}", "name": "agent"}},
        "aws_iam_role_policy": {
            "sessions": {"depends_on": ["aws_iam_role.agent"], "policy": POLICY, "role": "${aws_iam_role.agent.id}"}
        },
    },
    "terraform": {"required_providers": {"aws": {"source": "aws", "version": "6.69.1"}}},
}
TRACING: Final[dict[str, Any]] = {
    "resource": {
        "aws_xray_indexing_rule": {
            "default": {
                "depends_on": ["aws_xray_trace_segment_destination.logs"],
                "name": "Default",
                "rule": [{"probabilistic": [{"desired_sampling_percentage": 1}]}],
            }
        },
        "aws_xray_trace_segment_destination": {
            "logs": {"destination": "CloudWatchLogs", "timeouts": {"create": "10m"}}
        },
    }
}
INDEXING: Final = "resource.aws_xray_indexing_rule.default"
DESTINATION: Final = "resource.aws_xray_trace_segment_destination.logs"
SESSIONS: Final = "resource.aws_dynamodb_table.sessions"
RUNTIME: Final = "resource.aws_bedrockagentcore_agent_runtime.agent"
ABSENT: Final = object()


@pytest.fixture(scope="module")
def schema() -> Schema:
    """Load the committed extract."""
    return load_schema()


def plant(document: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return a copy of a document with one value set, or removed, at a dotted path."""
    copy = json.loads(json.dumps(document))
    *parents, last = (int(key) if key.isdigit() else key for key in path.split("."))
    place = copy
    for key in parents:
        place = place[key]
    if value is ABSENT:
        del place[last]
    else:
        place[last] = value
    return dict(copy)


def where_and_what(found: list[Finding]) -> list[tuple[str, Fault]]:
    """Reduce findings to what a test compares."""
    return [(finding.path, finding.fault) for finding in found]


@pytest.mark.parametrize("document", [DOCUMENT, TRACING, {}], ids=["agent", "tracing", "empty"])
def test_correct_document(document: dict[str, Any], schema: Schema) -> None:
    """A document that keeps to the schema has no findings."""
    assert findings(document, schema) == []


@pytest.mark.parametrize(
    ("path", "value", "found_at", "fault"),
    [
        (f"{SESSIONS}.hashkey", "pk", f"{SESSIONS}.hashkey", Fault.UNKNOWN_ARGUMENT),
        (
            f"{RUNTIME}.agent_runtime_artifact.container_configuration.container_url",
            "x",
            f"{RUNTIME}.agent_runtime_artifact.container_configuration.container_url",
            Fault.UNKNOWN_ARGUMENT,
        ),
        (f"{SESSIONS}.attribute.1.typo", "S", f"{SESSIONS}.attribute[1].typo", Fault.UNKNOWN_ARGUMENT),
        ("provider.aws.0.profil", "x", "provider.aws.profil", Fault.UNKNOWN_ARGUMENT),
        (f"{RUNTIME}.role_arn", ABSENT, f"{RUNTIME}.role_arn", Fault.MISSING_ARGUMENT),
        (f"{RUNTIME}.role_arn", None, f"{RUNTIME}.role_arn", Fault.MISSING_ARGUMENT),
        (f"{SESSIONS}.attribute.0.type", ABSENT, f"{SESSIONS}.attribute[0].type", Fault.MISSING_ARGUMENT),
        (f"{SESSIONS}.read_capacity", "5", f"{SESSIONS}.read_capacity", Fault.WRONG_TYPE),
        (f"{SESSIONS}.read_capacity", True, f"{SESSIONS}.read_capacity", Fault.WRONG_TYPE),
        (f"{SESSIONS}.name", 5, f"{SESSIONS}.name", Fault.WRONG_TYPE),
        (
            f"{SESSIONS}.point_in_time_recovery.enabled",
            "true",
            f"{SESSIONS}.point_in_time_recovery.enabled",
            Fault.WRONG_TYPE,
        ),
        (f"{SESSIONS}.point_in_time_recovery", True, f"{SESSIONS}.point_in_time_recovery", Fault.WRONG_TYPE),
        (f"{RUNTIME}.environment_variables.LIMIT", 5, f"{RUNTIME}.environment_variables.LIMIT", Fault.WRONG_TYPE),
        ("provider.aws.0.allowed_account_ids", [1], "provider.aws.allowed_account_ids", Fault.WRONG_TYPE),
        ("resource.aws_dinamodb_table", {"x": {}}, "resource.aws_dinamodb_table", Fault.UNKNOWN_TYPE),
        ("data.aws_regions", {"x": {}}, "data.aws_regions", Fault.UNKNOWN_TYPE),
        ("provider.awscc", [{}], "provider.awscc", Fault.UNKNOWN_TYPE),
        (f"{RUNTIME}.role_arn", "${aws_iam_role.agents.arn}", f"{RUNTIME}.role_arn", Fault.UNDECLARED),
        (f"{RUNTIME}.role_arn", "${aws_iam_role.agent.arm}", f"{RUNTIME}.role_arn", Fault.UNKNOWN_ATTRIBUTE),
        ("output.region.value", "${data.aws_region.there.name}", "output.region.value", Fault.UNDECLARED),
        ("output.region.value", "${data.aws_region.here.nam}", "output.region.value", Fault.UNKNOWN_ATTRIBUTE),
        (
            "resource.aws_iam_role_policy.sessions.policy",
            POLICY.replace("sessions.arn", "session.arn"),
            "resource.aws_iam_role_policy.sessions.policy",
            Fault.UNDECLARED,
        ),
        (
            "resource.aws_iam_role_policy.sessions.depends_on",
            ["aws_iam_role.agent", "aws_iam_role.other"],
            "resource.aws_iam_role_policy.sessions.depends_on[1]",
            Fault.UNDECLARED,
        ),
    ],
)
def test_planted_error(path: str, value: object, found_at: str, fault: Fault, schema: Schema) -> None:
    """One planted error is one finding, at its place."""
    assert where_and_what(findings(plant(DOCUMENT, path, value), schema)) == [(found_at, fault)]


@pytest.mark.parametrize(
    ("path", "value", "found_at", "fault"),
    [
        (f"{DESTINATION}.destination", ABSENT, f"{DESTINATION}.destination", Fault.MISSING_ARGUMENT),
        (f"{DESTINATION}.timeouts.creation", "10m", f"{DESTINATION}.timeouts.creation", Fault.UNKNOWN_ARGUMENT),
        (f"{DESTINATION}.timeouts.create", 10, f"{DESTINATION}.timeouts.create", Fault.WRONG_TYPE),
        (f"{INDEXING}.rule.0.probabilistic", 1, f"{INDEXING}.rule.probabilistic", Fault.WRONG_TYPE),
        (
            f"{INDEXING}.rule.0.probabilistic.0.desired_sampling_percentage",
            "1",
            f"{INDEXING}.rule.probabilistic.desired_sampling_percentage",
            Fault.WRONG_TYPE,
        ),
        (
            f"{INDEXING}.rule.0.probabilistic.0",
            {},
            f"{INDEXING}.rule.probabilistic.desired_sampling_percentage",
            Fault.MISSING_ARGUMENT,
        ),
        (
            f"{INDEXING}.desired_sampling_percentage",
            1,
            f"{INDEXING}.desired_sampling_percentage",
            Fault.UNKNOWN_ARGUMENT,
        ),
        (
            f"{INDEXING}.depends_on",
            ["aws_xray_trace_segment_destination.log"],
            f"{INDEXING}.depends_on",
            Fault.UNDECLARED,
        ),
    ],
)
def test_planted_tracing_error(path: str, value: object, found_at: str, fault: Fault, schema: Schema) -> None:
    """The two X-Ray resources, which have no bindings under cdktf, are checked as deep as any other."""
    assert where_and_what(findings(plant(TRACING, path, value), schema)) == [(found_at, fault)]


def test_one_object_equals_list_of_one(schema: Schema) -> None:
    """A block written as an object and as a list of one object has the same findings at the same paths."""
    block = {"enable": True}
    as_object = findings(plant(DOCUMENT, f"{SESSIONS}.point_in_time_recovery", block), schema)
    as_list = findings(plant(DOCUMENT, f"{SESSIONS}.point_in_time_recovery", [block]), schema)

    assert as_object == as_list
    assert where_and_what(as_object) == [
        (f"{SESSIONS}.point_in_time_recovery.enable", Fault.UNKNOWN_ARGUMENT),
        (f"{SESSIONS}.point_in_time_recovery.enabled", Fault.MISSING_ARGUMENT),
    ]


@pytest.mark.parametrize(
    "name", ["depends_on", "lifecycle", "provider", "count", "for_each", "provisioner", "timeouts", "//"]
)
def test_meta_argument_is_skipped(name: str, schema: Schema) -> None:
    """Terraform's own arguments are not the provider's, so whatever they hold passes."""
    assert findings(plant(DOCUMENT, f"resource.aws_iam_role.agent.{name}", {"x": 1}), schema) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{SESSIONS}.read_capacity", "${var.capacity}"),
        (f"{SESSIONS}.attribute", "${var.attributes}"),
        (f"{SESSIONS}.attribute.0", "${var.attribute}"),
        (f"{RUNTIME}.environment_variables", "${var.variables}"),
        (f"{RUNTIME}.environment_variables.LIMIT", "${var.limit}"),
        ("provider.aws.0.allowed_account_ids", ["${var.account}"]),
    ],
)
def test_expression_has_no_type(path: str, value: object, schema: Schema) -> None:
    """A value that Terraform computes is never of a wrong type."""
    assert findings(plant(DOCUMENT, path, value), schema) == []


def test_text_around_expression_is_text(schema: Schema) -> None:
    """An expression inside longer text makes text, which is no number."""
    found = findings(plant(DOCUMENT, f"{SESSIONS}.read_capacity", "about ${var.capacity}"), schema)

    assert where_and_what(found) == [(f"{SESSIONS}.read_capacity", Fault.WRONG_TYPE)]


def test_unknown_type_does_not_hide_its_references(schema: Schema) -> None:
    """A type outside the extract is reported once; references to it pass, references from it are checked."""
    document = plant(DOCUMENT, "resource.aws_vpc", {"main": {"tags": {"role": "${aws_iam_role.none.arn}"}}})
    document = plant(document, "output.vpc", {"value": "${aws_vpc.main.anything}"})

    assert where_and_what(findings(document, schema)) == [
        ("resource.aws_vpc", Fault.UNKNOWN_TYPE),
        ("resource.aws_vpc.main.tags.role", Fault.UNDECLARED),
    ]


def test_finding_reads_as_one_line(schema: Schema) -> None:
    """A finding says where, what, and the name that was probably meant."""
    (finding,) = findings(plant(DOCUMENT, f"{SESSIONS}.hashkey", "pk"), schema)

    assert str(finding) == f"{SESSIONS}.hashkey: unknown argument; did you mean hash_key?"


def test_wrong_type_names_both_types(schema: Schema) -> None:
    """A finding about a type shows the value, its type and the type expected."""
    (finding,) = findings(plant(DOCUMENT, f"{SESSIONS}.read_capacity", "5"), schema)

    assert finding.problem == "expected a number, got '5' (string)"
