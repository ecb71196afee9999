"""Set up what stands around the canary: servers that keep every byte that leaves it, and an environment's places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

from agent_image.contract import PASSAGE_OBJECT_PREFIX, TABLE_KEY, Item
from agent_image.guard.audit_lines import read_s3
from agent_image.guard.audit_s3 import AuditPlace, parse_audit_place
from agent_image.guard.records import Records
from agent_image.stores.dynamodb import DynamoRecords
from agent_image.stores.large import LargeState
from agent_image.stores.text import unpacked
from console.audit.anchors import decided, heads, named_in
from tests.agent_image.telemetry.sink import Sink, listening
from tests.canary import script
from tests.canary.kept import Kept
from tests.loopback import proxy
from tests.loopback.bedrock import Bedrock, speaking
from tests.loopback.proxy import Proxy
from tests.loopback.relay import Relay, relaying
from tests.loopback.server import QuietHandler, serving
from tests.loopback.table import REGION, client_at, make_bucket, make_table

MAY_HOLD_TEXT: Final = (Item.CHECKPOINT, Item.DECISION, Item.SESSION)
"""Items of the environment's own table that an approver and the next process read."""


@dataclass(frozen=True)
class Cloud:
    """Hold an environment's table, buckets and topic on moto's server."""

    url: str
    name: str
    topic: str

    @property
    def audit(self) -> AuditPlace:
        """Say where the audit lies: in a bucket of its own."""
        return parse_audit_place(f"s3://{self.name}-audit")

    def client(self, service: str) -> Any:
        """Make a client, as others than the agent have it."""
        return client_at(self.url, service)

    def records(self) -> Records:
        """Open the table, as others than the agent do."""
        large = LargeState(self.name, self.client("s3"))
        return DynamoRecords(self.name, self.client("dynamodb"), large, pause=lambda _: None)

    def kept(self) -> Kept:
        """Read what the environment's own places hold."""
        lines = tuple(read_s3(self.audit, self.client("s3")))
        named, records = named_in(lines), self.records()
        items = self._items()
        return Kept(
            items=b"\n".join(data for key, data in items.items() if key.startswith(MAY_HOLD_TEXT)),
            others=b"\n".join(data for key, data in items.items() if not key.startswith(MAY_HOLD_TEXT)),
            archived=frozenset(self._objects(PASSAGE_OBJECT_PREFIX)),
            audit=lines,
            heads=heads(records, named.sessions),
            decided=decided(records, named.checkpoints),
        )

    def _items(self) -> dict[str, bytes]:
        pages = self.client("dynamodb").get_paginator("scan").paginate(TableName=self.name)
        items = [item for page in pages for item in page["Items"]]
        return {item[TABLE_KEY]["S"]: _said(item).encode() for item in items}

    def _objects(self, prefix: str) -> Iterator[str]:
        s3 = self.client("s3")
        for one in s3.list_objects_v2(Bucket=self.name, Prefix=prefix).get("Contents", []):
            yield s3.get_object(Bucket=self.name, Key=one["Key"])["Body"].read().decode()


def _said(item: dict[str, Any]) -> str:
    """Write an item, unpacked: packed words would be found by nobody."""
    open_values = {
        name: unpacked(value["B"]) if name == "document" and "B" in value else value for name, value in item.items()
    }
    return json.dumps(open_values, default=repr, ensure_ascii=False)


def cloud_at(url: str) -> Cloud:
    """Make an environment's places."""
    name = f"canary-{uuid4().hex}"
    make_table(url, name)
    make_bucket(url, name)
    make_bucket(url, f"{name}-audit")
    return Cloud(url, name, client_at(url, "sns").create_topic(Name=name)["TopicArn"])


@dataclass(frozen=True)
class Places:
    """Hold where what leaves may go.

    Attributes:
        elsewhere: a server that a tool calls; it takes the alerts of the webhook, too.
        headers: of what came to it.
        posted: alerts, as the webhook got them.
        topics: what hands alerts on to the topic.
    """

    folder: Path
    proxy: Proxy
    sink: Sink
    bedrock: Bedrock
    cloud: Cloud
    elsewhere: str
    topics: Relay
    headers: list[str]
    posted: list[bytes]

    @property
    def lines(self) -> Path:
        """Name the file of the laptop's spans."""
        return self.folder / "spans.jsonl"

    @property
    def webhook(self) -> str:
        """Give the webhook's address, which is worth a password."""
        return f"{self.elsewhere}/{quote(str(script.WEBHOOK))}"

    def variables(self) -> Mapping[str, str]:
        """Give the variables of a process that takes all this for AWS."""
        return {
            "AWS_ACCESS_KEY_ID": "canary",
            "AWS_SECRET_ACCESS_KEY": "canary",
            "AWS_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.bedrock.url,
            "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": self.bedrock.url,
            "AWS_ENDPOINT_URL_BEDROCK_AGENT": self.bedrock.url,
            "AWS_ENDPOINT_URL_S3": self.cloud.url,
            "AWS_ENDPOINT_URL_DYNAMODB": self.cloud.url,
            "AWS_ENDPOINT_URL_SNS": self.topics.url,
            "OTEL_EXPORTER_OTLP_LOGS_HEADERS": "x-aws-log-group=g,x-aws-log-stream=s,x-aws-metric-namespace=n",
            **self.proxy.variables(),
        }


@contextmanager
def standing(folder: Path, aws: str) -> Iterator[Places]:
    """Stand until the block ends."""
    heard = _Heard()
    with ExitStack() as stack:
        yield Places(
            folder=folder,
            proxy=stack.enter_context(proxy.standing(folder)),
            sink=stack.enter_context(listening()),
            bedrock=stack.enter_context(speaking(script.bedrock())),
            cloud=cloud_at(aws),
            elsewhere=stack.enter_context(serving(heard.elsewhere())),
            topics=stack.enter_context(relaying(aws)),
            headers=heard.headers,
            posted=heard.posted,
        )


@dataclass(frozen=True)
class _Heard:
    """Keep what comes to a server that is none of AWS's."""

    headers: list[str] = field(default_factory=list)
    posted: list[bytes] = field(default_factory=list)

    def elsewhere(self) -> type[QuietHandler]:
        heard = self

        class Elsewhere(QuietHandler):
            def do_GET(self) -> None:
                heard.headers.append(str(self.headers))
                self.answer(b"{}")

            def do_POST(self) -> None:
                heard.posted.append(self.body())
                heard.headers.append(str(self.headers))
                self.answer(b"ok")

        return Elsewhere
