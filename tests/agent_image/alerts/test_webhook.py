"""A webhook gets what Slack takes, its address is told to nobody, and an alert goes nowhere else."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent_image.alerts.webhook import Webhook, WebhookError, checked
from agent_image.errors import AgentError
from agent_image.guard.alerts import document, sentence
from tests.agent_image.guard.alarms import alert
from tests.loopback.server import QuietHandler, serving


@dataclass
class Receiver:
    """Hold what was posted, and how to answer."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    url: str = ""
    posted: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    other: list[str] = field(default_factory=list)


@contextmanager
def receiving(receiver: Receiver) -> Iterator[Receiver]:
    class Handler(QuietHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.body())
            receiver.posted.append((self.path, self.headers["Content-Type"], sent))
            self.answer(b"ok", status=receiver.status, content_type="text/plain", **receiver.headers)

        def do_GET(self) -> None:
            receiver.other.append(self.path)
            self.answer(b"ok")

    with serving(Handler) as url:
        receiver.url = url
        yield receiver


def refused(webhook: Webhook) -> AgentError:
    with pytest.raises(WebhookError) as raised:
        webhook.send(alert())
    return raised.value


def test_an_alert_is_posted_as_slack_takes_it() -> None:
    """A text for people, and the record beside it."""
    with receiving(Receiver()) as receiver:
        Webhook(lambda: f"{receiver.url}/services/T/B/key?x=1", "prod").send(alert())

    assert receiver.posted == [
        (
            "/services/T/B/key?x=1",
            "application/json; charset=utf-8",
            {"text": sentence(alert(), "prod"), "rastro": document(alert(), "prod")},
        )
    ]


@pytest.mark.parametrize("status", [204, 299])
def test_any_success_is_a_success(status: int) -> None:
    """Receivers differ."""
    with receiving(Receiver(status=status)) as receiver:
        Webhook(lambda: receiver.url, "prod").send(alert())

    assert len(receiver.posted) == 1


@pytest.mark.parametrize("status", [400, 403, 404, 410, 429, 500, 503])
def test_any_other_status_is_a_failure(status: int) -> None:
    """Its code holds the status, and nothing holds the address."""
    with receiving(Receiver(status=status)) as receiver:
        error = refused(Webhook(lambda: f"{receiver.url}/key", "prod"))

    assert error.code == f"webhook_status_{status}"
    assert "key" not in error.message


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_is_not_followed(status: int) -> None:
    """An alert goes to the address that was set, or nowhere."""
    with receiving(Receiver()) as elsewhere, receiving(Receiver(status=status)) as receiver:
        receiver.headers = {"Location": elsewhere.url}
        error = refused(Webhook(lambda: receiver.url, "prod"))

    assert error.code == f"webhook_status_{status}"
    assert (elsewhere.posted, elsewhere.other) == ([], [])


def test_a_server_that_is_not_there_is_a_failure() -> None:
    """One code, without the address."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/key"
        error = refused(Webhook(lambda: address, "prod"))

    assert (error.code, error.message) == ("webhook_unreachable", "The webhook cannot be reached.")
    assert error.__cause__ is None


def test_a_server_that_says_nothing_does_not_hold_the_courier() -> None:
    """Each attempt has its time."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"

        assert refused(Webhook(lambda: address, "prod", seconds=0.05)).code == "webhook_unreachable"


def test_a_server_that_speaks_no_http_is_a_failure() -> None:
    """Whatever it says."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def babble() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=babble)
        thread.start()
        error = refused(Webhook(lambda: f"http://127.0.0.1:{server.getsockname()[1]}", "prod"))
        thread.join()

    assert error.code == "webhook_unreachable"


@pytest.mark.parametrize(
    "address",
    [
        "https://hooks.example/services/T/B/key",
        "https://hooks.example:8443/x",
        "http://127.0.0.1:8080/x",
        "http://localhost/x",
        "http://[::1]:80/",
        " https://hooks.example/x\n",
    ],
)
def test_https_and_this_machine_are_allowed(address: str) -> None:
    """A secret may end in a line break."""
    assert checked(address) == address.strip()


@pytest.mark.parametrize(
    "address",
    [
        "http://hooks.example/x",
        "http://127.0.0.1.example/x",
        "http://localhost@hooks.example/x",
        "https://user:password@hooks.example/x",
        "https://@hooks.example/x",
        "https:///x",
        "https://hooks.example:port/x",
        "https://[::1",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "hooks.example/x",
        "",
    ],
)
def test_no_other_address_is_posted_to(address: str) -> None:
    """Refused before anything is sent, in words that do not repeat it."""
    error = refused(Webhook(lambda: address, "prod"))

    assert error.code == "webhook_invalid"
    assert not address or address not in error.message


def test_the_address_is_asked_for_once_and_again_when_it_fails() -> None:
    """A secret that was changed is read again before the next attempt."""
    asked = []
    with receiving(Receiver()) as receiver:

        def address() -> str:
            asked.append(1)
            return receiver.url

        webhook = Webhook(address, "prod")
        assert not asked
        webhook.send(alert())
        webhook.send(alert())
        assert len(asked) == 1
        receiver.status = 404
        refused(webhook)
        receiver.status = 200
        webhook.send(alert())

    assert len(asked) == 2


def test_no_proxy_stands_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the process was started with."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    with receiving(Receiver()) as receiver:
        Webhook(lambda: receiver.url, "prod").send(alert())

    assert len(receiver.posted) == 1
