"""Tell what of an environment outlives its destruction, why, and how it comes back: read from the synthesised stack."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

WHY_KEPT: Final[Mapping[str, str]] = {
    "aws_cloudwatch_log_group": "holds the spans and event lines",
    "aws_cloudwatch_log_data_protection_policy": "keeps what stays in the log group masked",
    "aws_cloudwatch_log_index_policy": "keeps what stays in the log group findable",
    "aws_s3_object": "holds the settings that versions of the runtime point to",
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
_RUNTIME: Final = "aws_bedrockagentcore_agent_runtime.runtime"
_BUCKET: Final = re.compile(r"\$\{aws_s3_bucket\.([\w-]+)\.id\}")

Stack = Mapping[str, Any]
State = Mapping[str, Mapping[str, Any]]


def kept(stack: Stack) -> dict[str, str]:
    """List the addresses that Terraform must not destroy, each with why it is kept."""
    return {
        f"{kind}.{name}": WHY_KEPT[kind]
        for kind, named in stack.get("resource", {}).items()
        for name, arguments in named.items()
        if arguments.get("lifecycle", {}).get("prevent_destroy")
    }


def let_go(stack: Stack) -> dict[str, str]:
    """List the addresses that are no longer declared and must stay in AWS as they are.

    A deployment heeds a `removed` block, a destroy does not: what is still held would be destroyed with the rest.
    """
    return {block["from"]: "is no longer declared, and stays as it is" for block in stack.get("removed", [])}


def bound_to_runtime(kept_addresses: Mapping[str, str]) -> dict[str, str]:
    """Pick what goes with one runtime: its log group, masking and index. Table and buckets serve the next one too."""
    return {address: why for address, why in kept_addresses.items() if address.startswith("aws_cloudwatch_log_")}


def attached(state: State) -> list[str]:
    """List the policies for people that are still attached: AWS does not delete those."""
    return [str(values["name"]) for values in state.values() if values.get("attachment_count")]


def still_guarded(state: State) -> list[str]:
    """List what was deployed under keep: AWS protects it from deletion until a deployment says otherwise.

    A destroy would stop halfway at the first of them, with the log group left behind and its masking gone.
    """
    return [
        address
        for address, values in state.items()
        if values.get("skip_destroy") or values.get("deletion_protection_enabled")
    ]


def adoptable(stack: Stack, state: State) -> dict[str, str]:
    """Map each kept address that the state lacks to the id by which Terraform imports it again.

    A runtime that is made anew has a new id and a log group of its own, so group, masking and index come back only
    while the state still holds the runtime they belong to.
    """
    found = {address: _import_id(stack, state, address) for address in kept(stack) if address not in state}
    return {address: import_id for address, import_id in found.items() if import_id is not None}


def _import_id(stack: Stack, state: State, address: str) -> str | None:
    kind, _, name = address.partition(".")
    resources = stack["resource"]
    arguments: Mapping[str, Any] = resources[kind][name]
    if kind == "aws_dynamodb_table":
        return str(arguments["name"])
    if kind.startswith("aws_s3_bucket"):
        # The bucket itself states its name; what guards it refers to it.
        reference = _BUCKET.fullmatch(arguments["bucket"])
        return str(resources["aws_s3_bucket"][reference[1]]["bucket"] if reference else arguments["bucket"])
    if kind == "aws_s3_object":
        return f"{resources['aws_s3_bucket']['audit']['bucket']}/{arguments['key']}"
    runtime_id = state.get(_RUNTIME, {}).get("agent_runtime_id")
    if runtime_id is None:
        return None
    group: str = resources["aws_cloudwatch_log_group"]["log-group"]["name"]
    return group.replace(f"${{{_RUNTIME}.agent_runtime_id}}", runtime_id)
