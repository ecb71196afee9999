"""Make an environment's bucket and table on moto's server, and count what is asked of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import boto3
from botocore.config import Config

from agent_image.contract import TABLE_KEY
from agent_image.retrieval.s3_store import S3Clients, S3PassageStore, S3Place, parse_s3_place

REGION = "eu-central-1"
_CLIENT = {
    "region_name": REGION,
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
    "config": Config(connect_timeout=5, read_timeout=5, retries={"total_max_attempts": 1}),
}


@dataclass(frozen=True)
class TrailStore:
    """Hold where the store is, and every request that was sent to it, by operation."""

    url: str
    place: S3Place
    sent: Counter[str] = field(default_factory=Counter)

    def clients(self, *, s3_url: str | None = None, dynamodb_url: str | None = None) -> S3Clients:
        """Make fresh clients, as a fresh process does."""
        return S3Clients(
            self._counted(boto3.client("s3", endpoint_url=s3_url or self.url, **_CLIENT)),
            self._counted(boto3.client("dynamodb", endpoint_url=dynamodb_url or self.url, **_CLIENT)),
        )

    def store(self, **urls: str) -> S3PassageStore:
        return S3PassageStore(self.place, self.clients(**urls), pause=lambda _: None)

    def objects(self) -> dict[str, bytes]:
        """Read the bucket behind the store's back."""
        s3 = self.clients().s3
        listed = s3.list_objects_v2(Bucket=self.place.bucket).get("Contents", [])
        return {one["Key"]: s3.get_object(Bucket=self.place.bucket, Key=one["Key"])["Body"].read() for one in listed}

    def items(self) -> dict[str, str]:
        """Read the table behind the store's back."""
        found = self.clients().dynamodb.scan(TableName=self.place.table)["Items"]
        return {item[TABLE_KEY]["S"]: item["state"]["S"] for item in found}

    def _counted(self, client: Any) -> Any:
        def count(event_name: str, **_: Any) -> None:
            self.sent[event_name.rpartition(".")[2]] += 1

        client.meta.events.register("before-send.*.*", count)
        return client


def trail_store(url: str) -> TrailStore:
    name = f"rastro-{uuid4().hex}"
    place = parse_s3_place(f"s3://{name}", f"dynamodb://{name}")
    s3 = boto3.client("s3", endpoint_url=url, **_CLIENT)
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    dynamodb = boto3.client("dynamodb", endpoint_url=url, **_CLIENT)
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": TABLE_KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": TABLE_KEY, "AttributeType": "S"}],
    )
    return TrailStore(url, place)


def before(client: Any, operation: str, action: Callable[[], object]) -> None:
    """Do something at the moment when a request is about to leave: the widest a race can be."""
    client.meta.events.register_first(f"before-send.*.{operation}", lambda **_: action() and None)
