"""Ask what one policy allows: many requests in one run of Node.js."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from tests.conftest import ROOT
from tests.synthesis import Json

NODE = Path(sys.executable).parent / "node"
SIMULATE = Path(__file__).with_name("simulate.mjs")
PACKAGE = ROOT / "node_modules" / "@cloud-copilot" / "iam-simulate"


class Verdict(StrEnum):
    """Name how IAM answers: a denial that is written down outdoes every other grant."""

    ALLOWED = "Allowed"
    DENIED = "ImplicitlyDenied"
    FORBIDDEN = "ExplicitlyDenied"


@dataclass(frozen=True, slots=True)
class Request:
    """State one request: what is done, to what, what the service says of it, and what the resource itself allows."""

    action: str
    resource: str
    context: Mapping[str, str | list[str]] = field(default_factory=dict)
    policy: Json | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """Hold a policy, and the account that it is held in."""

    account: str
    document: Json

    def asks(self, requests: Iterable[Request]) -> list[Verdict]:
        """Give the verdict on each request."""
        assert PACKAGE.is_dir(), "the policy simulator is not installed: run `make setup`"
        asked = [
            {
                "principal": f"arn:aws:iam::{self.account}:role/somebody",
                "account": self.account,
                "action": request.action,
                "resource": request.resource,
                "context": dict(request.context),
                "resourcePolicy": request.policy,
            }
            for request in requests
        ]
        answer = subprocess.run(
            [NODE, SIMULATE],
            input=json.dumps({"policy": self.document, "requests": asked}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        return [Verdict(verdict) for verdict in json.loads(answer.stdout)]
