"""`rastro doctor` asks a real account's protocols, on loopback, and shows what it found."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import boto3
import pytest

from console.doctor.canary import COST, forms
from console.doctor.commands import Wish, doctor
from console.errors import BadInputError, ConsoleError
from console.reply import EVENT_STREAM
from console.screen import Screen
from tests.console.doctor.cloud import deployed, endpoint, groups, healthy, metric, streams
from tests.console.doctor.healthy import ACCOUNT_ID, DISCOVERY, GROUP, LIVE, NOW, OUTPUT, REGION, RUNTIME, SPANS, mask
from tests.loopback.account import Answer, CloudAccount, Refused, Streamed
from tests.loopback.aws import moto

Deploy = Callable[[CloudAccount], CloudAccount]


@pytest.fixture
def deploy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Deploy]:
    """Put accounts on loopback; the machine's own AWS set-up stays out."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example")
    with ExitStack() as servers:
        yield lambda account: servers.enter_context(deployed(monkeypatch, account))


def examined(wish: Wish | None = None, **more: Any) -> tuple[int, str]:
    written: list[str] = []
    more.setdefault("clock", lambda: NOW)
    status = doctor("prod", wish or Wish(), Screen(written.append), **more)
    return status, "".join(written)


def results(wish: Wish | None = None, **more: Any) -> tuple[int, dict[str, dict[str, Any]]]:
    given = wish or Wish()
    status, text = examined(Wish(as_json=True, canary=given.canary, first_deploy=given.first_deploy), **more)
    return status, {check["name"]: check for check in json.loads(text)["checks"]}


def states(checks: Mapping[str, Mapping[str, Any]], *wanted: str) -> set[str]:
    return {name for name, check in checks.items() if check["state"] in wanted}


def test_a_healthy_environment_is_all_right(deploy: Deploy) -> None:
    """Everything is asked once through the real clients, page by page, and nothing is asked to change."""
    account = deploy(healthy())
    status, text = examined()

    assert status == 0
    assert text.endswith("\nprod in eu-central-1, 2026-11-30 03:00 UTC: 14 ok, 1 skipped\n")
    assert len(account.actions()) == len(account.answers)
    assert not [one for one in account.actions() if re.search(r":(Put|Update|Delete|Create|Invoke)", one)]


def test_what_is_read_is_within_the_doctor_s_policy(deploy: Deploy) -> None:
    """Each question's right is in the policy `doctor`, but for who one is, and whether one may query."""
    from stacks.policies.doctor import examine  # noqa: PLC0415
    from tests.stacks.grounds import GROUND  # noqa: PLC0415

    account = deploy(healthy())
    examined()
    granted = {action for statement in examine(GROUND, "arn:role") for action in statement.actions}

    assert account.actions() - granted == {"ssm:GetParameter", "sts:GetCallerIdentity", "logs:StartQuery"}
    assert granted - account.actions() == set()


ORGANISATION = {"AllowedByOrganizations": False}
PLANTED: list[tuple[str, Mapping[str, Any], set[str]]] = [
    (
        "other values",
        {
            "xray_GetTraceSegmentDestination": {"Destination": "XRay", "Status": "ACTIVE"},
            "logs_DescribeResourcePolicies": {"resourcePolicies": []},
            "logs_DescribeLogGroups": groups({**LIVE, "retentionInDays": 7, "kmsKeyId": "k"}),
            "logs_GetDataProtectionPolicy": mask("EmailAddress"),
            "logs_DescribeLogStreams": streams(OUTPUT),
            "bedrock-agentcore_GetAgentRuntimeEndpoint": endpoint(liveVersion="3", targetVersion="3"),
            "cloudwatch_GetMetricData": metric(3.0, 900.0),
            "iam_SimulatePrincipalPolicy": {
                "EvaluationResults": [{"EvalActionName": "x", "EvalDecision": "implicitDeny"}]
            },
            "sts_GetCallerIdentity": {"Arn": "arn:aws:iam::9:user/x", "Account": "999988887777", "UserId": "u"},
        },
        {
            *("transaction-search", "xray-policy", "retention", "encryption", "masking", "spans", "endpoint"),
            *("default-traffic", "role", "caller"),
        },
    ),
    (
        "what is not there",
        {
            "logs_DescribeIndexPolicies": {"indexPolicies": []},
            "logs_GetDataProtectionPolicy": Refused("ResourceNotFoundException"),
            "bedrock-agentcore_GetAgentRuntimeEndpoint": Refused("ResourceNotFoundException", 404),
            "iam_SimulatePrincipalPolicy": {
                "EvaluationResults": [
                    {"EvalActionName": "x", "EvalDecision": "allowed", "OrganizationsDecisionDetail": ORGANISATION}
                ]
            },
        },
        {"index", "masking", "endpoint", "role"},
    ),
    (
        "no answer of X-Ray",
        {"xray_GetIndexingRules": {"IndexingRules": [{"Name": "Default", "Rule": {}}]}},
        {"indexing"},
    ),
]


@pytest.mark.parametrize(
    ("answers", "wanted"), [pytest.param(answers, wanted, id=name) for name, answers, wanted in PLANTED]
)
def test_faults_of_an_account_are_found_over_the_wire(
    deploy: Deploy, answers: Mapping[str, Any], wanted: set[str]
) -> None:
    """Each protocol as it is spoken: JSON, REST and query."""
    deploy(healthy(**{"logs_FilterLogEvents": {"events": []}, **answers}))
    status, checks = results()

    assert status == 1
    assert states(checks, "fault", "unknown", "warning") == wanted


def test_spans_in_the_shared_group_are_looked_for_only_where_they_are_missing(deploy: Deploy) -> None:
    """A search reads events: it is made where the doctor has reason to."""
    quiet = deploy(healthy())
    examined()
    astray = deploy(
        healthy(
            logs_DescribeLogStreams=streams(OUTPUT),
            logs_FilterLogEvents=lambda asked: (
                {"events": [{"message": "{}", "logStreamName": "default"}]}
                if asked.get("nextToken")
                else {"events": [], "nextToken": "1"}
            ),
        )
    )
    _, checks = results()

    assert "logs:FilterLogEvents" not in quiet.actions()
    assert "go to aws/spans" in checks["spans"]["says"]
    asked = [asked for action, asked in astray.asked if action == "logs:FilterLogEvents"]
    assert [one["logGroupName"] for one in asked] == ["aws/spans", "aws/spans"]
    assert asked[0]["filterPattern"] == f'"runtime/{RUNTIME}/"'


def test_whoever_is_denied_everything_is_told_of_each_right(deploy: Deploy) -> None:
    """Nothing is called right that could not be looked at, and no failure keeps another question from being asked."""
    parameter = healthy().answers["ssm:GetParameter"]
    account = healthy()
    account.answers = {"ssm:GetParameter": parameter, "sts:GetCallerIdentity": account.answers["sts:GetCallerIdentity"]}
    deploy(account)
    status, checks = results()

    assert status == 1
    assert states(checks, "ok") == set()
    assert states(checks, "fault") == set()
    assert states(checks, "warning") == {"caller"}
    assert "logs:GetDataProtectionPolicy is denied" in checks["caller"]["found"]
    assert "iam:SimulatePrincipalPolicy is denied" in checks["caller"]["found"]
    assert "secret words of AWS" not in json.dumps(checks)


def test_an_environment_that_cannot_be_read_is_no_environment(deploy: Deploy) -> None:
    """Not there, denied, a document without what each has."""
    for answer, reason in (
        (Refused("ParameterNotFound"), "not in this account and Region"),
        (Refused(), "access denied"),
        ({"Parameter": {"Value": "{}"}}, "has no runtime_arn"),
        ({"Parameter": {"Value": json.dumps({**DISCOVERY, "capture": "all"})}}, "names no regime"),
    ):
        deploy(healthy(ssm_GetParameter=answer))
        with pytest.raises(ConsoleError, match=reason):
            examined()


def test_no_environment_and_a_name_that_is_none_are_bad_input() -> None:
    """Before anything is asked."""
    for name in (None, "A b"):
        with pytest.raises(BadInputError):
            doctor(name, Wish(), Screen(lambda _: None))


def test_without_credentials_it_says_so(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one sentence, and at once."""
    deploy(healthy())
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)

    with pytest.raises(ConsoleError, match="no AWS credentials"):
        examined()


def test_without_a_network_nothing_is_called_right(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question says that it was not answered."""
    account = deploy(healthy())
    monkeypatch.setenv("AWS_ENDPOINT_URL_SSM", account.url)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    status, checks = results()

    assert status == 1
    assert states(checks, "ok", "fault", "warning") == set()
    assert "EndpointConnectionError" in checks["endpoint"]["says"]


def test_a_role_s_own_policies_are_read_where_the_simulator_is_denied(deploy: Deploy) -> None:
    """Inline, attached and as a boundary, from an IAM that keeps them."""
    with moto() as url:
        iam = boto3.client("iam", endpoint_url=url, region_name=REGION)
        statement = {"Effect": "Allow", "Action": "logs:*", "Resource": "*"}
        document = {"Version": "2012-10-17", "Statement": [statement]}
        managed = iam.create_policy(PolicyName="wide", PolicyDocument=json.dumps(document))["Policy"]["Arn"]
        iam.create_role(RoleName="rastro-prod-agent", AssumeRolePolicyDocument="{}", PermissionsBoundary=managed)
        account = healthy(iam_SimulatePrincipalPolicy=Refused("AccessDenied"))
        account.onward = url
        deploy(account)
        found = []
        for grant in (
            lambda: None,
            lambda: iam.attach_role_policy(RoleName="rastro-prod-agent", PolicyArn=managed),
            lambda: iam.put_role_policy(
                RoleName="rastro-prod-agent",
                PolicyName="deny",
                PolicyDocument=json.dumps({**document, "Statement": [{**statement, "Effect": "Deny", "Sid": "No"}]}),
            ),
        ):
            grant()
            found.append(results()[1]["role"]["state"])
        iam.close()

    assert found == ["fault", "ok", "fault"]


class Trail:
    """Answer a question as an agent does, and keep what it wrote."""

    def __init__(self, *, leak: Callable[[str], Iterable[str]] = lambda _: (), slow: int = 0) -> None:
        self.events: list[dict[str, Any]] = []
        self.leak, self.slow = leak, slow

    def invoke(self, asked: Mapping[str, Any]) -> Answer:
        said = asked["prompt"]
        word = said.rpartition(" ")[2]
        assert "qualifier=live" in asked["path"]
        self.events += [{"logStreamName": "out", "message": f"a line: {form}."} for form in self.leak(word)]
        return Streamed(b'event: completed\ndata: {"status":"completed","answer":"ready"}\n\n', EVENT_STREAM)

    def search(self, asked: Mapping[str, Any]) -> Answer:
        assert asked["logGroupName"] == GROUP
        pattern = asked["filterPattern"].strip("%")
        if re.fullmatch(r"[0-9a-f-]{36}", pattern):
            self.slow -= 1
            if self.slow < 0:
                self.events.append(
                    {"logStreamName": "spans", "message": f'{{"session.id":"{pattern}","rastro.outcome":"completed"}}'}
                )
        return {"events": [event for event in self.events if re.search(pattern, event["message"])]}

    def account(self, **changed: Any) -> CloudAccount:
        return healthy(
            **{
                "bedrock-agentcore_InvokeAgentRuntime": self.invoke,
                "logs_FilterLogEvents": self.search,
                **changed,
            }
        )


CANARY = Wish(canary=True)


def test_the_canary_says_what_it_costs_waits_and_finds_nothing(deploy: Deploy) -> None:
    """First the cost, then the question, then as many looks as it takes."""
    account = deploy(Trail(slow=3).account())
    told: list[str] = []
    waited: list[float] = []
    status, checks = results(CANARY, tell=told.append, pause=waited.append)

    assert status == 0
    assert told == [COST]
    assert waited == [10] * 5
    assert checks["canary"]["state"] == "ok"
    assert sum(action == "bedrock-agentcore:InvokeAgentRuntime" for action, _ in account.asked) == 1


def test_the_canary_finds_the_word_in_every_form(deploy: Deploy) -> None:
    """Plain, in capitals, reversed, in hexadecimal, in base64 wherever it begins: each in a line of its own."""
    deploy(Trail(leak=forms).account())
    status, checks = results(CANARY, tell=lambda _: None, pause=lambda _: None)

    assert status == 1
    assert states(checks, "fault") == {"canary"}
    assert checks["canary"]["found"] == ["stream out: 7 events"]


def test_a_canary_whose_spans_never_come_is_not_called_right(deploy: Deploy) -> None:
    """After three minutes the doctor gives up, and says so."""
    deploy(Trail(slow=1_000).account())
    waited: list[float] = []
    status, checks = results(CANARY, tell=lambda _: None, pause=waited.append)

    assert status == 1
    assert sum(waited) == 190
    assert states(checks, "unknown") == {"canary"}


def test_a_search_that_does_not_end_finds_nothing_out(deploy: Deploy) -> None:
    """Part of a list is not taken for the whole: no word in the first hundred pages is no proof."""
    pages = iter(range(1_000))
    deploy(
        Trail().account(logs_FilterLogEvents=lambda _: {"events": [], "nextToken": str(next(pages))}),
    )
    _, checks = results(CANARY, tell=lambda _: None, pause=lambda _: None)

    assert states(checks, "unknown") == {"canary"}
    assert "more than 100 pages" in checks["canary"]["says"]


def test_an_agent_that_does_not_answer_is_no_leak(deploy: Deploy) -> None:
    """The reason is told."""
    deploy(Trail().account(**{"bedrock-agentcore_InvokeAgentRuntime": Refused("AccessDeniedException", 403)}))
    status, checks = results(CANARY, tell=lambda _: None, pause=lambda _: None)

    assert status == 1
    assert states(checks, "unknown") == {"canary"}
    assert "access denied" in checks["canary"]["says"]


def test_the_first_deployment_is_told_with_no_account_s_number(deploy: Deploy) -> None:
    """What the account shows, what is open, and lines to paste."""
    deploy(healthy(logs_DescribeLogGroups=groups(LIVE, {**LIVE, "logGroupName": "aws/spans"})))
    _, text = examined(Wish(first_deploy=True))
    note = text.partition("To paste into an issue or a note:")[2]
    _, document = examined(Wish(first_deploy=True, as_json=True))

    assert "- shared-group: it is there, since 2026-11-10 03:00 UTC" in note
    assert re.search(r"^- still open: .*\botlp-headers, ", note, re.MULTILINE)
    assert ACCOUNT_ID not in note
    points = json.loads(document)["first_deploy"]
    assert ACCOUNT_ID not in json.dumps(points)
    assert {point["name"] for point in points if point["shown"]} >= {
        "default-group",
        "shared-group",
        "group-policy-slot",
    }


def test_what_the_account_says_cannot_steer_a_terminal(deploy: Deploy) -> None:
    """Names of policies, reasons and streams come from elsewhere."""
    deploy(
        healthy(
            **{"bedrock-agentcore_GetAgentRuntimeEndpoint": endpoint(status="UPDATE_FAILED", failureReason="\x1b[2J")},
            logs_DescribeResourcePolicies={"resourcePolicies": [{"policyName": "\x1b]0;x\x07", "policyDocument": "{"}]},
            logs_DescribeLogStreams=streams(SPANS, {**OUTPUT, "logStreamName": "\x1b[31m"}),
        )
    )
    for wish in (Wish(first_deploy=True), Wish(as_json=True)):
        _, text = examined(wish)
        assert "\x1b" not in text
        assert "\x07" not in text


def test_the_command_itself_ends_with_the_status_that_tells_a_script(deploy: Deploy) -> None:
    """1 and one JSON object for a fault, with nothing beside it; 2 for bad input."""
    deploy(healthy(cloudwatch_GetMetricData=metric(1.0, 1.0)))
    rastro = Path(sys.executable).with_name("rastro")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([rastro, "doctor", *arguments], capture_output=True, text=True, check=False)

    found, bare = run("--environment", "prod", "--json"), run()

    assert (found.returncode, found.stderr) == (1, "")
    assert states({check["name"]: check for check in json.loads(found.stdout)["checks"]}, "fault") >= {
        "default-traffic"
    }
    assert (bare.returncode, bare.stdout) == (2, "")
    assert bare.stderr.startswith("name an environment: --environment ENV")
