"""A deployed agent is found and asked through AWS; what is in the way is said in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from urllib.parse import unquote

import pytest

from agent_image.contract import SESSION_HEADER
from console.ask import agent_of, ask
from console.environment import find
from console.errors import BadInputError, ConsoleError
from console.screen import Screen
from tests.console.loopback import Asked, Scripted, document, serving
from tests.console.test_ask import ANSWER, SESSION, UNSEEN

ARN = "arn:aws:bedrock-agentcore:eu-central-1:111122223333:runtime/rastro_prod-AbCdEf1234"
DISCOVERY = {"environment": "prod", "region": "eu-central-1", "runtime_arn": ARN, "endpoint": "live"}

Respond = Callable[[Asked], Scripted]
Cloud = Callable[[Respond, Respond], list[Asked]]


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the machine's own AWS set-up out, and its instance's."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, credentials: None) -> Iterator[Cloud]:
    """Put SSM and AgentCore on loopback; both record into one list."""
    del credentials
    with ExitStack() as servers:

        def set_up(ssm: Respond, agent: Respond) -> list[Asked]:
            port, requests = servers.enter_context(
                serving(lambda asked: (ssm if "X-Amz-Target" in asked.headers else agent)(asked))
            )
            for service in ("SSM", "BEDROCK_AGENTCORE"):
                monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", f"http://127.0.0.1:{port}")
            return requests

        yield set_up


def parameter(value: object) -> Respond:
    text = value if isinstance(value, str) else json.dumps(value)
    return lambda _: document({"Parameter": {"Name": "/rastro/prod", "Value": text}})


def refusal(code: str, status: int = 400) -> Respond:
    found = {"__type": code, "message": "secret words of AWS"}
    return lambda _: document(found, status, {"x-amzn-ErrorType": code})


def unasked(asked: Asked) -> Scripted:
    raise AssertionError(asked.path)


def test_an_agent_is_asked_through_its_live_endpoint(cloud: Cloud) -> None:
    """The stack's document says where it is; the answer is shown as that of a laptop."""
    requests = cloud(parameter(DISCOVERY), lambda _: Scripted(ANSWER))
    written: list[str] = []

    status = ask("Prazo?", SESSION, agent_of(None, "prod"), Screen(written.append), as_json=False)

    assert status == 0
    assert "".join(written).startswith("“30 dias” [1]\n\n[1] file:///kb/returns.md#")
    found, invoked = requests
    assert json.loads(found.body) == {"Name": "/rastro/prod"}
    assert unquote(invoked.path) == f"/runtimes/{ARN}/invocations?qualifier=live"
    assert json.loads(invoked.body) == {"prompt": "Prazo?"}
    assert invoked.headers[SESSION_HEADER] == SESSION
    assert invoked.headers["Accept"] == "text/event-stream"


def test_a_deployed_answer_is_shown_while_it_is_written(cloud: Cloud) -> None:
    """boto3's stream is read as far as it goes; the server waits for the first piece to be written."""
    shown = Event()
    timely: list[bool] = []

    def pieces() -> Iterator[bytes]:
        yield ANSWER[0]
        timely.append(shown.wait(timeout=10))
        yield from ANSWER[1:]

    cloud(parameter(DISCOVERY), lambda _: Scripted(pieces()))
    screen = Screen(lambda text: shown.set() if "30" in text else None)
    ask("Prazo?", SESSION, agent_of(None, "prod"), screen, as_json=False)

    assert timely == [True]


@pytest.mark.parametrize(
    ("ssm", "reason"),
    [
        (refusal("ParameterNotFound"), "/rastro/prod is not in this account and Region"),
        (refusal("AccessDeniedException"), "access denied"),
        (refusal("ExpiredTokenException"), "sign in again"),
        (refusal("UnrecognizedClientException"), "sign in again"),
        (refusal("Peculiar"), "AWS answered Peculiar"),
        (parameter("{"), "/rastro/prod holds no JSON object"),
        (parameter([1]), "/rastro/prod holds no JSON object"),
        (parameter({**DISCOVERY, "runtime_arn": None}), "has no runtime_arn; deploy the environment again"),
        (parameter({**DISCOVERY, "endpoint": ""}), "has no endpoint; deploy the environment again"),
    ],
)
def test_an_environment_that_is_not_found_is_said(cloud: Cloud, ssm: Respond, reason: str) -> None:
    """The reason is ours, with what to do; AWS's own words are not repeated."""
    cloud(ssm, unasked)

    with pytest.raises(ConsoleError, match=reason) as refused:
        agent_of(None, "prod")

    assert "secret words" not in str(refused.value)


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (refusal("AccessDeniedException", 403), "access denied"),
        (refusal("ResourceNotFoundException", 404), "it does not exist, or not in this account and Region"),
        (refusal("RuntimeClientError", 424), "the agent refused the invocation, or failed before it answered"),
        (lambda _: Scripted(ANSWER[:2], whole=False), "was not reached, or broke off"),
        (lambda _: Scripted(ANSWER[:2]), "broke off, with HTTP status 200"),
    ],
)
def test_an_invocation_that_fails_is_said(cloud: Cloud, agent: Respond, reason: str) -> None:
    """Before the answer begins, and in its middle."""
    requests = cloud(parameter(DISCOVERY), agent)

    with pytest.raises(ConsoleError, match=reason):
        ask("Prazo?", SESSION, agent_of(None, "prod"), UNSEEN, as_json=False)

    assert len(requests) == 2


def test_an_invocation_is_never_sent_twice(cloud: Cloud) -> None:
    """What an agent did must not be done again unasked: a server error is not tried again."""
    requests = cloud(parameter(DISCOVERY), refusal("InternalServerException", 500))

    with pytest.raises(ConsoleError, match="AWS answered InternalServerException"):
        ask("Prazo?", SESSION, agent_of(None, "prod"), UNSEEN, as_json=False)

    assert len(requests) == 2


@pytest.mark.parametrize("name", ["", "Prod", "-a", "a-", "a" * 17, "../x", "a b"])
def test_what_is_no_environment_s_name_is_refused(credentials: None, name: str) -> None:
    """Nothing is asked of AWS."""
    del credentials
    with pytest.raises(BadInputError, match="is no environment's name; allowed: 1 to 16"):
        find(name)


def test_without_credentials_it_says_so(credentials: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to get some."""
    del credentials
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(ConsoleError, match=r"no AWS credentials .*sign in, or choose a profile"):
        find("prod")


def test_without_a_region_it_says_so(credentials: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to choose one."""
    del credentials
    monkeypatch.delenv("AWS_DEFAULT_REGION")

    with pytest.raises(ConsoleError, match="no AWS Region: set AWS_REGION"):
        find("prod")


def test_an_unknown_profile_is_said(credentials: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the variable that is wrong."""
    del credentials
    monkeypatch.setenv("AWS_PROFILE", "gone")

    with pytest.raises(ConsoleError, match="AWS_PROFILE names a profile that is not configured"):
        find("prod")
