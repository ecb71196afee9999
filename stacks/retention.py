"""Tell what of an environment outlives its destruction, why, and how it comes back: read from the synthesised stack."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

WHY_KEPT: Final[Mapping[str, str]] = {
    "aws_cloudwatch_log_group": "holds the spans and event lines",
    "aws_cloudwatch_log_data_protection_policy": "keeps what stays in the log group masked",
    "aws_cloudwatch_log_index_policy": "keeps what stays in the log group findable",
    "aws_dynamodb_table": "holds checkpoints, decisions, sessions and fingerprints",
    "aws_s3_bucket": "holds passages, or the audit",
    "aws_s3_bucket_lifecycle_configuration": "guards a kept bucket",
    "aws_s3_bucket_object_lock_configuration": "guards a kept bucket",
    "aws_s3_bucket_ownership_controls": "guards a kept bucket",
    "aws_s3_bucket_policy": "guards a kept bucket",
    "aws_s3_bucket_public_access_block": "guards a kept bucket",
    "aws_s3_bucket_server_side_encryption_configuration": "guards a kept bucket",
    "aws_s3_bucket_versioning": "guards a kept bucket",
}


def kept(stack: Mapping[str, Any]) -> dict[str, str]:
    """List the addresses that Terraform must not destroy, each with why it is kept."""
    return {
        f"{kind}.{name}": WHY_KEPT[kind]
        for kind, named in stack.get("resource", {}).items()
        for name, arguments in named.items()
        if arguments.get("lifecycle", {}).get("prevent_destroy")
    }


def adoptable(stack: Mapping[str, Any]) -> dict[str, str]:
    """Map each kept address to the id by which Terraform imports it again.

    The log group and its policies are not among them: a runtime that is made anew has a new id, and a group of its own.
    """
    resources = stack.get("resource", {})
    names = {name: bucket["bucket"] for name, bucket in resources.get("aws_s3_bucket", {}).items()}
    found = {}
    for address in kept(stack):
        kind, _, name = address.partition(".")
        arguments = resources[kind][name]
        if kind == "aws_dynamodb_table":
            found[address] = arguments["name"]
        elif kind == "aws_s3_bucket":
            found[address] = arguments["bucket"]
        elif kind.startswith("aws_s3_bucket_"):
            found[address] = names[_BUCKET.fullmatch(arguments["bucket"])[1]]  # type: ignore[index] # by our own bucket.py
    return found


_BUCKET: Final = re.compile(r"\$\{aws_s3_bucket\.([\w-]+)\.id\}")
