"""Declare what an agent stack tells: ids, names, and commands that are ready to paste."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from agent_image.contract import LIVE_ENDPOINT, SESSION_HEADER, SPAN_DATA_FORMAT, Span
from stacks.foundation import output
from stacks.framework import Fn, TerraformStack
from stacks.names import Place, names_of
from stacks.observability import watching
from stacks.policies import alerts
from stacks.policies.kms import key_policy_statement
from stacks.settings.load import EnvironmentSettings
from stacks.settings.model import JwtAuth


@dataclass(frozen=True, slots=True)
class Told:
    """Hold what the outputs speak of; the resources are bindings, which are typed as Any."""

    settings: EnvironmentSettings
    runtime: Any
    endpoint: Any
    log_group: Any
    role_arn: str


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
    auth = told.settings.declared.auth
    if isinstance(auth, JwtAuth):
        invoke = invoke_with_token(names.place, Fn.urlencode(runtime.agent_runtime_arn))
    else:
        invoke = invoke_command(region, runtime.agent_runtime_arn)
    output(stack, "invoke_command", invoke, "Ask the agent something, in a new session")
    output(
        stack,
        "query_command",
        query_command(region, group.name),
        "Read the spans of $SESSION through the session index",
    )
    if told.settings.declared.observability.kms_key_arn is not None:
        statement = key_policy_statement(names.place)
        output(stack, "kms_key_policy_statement", statement, "Add this to the key's policy before the first deployment")
        publishers = watching.publishers(told.settings.declared)
        if publishers.any:
            output(
                stack,
                "kms_key_policy_statements_for_alerts",
                alerts.key_statements(names, publishers),
                "Add these too: without them no alarm reaches the topic, and nothing but its history says so",
            )


def declare_role_documents(stack: TerraformStack, *, trust: str, permissions: str) -> None:
    """Declare what a role that was brought must hold: the same documents that a made role would get."""
    output(stack, "role_trust_policy", trust, "Trust policy that your own role needs")
    output(stack, "role_permissions_policy", permissions, "Permissions policy that your own role needs")


_PAYLOAD: Final = '{"prompt": "What may I expense?"}'
_NEW_SESSION: Final = 'SESSION="session-$(uuidgen)"'
_TYPE: Final = "application/json"


def invoke_command(region: str, runtime_arn: str) -> str:
    """Write the command that asks the live endpoint in a new session, and leaves the session's id in SESSION."""
    return (
        f"{_NEW_SESSION}; aws bedrock-agentcore invoke-agent-runtime --region {region}"
        f' --agent-runtime-arn {runtime_arn} --qualifier {LIVE_ENDPOINT} --runtime-session-id "$SESSION"'
        f" --content-type {_TYPE} --cli-binary-format raw-in-base64-out --payload '{_PAYLOAD}' /dev/stdout"
    )


def invoke_with_token(place: Place, encoded_runtime_arn: str) -> str:
    """Write the same for callers with tokens: they call over HTTPS, with the token in TOKEN."""
    url = f"https://bedrock-agentcore.{place.region}.{place.dns_suffix}/runtimes/{encoded_runtime_arn}/invocations"
    return (
        f'{_NEW_SESSION}; curl --fail-with-body "{url}?qualifier={LIVE_ENDPOINT}"'
        f' --header "Authorization: Bearer $TOKEN" --header "Content-Type: {_TYPE}"'
        f" --header \"{SESSION_HEADER}: $SESSION\" --data '{_PAYLOAD}'"
    )


def query_command(region: str, log_group_name: str) -> str:
    """Write the command that reads the spans of SESSION of the last day, through the session index: it scans little."""
    query = (
        "fields @timestamp, name, traceId, spanId, parentSpanId, durationNano / 1000000 as ms, status.code"
        f' | filterIndex attributes.{Span.SESSION} = "$SESSION"'
        f' | filter @data_format = "{SPAN_DATA_FORMAT}" | sort startTimeUnixNano asc'
    ).replace('"', '\\"')
    return (
        'if [ -z "$SESSION" ]; then echo "SESSION is not set: put a session id there" >&2; else'
        f" QUERY=$(aws logs start-query --region {region} --log-group-name {log_group_name}"
        ' --start-time "$(( $(date +%s) - 86400 ))" --end-time "$(date +%s)"'
        f' --query-string "{query}" --query queryId --output text) && sleep 5'
        f' && aws logs get-query-results --region {region} --query-id "$QUERY"; fi'
    )
