"""Name what one synthesised environment's people and agent act on, and who holds which policy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent_image.contract import Discovery, Item
from tests.simulator.simulator import Holder, Request
from tests.synthesis import Stack

RUNTIME = "${aws_bedrockagentcore_agent_runtime.runtime.agent_runtime_arn}"
ROLE = "${aws_iam_role.role.arn}"
KEYS = "dynamodb:LeadingKeys"
NEW = {"s3:if-none-match": "*"}
DRAWN = "a1B2c3D4e5"
"""What AgentCore draws for a runtime's id."""


@dataclass(frozen=True)
class World:
    """Hold an environment's stack."""

    stack: Stack

    @cached_property
    def found(self) -> dict[str, Any]:
        """Give the discovery document."""
        document: dict[str, Any] = json.loads(self.stack.only("aws_ssm_parameter")["value"])
        return document

    @property
    def account(self) -> str:
        return str(self.found[Discovery.ACCOUNT_ID])

    def arn(self, service: str, resource: str) -> str:
        return f"arn:aws:{service}:{self.found[Discovery.REGION]}:{self.account}:{resource}"

    @property
    def table(self) -> str:
        return self.arn("dynamodb", f"table/{self.found[Discovery.TABLE]}")

    @property
    def index(self) -> str:
        (index,) = self.stack.only("aws_dynamodb_table")["global_secondary_index"]
        return f"{self.table}/index/{index['name']}"

    @property
    def runtime_id(self) -> str:
        return f"{self.stack.only('aws_bedrockagentcore_agent_runtime')['agent_runtime_name']}-{DRAWN}"

    @property
    def runtime(self) -> str:
        return self.arn("bedrock-agentcore", f"runtime/{self.runtime_id}")

    @property
    def role(self) -> str:
        return f"arn:aws:iam::{self.account}:role/{self.stack.resources('aws_iam_role')['role']['name']}"

    @property
    def dashboard(self) -> str:
        name = self.stack.only("aws_cloudwatch_dashboard")["dashboard_name"]
        return f"arn:aws:cloudwatch::{self.account}:dashboard/{name}"

    def alarm(self, key: str) -> str:
        name = self.stack.resources("aws_cloudwatch_metric_alarm")[f"alarm-{key}"]["alarm_name"]
        return self.arn("cloudwatch", f"alarm:{name}")

    def group(self, endpoint: str) -> str:
        return self.arn("logs", f"log-group:/aws/bedrock-agentcore/runtimes/{self.runtime_id}-{endpoint}")

    def thing(self, bucket: str, key: str) -> str:
        return f"arn:aws:s3:::{self.stack.resources('aws_s3_bucket')[bucket]['bucket']}/{key}"

    def holder(self, policy: str) -> Holder:
        return Holder(self.account, json.loads(policy.replace(RUNTIME, self.runtime).replace(ROLE, self.role)))

    @property
    def agent(self) -> Holder:
        return self.holder(self.stack.resources("aws_iam_role_policy")["role-policy"]["policy"])

    @property
    def people(self) -> tuple[str, ...]:
        return tuple(self.stack.resources("aws_iam_policy"))

    def person(self, name: str) -> Holder:
        return self.holder(self.stack.resources("aws_iam_policy")[name]["policy"])

    def on_items(self, verb: str, *keys: str) -> Request:
        return Request(f"dynamodb:{verb}", self.table, {KEYS: list(keys)} if keys else {})

    def on_queue(self, item: Item) -> Request:
        return Request("dynamodb:Query", self.index, {KEYS: [item.value]})
