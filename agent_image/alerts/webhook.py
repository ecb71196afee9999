"""Post alerts to a webhook, as Slack and those who follow it take them: JSON with a `text`.

The address is worth a password: it is in no error, and nothing that answers may send the alert on to another place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from agent_image.errors import AgentError
from agent_image.guard.alerts import Alert, document, sentence

SECONDS: Final = 5.0
"""How long one attempt may take, for each answer of the network."""
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


class WebhookError(AgentError):
    """Say that a webhook did not take an alert, or that its address cannot be one."""


class Webhook:
    """Post alerts to one address."""

    name = "webhook"

    def __init__(self, address: Callable[[], str], environment: str, *, seconds: float = SECONDS) -> None:
        """Take the way to the address, asked for when the first alert goes out, and the environment's name."""
        self._address = address
        self._checked: str | None = None
        self._environment = environment
        self._seconds = seconds

    def send(self, alert: Alert) -> None:
        """Post an alert.

        Raises:
            WebhookError: the address is none, or its server did not take the alert.
        """
        if self._checked is None:
            self._checked = checked(self._address())
        body = {"text": sentence(alert, self._environment), "rastro": document(alert, self._environment)}
        # Checked: the scheme is https, or http to this machine.
        request = Request(self._checked, data=json.dumps(body).encode(), method="POST")  # noqa: S310
        request.add_header("Content-Type", "application/json; charset=utf-8")
        try:
            with _opener(self._checked).open(request, timeout=self._seconds) as answer:
                status = int(answer.status)
        except HTTPError as error:
            status = error.code
            error.close()
        except (OSError, HTTPException, ValueError):
            raise WebhookError("webhook_unreachable", "The webhook cannot be reached.") from None
        if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            # The address may be an old one: the next attempt asks for it again.
            self._checked = None
            code = f"webhook_status_{status}"
            raise WebhookError(code, "The webhook did not take the alert.")


def checked(address: str) -> str:
    """Check an address: https, or http to this machine, without credentials of its own.

    Raises:
        WebhookError: it is none.
    """
    refusal = WebhookError("webhook_invalid", "A webhook is https://…, or http:// to loopback, without credentials.")
    try:
        url = urlsplit(address.strip())
        host, user = url.hostname, url.username
        url.port  # noqa: B018 - read only to be checked
    except ValueError:
        raise refusal from None
    allowed = url.scheme == "https" or (url.scheme == "http" and host in _LOOPBACK)
    if not host or not allowed or user is not None:
        raise refusal
    return address.strip()


class _NoRedirect(HTTPRedirectHandler):
    """Follow nobody."""

    def redirect_request(self, *_: Any) -> None:
        """Leave the answer what it is: a status that is no success."""


def _opener(address: str) -> OpenerDirector:
    # A proxy stands before what is far away, and not before this machine.
    near = [ProxyHandler({})] if address.startswith("http:") else []
    return build_opener(_NoRedirect, *near)
