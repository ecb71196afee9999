"""The table on loopback is the one that is deployed."""

from __future__ import annotations

from uuid import uuid4

from tests.loopback.table import client_at, make_table
from tests.synthesis import Synthesis


def test_the_table_of_the_tests_is_the_stack_s(aws: str, shipped: Synthesis) -> None:
    """A store that passes here finds the same keys and the same index in an environment."""
    name = f"rastro-{uuid4().hex}"
    make_table(aws, name)
    table = client_at(aws, "dynamodb").describe_table(TableName=name)["Table"]
    declared = shipped["agent-prod"].only("aws_dynamodb_table")

    (index,) = table["GlobalSecondaryIndexes"]
    (declared_index,) = declared["global_secondary_index"]
    assert {key["AttributeName"]: key["KeyType"] for key in table["KeySchema"]} == {declared["hash_key"]: "HASH"}
    assert table["AttributeDefinitions"] == [
        {"AttributeName": one["name"], "AttributeType": one["type"]} for one in declared["attribute"]
    ]
    assert (index["IndexName"], index["Projection"]["ProjectionType"]) == (
        declared_index["name"],
        declared_index["projection_type"],
    )
    assert {key["AttributeName"]: key["KeyType"] for key in index["KeySchema"]} == {
        declared_index["hash_key"]: "HASH",
        declared_index["range_key"]: "RANGE",
    }
