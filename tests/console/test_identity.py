"""Who decides is told by the operating system, or by AWS, and by nobody else."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from console.errors import ConsoleError
from console.identity import approver_at, caller, same_person, user
from console.place import Place
from tests.console.loopback import Asked, Scripted, serving
from tests.console.test_environment import credentials
from tests.loopback.aws import moto

__all__ = ["credentials"]
LAPTOP = Place("sqlite:////state/guard.db", Path("/state/audit.jsonl"))


def test_the_user_is_told_by_the_process_s_own_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that anybody may set say nothing."""
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "somebody-else")

    assert user() == pwd.getpwuid(os.getuid()).pw_name
    assert approver_at(LAPTOP) == user()


def test_a_user_without_a_name_has_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container nobody may be known by name."""

    def nobody(_: int) -> pwd.struct_passwd:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)

    assert user() == f"uid:{os.getuid()}"


def test_a_local_name_waits_for_nothing_of_aws() -> None:
    """boto3 takes longer to import than the rest."""
    code = "import sys, console.identity as i; i.user(); print('boto3' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert loaded.stdout == "False\n"


def test_in_aws_the_identity_is_that_of_the_credentials(credentials: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """GetCallerIdentity's ARN, asked in the environment's Region."""
    del credentials
    with moto() as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
        arn = approver_at(Place("dynamodb://t", "s3://a/audit/", "eu-central-1", "s3://b"))

    assert arn.startswith("arn:aws:sts::")


def test_what_is_in_the_way_is_said(credentials: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a sentence of our own; without an answer there is no name."""
    del credentials

    def refuse(_: Asked) -> Scripted:
        body = b"<ErrorResponse><Error><Code>ExpiredToken</Code><Message>secret</Message></Error></ErrorResponse>"
        return Scripted([body], 403, {"Content-Type": "text/xml"})

    with serving(refuse) as (port, _):
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"http://127.0.0.1:{port}")
        with pytest.raises(ConsoleError, match=r"asking AWS who you are failed: .*sign in again") as refused:
            caller("eu-central-1")

    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("ana", "ana", True),
        ("ana", "ana2", False),
        ("arn:aws:sts::1:assumed-role/R/Ana@shop.example", "ana@shop.example", True),
        ("arn:aws:iam::1:root", "arn:aws:iam::2:root", False),
        ("arn:aws:sts::1:assumed-role/ana/x", "arn:aws:sts::1:assumed-role/ana/y", False),
    ],
)
def test_a_person_is_one_by_whatever_role(one: str, other: str, *, same: bool) -> None:
    """The last part of an ARN is whoever assumed the role."""
    assert same_person(one, other) is same
    assert same_person(other, one) is same
