"""The outputs and the discovery document say where everything is, and the commands they print work as pasted."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from itertools import pairwise

from agent_image.contract import Discovery
from stacks.outputs import invoke_command, query_command
from tests.synthesis import Synthesis

REQUIRED = {
    "runtime_id",
    "runtime_arn",
    "runtime_version",
    "endpoint_arn",
    "endpoint_name",
    "role_arn",
    "log_group_name",
    "log_group_arn",
    "repository_url",
    "region",
    "on_destroy",
    "invoke_command",
    "query_command",
}


def test_an_environment_tells_everything_that_people_ask_for(shipped: Synthesis) -> None:
    """Names carry no suffix, and each output has its description."""
    for stack in shipped.agents:
        outputs = stack.document["output"]
        assert set(outputs) == REQUIRED
        assert all(output["description"] for output in outputs.values())
    assert set(shipped["account-sandbox"].document["output"]) == {"repository_url", "bundle_bucket", "region"}


def test_each_output_tells_what_its_name_says(shipped: Synthesis, variants: Synthesis) -> None:
    """Ids and ARNs are those of the very resources of the stack."""
    runtime = "aws_bedrockagentcore_agent_runtime.runtime"
    outputs = {name: output["value"] for name, output in shipped["agent-prod"].document["output"].items()}

    assert {name: value for name, value in outputs.items() if not name.endswith("_command")} == {
        "runtime_id": f"${{{runtime}.agent_runtime_id}}",
        "runtime_arn": f"${{{runtime}.agent_runtime_arn}}",
        "runtime_version": f"${{{runtime}.agent_runtime_version}}",
        "endpoint_arn": "${aws_bedrockagentcore_agent_runtime_endpoint.live.agent_runtime_endpoint_arn}",
        "endpoint_name": "${aws_bedrockagentcore_agent_runtime_endpoint.live.name}",
        "role_arn": "${aws_iam_role.role.arn}",
        "log_group_name": "${aws_cloudwatch_log_group.log-group.name}",
        "log_group_arn": "${aws_cloudwatch_log_group.log-group.arn}",
        "repository_url": "444455556666.dkr.ecr.us-east-1.amazonaws.com/rastro-agent",
        "region": "us-east-1",
        "on_destroy": "keep",
    }
    assert shipped["agent-dev"].output("on_destroy") == "delete"
    assert variants["agent-brought"].output("role_arn") == "arn:aws:iam::777788889999:role/agents/brought-along"


def pasted(*commands: str) -> list[list[str]]:
    """Paste commands into one shell in which the programs print their arguments, and give what each was called with."""
    stub = (
        "call() { for argument; do printf '%s\\0' \"$argument\" >&3; done; printf '\\n' >&3; }; "
        'aws() { call aws "$@"; echo query-1; }; curl() { call curl "$@"; }; sleep() { :; }; '
        "uuidgen() { echo 00000000-0000-4000-8000-000000000000; }; "
    )
    script = stub + "\n".join(commands)
    answer = subprocess.run(
        ["/bin/bash", "-c", f"exec 3>&1 1>/dev/null; {script}"], capture_output=True, text=True, check=True
    )
    return [line.rstrip("\0").split("\0") for line in answer.stdout.splitlines()]


def options(arguments: list[str]) -> dict[str, str]:
    return {name: value for name, value in pairwise(arguments) if name.startswith("--")}


INVOKE = invoke_command("us-east-1", "arn:aws:bedrock-agentcore:us-east-1:1:runtime/a-1")


def test_the_invoke_command_names_the_live_endpoint_and_a_session_of_the_right_length() -> None:
    """As pasted into a shell: JSON arrives as JSON, and the session id has at least 33 characters."""
    (arguments,) = pasted(INVOKE)

    given = options(arguments)
    assert arguments[:3] == ["aws", "bedrock-agentcore", "invoke-agent-runtime"]
    assert given["--qualifier"] == "live"
    assert 33 <= len(given["--runtime-session-id"]) <= 256
    assert json.loads(given["--payload"]) == {"prompt": "What may I expense?"}


def test_the_query_command_reads_the_session_that_was_just_asked() -> None:
    """Both commands pasted one after the other: the same session, its spans alone, in order, through the index."""
    invoked, started, read = pasted(INVOKE, query_command("us-east-1", "/aws/g"))

    session = options(invoked)["--runtime-session-id"]
    given = options(started)
    steps = [step.strip() for step in given["--query-string"].split("|")]
    assert started[:3] == ["aws", "logs", "start-query"]
    assert int(given["--end-time"]) - int(given["--start-time"]) in {86_400, 86_401}
    assert steps[1] == f'filterIndex attributes.session.id = "{session}"'
    assert steps[2] == 'filter @data_format = "AWS-OTEL-TRACE-V1"'
    assert read[:3] == ["aws", "logs", "get-query-results"]
    assert options(read)["--query-id"] == "query-1"


def test_the_query_command_asks_for_a_session_where_none_is_set() -> None:
    """An empty session id would scan and find nothing."""
    assert pasted(query_command("us-east-1", "/aws/g")) == []


def test_callers_with_tokens_call_over_https(variants: Synthesis) -> None:
    """A runtime that wants tokens refuses signed calls; the ARN is encoded, and Terraform does it."""
    command = variants["agent-locked"].output("invoke_command")

    assert "${urlencode(aws_bedrockagentcore_agent_runtime.runtime.agent_runtime_arn)}" in command
    ((program, *arguments),) = pasted(command.replace("${urlencode(", "").replace(")}", ""))
    assert program == "curl"
    assert [argument for argument in arguments if argument.endswith("invocations?qualifier=live")]
    headers = [value for name, value in pairwise(arguments) if name == "--header"]
    assert headers[0].startswith("Authorization: Bearer")
    assert headers[2].startswith("X-Amzn-Bedrock-AgentCore-Runtime-Session-Id: session-")


def test_terraform_reads_no_expression_of_its_own_in_the_commands(shipped: Synthesis) -> None:
    """`${` and `%{` are Terraform's; everything of that form is a reference that we meant."""
    for name in ("invoke_command", "query_command"):
        command = shipped["agent-prod"].output(name)
        assert all(found.startswith("${aws_") for found in re.findall(r"\$\{[^}]*\}", command))
        assert "%{" not in command
        assert shlex.split(command)


def test_the_discovery_document_holds_the_contract_s_keys(shipped: Synthesis) -> None:
    """The console finds an environment by its name alone."""
    parameter = shipped["agent-prod"].only("aws_ssm_parameter")

    assert parameter["name"] == "/rastro/prod"
    runtime = "aws_bedrockagentcore_agent_runtime.runtime"
    assert json.loads(parameter["value"]) == {
        Discovery.ENVIRONMENT: "prod",
        Discovery.ACCOUNT_ID: "444455556666",
        Discovery.REGION: "us-east-1",
        Discovery.CAPTURE: "archive",
        Discovery.RUNTIME_ID: f"${{{runtime}.agent_runtime_id}}",
        Discovery.RUNTIME_ARN: f"${{{runtime}.agent_runtime_arn}}",
        Discovery.ENDPOINT: "live",
        Discovery.LOG_GROUP: "${aws_cloudwatch_log_group.log-group.name}",
        Discovery.DESTINATION: "cloudwatch",
        Discovery.RETENTION_DAYS: 30,
        Discovery.INDEXED_FIELDS: [
            *("name", "event", "status.code", "attributes.gen_ai.operation.name", "attributes.rag.index_version"),
            *("attributes.rag.answer", "attributes.rastro.outcome"),
        ],
        Discovery.MASKING: [
            *(
                "EmailAddress",
                "CpfCode-BR",
                "Cnpj-BR",
                "PhoneNumber-BR",
                "CreditCardNumber",
                "AwsSecretKey",
                "bare-cpf",
            ),
        ],
        Discovery.KMS_KEY: None,
        Discovery.LIVE_VERSION: "newest",
        Discovery.INDEXING_PERCENTAGE: 5,
        Discovery.ROLE_ARN: "${aws_iam_role.role.arn}",
        Discovery.PUT_RESOURCE_POLICY: "any",
        Discovery.KNOWLEDGE_BASE: "PRODKB0001",
        Discovery.TABLE: "rastro-prod-state",
        Discovery.ARCHIVE: "rastro-prod-archive-444455556666-us-east-1",
        Discovery.AUDIT: "rastro-prod-audit-444455556666-us-east-1",
        Discovery.ALERTS: "arn:aws:sns:us-east-1:444455556666:rastro-prod-alerts",
    }
    assert {*Discovery} == {*json.loads(parameter["value"])}
    assert json.loads(shipped["agent-dev"].only("aws_ssm_parameter")["value"])[Discovery.RETENTION_DAYS] == 7
    assert len(parameter["value"]) < 4_096


def test_the_discovery_document_says_where_spans_go_and_nothing_that_lets_somebody_in(variants: Synthesis) -> None:
    """An endpoint by its origin alone: its path may hold what only the agent is to know."""
    parameter = variants["agent-code"].only("aws_ssm_parameter")

    assert json.loads(parameter["value"])[Discovery.DESTINATION] == "https://otel.example.com:4318"


def test_the_discovery_document_says_what_is_not_declared(shipped: Synthesis, variants: Synthesis) -> None:
    """Null is no key of one's own, and a Transaction Search that somebody else manages; a number is no `newest`."""
    told = {
        stack.name: json.loads(stack.only("aws_ssm_parameter")["value"])
        for stack in (*shipped.agents, *variants.agents)
    }

    assert told["agent-brought"][Discovery.ROLE_ARN] == "arn:aws:iam::777788889999:role/agents/brought-along"
    assert {told[name][Discovery.INDEXING_PERCENTAGE] for name in told} >= {None, 1}
    assert {told[name][Discovery.LIVE_VERSION] for name in told} >= {"newest"}
