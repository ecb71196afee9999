"""The outputs and the discovery document say where everything is, and the commands they print work as pasted."""

from __future__ import annotations

import json
import re
import shlex
import subprocess

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
    assert set(shipped["account-sandbox"].document["output"]) == {"repository_url", "region"}


def expanded(command: str) -> list[str]:
    """Let a shell expand the command, with each program replaced by one that prints its arguments."""
    stub = "aws() { printf '%s\\0' \"$@\"; }; uuidgen() { echo 00000000-0000-4000-8000-000000000000; }; SESSION=s-1; "
    answer = subprocess.run(["bash", "-eu", "-c", stub + command], capture_output=True, text=True, check=True)  # noqa: S607
    return answer.stdout.rstrip("\0").split("\0")


def test_the_invoke_command_names_the_live_endpoint_and_a_session_of_the_right_length() -> None:
    """As pasted into a shell: JSON arrives as JSON, and the session id has at least 33 characters."""
    arguments = expanded(invoke_command("us-east-1", "arn:aws:bedrock-agentcore:us-east-1:1:runtime/a-1"))

    options = dict(zip(arguments[2:-1:2], arguments[3:-1:2], strict=True))
    assert arguments[:2] == ["bedrock-agentcore", "invoke-agent-runtime"]
    assert options["--qualifier"] == "live"
    assert 33 <= len(options["--runtime-session-id"]) <= 256
    assert json.loads(options["--payload"]) == {"prompt": "What may I expense?"}


def test_the_query_command_goes_through_the_session_index_and_looks_back_one_day() -> None:
    """A quoted session id, an indexed filter first, spans alone, in order."""
    arguments = expanded(query_command("us-east-1", "/aws/g"))

    options = dict(zip(arguments[2::2], arguments[3::2], strict=True))
    assert arguments[:2] == ["logs", "start-query"]
    assert int(options["--end-time"]) - int(options["--start-time"]) in {86_400, 86_401}
    steps = [step.strip() for step in options["--query-string"].split("|")]
    assert steps[1] == 'filterIndex attributes.session.id = "s-1"'
    assert steps[2] == 'filter @data_format = "AWS-OTEL-TRACE-V1"'


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
    assert set(json.loads(parameter["value"])) == set(Discovery)
    assert json.loads(parameter["value"])[Discovery.LOG_GROUP] == "${aws_cloudwatch_log_group.log-group.name}"
    assert len(parameter["value"]) < 4_096
