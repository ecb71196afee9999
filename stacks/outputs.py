"""Declare what an agent stack tells: ids, names, and commands that are ready to paste."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent_image.contract import LIVE_ENDPOINT, RUNTIME_LOG_GROUPS, SPAN_DATA_FORMAT, Span
from stacks.foundation import output
from stacks.framework import TerraformStack
from stacks.names import names_of
from stacks.policies.kms import key_policy_statement
from stacks.settings.load import EnvironmentSettings


@dataclass(frozen=True, slots=True)
class Told:
    """Hold what the outputs speak of; the resources are bindings, which are typed as Any."""

    settings: EnvironmentSettings
    runtime: Any
    endpoint: Any
    log_group: Any
    role_arn: str


def log_group_name(runtime_id: str) -> str:
    """Name the live endpoint's log group, as the service does."""
    return f"{RUNTIME_LOG_GROUPS}{runtime_id}-{LIVE_ENDPOINT}"


def declare(stack: TerraformStack, told: Told) -> None:
    """Declare the outputs of an environment."""
    names = names_of(told.settings)
    runtime, endpoint, group = told.runtime, told.endpoint, told.log_group
    region = names.place.region
    output(stack, "runtime_id", runtime.agent_runtime_id, "Id of the runtime")
    output(stack, "runtime_arn", runtime.agent_runtime_arn, "ARN of the runtime")
    output(stack, "runtime_version", runtime.agent_runtime_version, "Newest version of the runtime")
    output(stack, "endpoint_arn", endpoint.agent_runtime_endpoint_arn, "ARN of the live endpoint")
    output(stack, "endpoint_name", endpoint.name, "The endpoint that callers name as qualifier")
    output(stack, "role_arn", told.role_arn, "Role that the agent runs under")
    output(stack, "log_group_name", group.name, "Log group of the live endpoint: spans and event lines")
    output(stack, "log_group_arn", group.arn, "ARN of that log group")
    output(stack, "repository_url", names.repository_url, "Where images of the agent are pushed")
    output(stack, "region", region, "Region of the environment")
    output(stack, "on_destroy", "keep" if told.settings.keeps_trail else "delete", "What becomes of the trail")
    output(stack, "invoke_command", invoke_command(region, runtime.agent_runtime_arn), "Ask the agent something")
    output(stack, "query_command", query_command(region, group.name), "Read one session's spans through the index")
    if told.settings.declared.observability.kms_key_arn is not None:
        statement = key_policy_statement(names.place)
        output(stack, "kms_key_policy_statement", statement, "Add this to the key's policy before the first deployment")


def declare_role_documents(stack: TerraformStack, *, trust: str, permissions: str) -> None:
    """Declare what a role that was brought must hold: the same documents that a made role would get."""
    output(stack, "role_trust_policy", trust, "Trust policy that your own role needs")
    output(stack, "role_permissions_policy", permissions, "Permissions policy that your own role needs")


def invoke_command(region: str, runtime_arn: str) -> str:
    """Write the command that invokes the live endpoint in a new session."""
    return (
        f"aws bedrock-agentcore invoke-agent-runtime --region {region} --agent-runtime-arn {runtime_arn}"
        f' --qualifier {LIVE_ENDPOINT} --runtime-session-id "session-$(uuidgen)" --content-type application/json'
        ' --cli-binary-format raw-in-base64-out --payload \'{"prompt": "What may I expense?"}\' /dev/stdout'
    )


def query_command(region: str, log_group_name: str) -> str:
    """Write the command that reads one session's spans of the last day, through the session index: it scans little."""
    query = (
        "fields @timestamp, name, traceId, spanId, parentSpanId, durationNano / 1000000 as ms, status.code"
        f' | filterIndex attributes.{Span.SESSION} = "$SESSION"'
        f' | filter @data_format = "{SPAN_DATA_FORMAT}" | sort startTimeUnixNano asc'
    ).replace('"', '\\"')
    return (
        f"aws logs start-query --region {region} --log-group-name {log_group_name}"
        f' --start-time "$(( $(date +%s) - 86400 ))" --end-time "$(date +%s)" --query-string "{query}"'
    )
