"""Every synthesised argument is one that the provider knows."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.synthesis import Json, Synthesis
from tests.terraform_schema.validate import Fault, findings, load_schema

SCHEMA = load_schema()


def empty_parts(value: Any, path: str) -> Iterator[str]:
    match value:
        case dict() | list() if not value:
            yield path
        case dict():
            for key, item in value.items():
                yield from empty_parts(item, f"{path}.{key}")
        case list():
            for number, item in enumerate(value):
                yield from empty_parts(item, f"{path}[{number}]")


def test_no_stack_has_a_finding(shipped: Synthesis, variants: Synthesis) -> None:
    """Names, nesting, required arguments, types and references hold, the two X-Ray resources included."""
    found = [
        f"{name}: {finding}"
        for synthesis in (shipped, variants)
        for name, stack in synthesis.stacks.items()
        for finding in findings(stack.document, SCHEMA)
    ]

    assert found == []


def test_no_block_is_empty(shipped: Synthesis, variants: Synthesis) -> None:
    """The bindings drop what they do not understand of a mapping within a list, and leave an empty block behind."""
    found = [
        f"{name}.{path}"
        for synthesis in (shipped, variants)
        for name, stack in synthesis.stacks.items()
        for path in empty_parts(stack.document["resource"], "resource")
    ]

    assert found == []


@pytest.mark.parametrize(
    ("stack", "kind", "name", "change", "fault"),
    [
        ("agent-prod", "aws_dynamodb_table", "table", {"billing_modus": "x"}, Fault.UNKNOWN_ARGUMENT),
        ("agent-prod", "aws_cloudwatch_log_group", "log-group", {"retention_in_days": "30"}, Fault.WRONG_TYPE),
        ("agent-prod", "aws_iam_role", "role", {"assume_role_policy": None}, Fault.MISSING_ARGUMENT),
        ("account-sandbox", "aws_xray_indexing_rule", "indexing", {"rules": []}, Fault.UNKNOWN_ARGUMENT),
        ("account-sandbox", "aws_xray_indexing_rule", "indexing", {"name": None}, Fault.MISSING_ARGUMENT),
        (
            "account-sandbox",
            "aws_xray_trace_segment_destination",
            "trace-destination",
            {"destination": 1},
            Fault.WRONG_TYPE,
        ),
        (
            "agent-prod",
            "aws_s3_bucket_policy",
            "audit-tls-only",
            {"bucket": "${aws_s3_bucket.adit.id}"},
            Fault.UNDECLARED,
        ),
    ],
)
def test_a_planted_error_is_found(
    shipped: Synthesis, stack: str, kind: str, name: str, change: Json, fault: Fault
) -> None:
    """The same stacks with one argument spoilt do not pass."""
    document = copy.deepcopy(shipped[stack].document)
    arguments = document["resource"][kind][name]
    for key, value in change.items():
        if value is None:
            del arguments[key]
        else:
            arguments[key] = value

    assert [finding.fault for finding in findings(document, SCHEMA)] == [fault]
