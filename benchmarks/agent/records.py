"""Count what one session takes of the table and of the audit's bucket, in the units that DynamoDB and S3 charge."""

from __future__ import annotations

import json
import logging
import math
from base64 import b64decode
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from agent_image.contract import QUEUE_KEY, TABLE_KEY
from benchmarks.agent.process import running, with_records
from benchmarks.agent.workload import QUESTION
from tests.agent_image.telemetry.sink import listening
from tests.loopback.aws import moto
from tests.loopback.relay import Relay, relaying
from tests.loopback.table import client_at, make_bucket, make_table

NAME: Final = "bench"
"""Of the table and of the bucket."""
_KB: Final = 1024
_WRITE_UNIT: Final = _KB
_READ_UNIT: Final = 4 * _KB
_EVENTUAL: Final = Decimal("0.5")
_WARM_UP, _COUNTED = (f"session-{number:032}" for number in range(2))

Item = Mapping[str, Mapping[str, str]]


def records(agent: tuple[list[str], Mapping[str, str]]) -> Mapping[str, Decimal]:
    """Let an agent have one session, and count by the keys of `[usage]`."""
    # The server on loopback would say each request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    arguments, variables = agent
    with moto() as aws, relaying(aws) as relay, listening() as sink:
        make_table(aws, NAME)
        make_bucket(aws, NAME)
        with running(arguments, with_records(variables, NAME, aws, relay.url), sink.url) as process:
            process.ask(QUESTION, _WARM_UP)
            relay.bodies.clear()
            relay.headers.clear()
            process.ask(QUESTION, _COUNTED)
        return {**_table(relay), **_audit(aws)}


def _table(relay: Relay) -> Mapping[str, Decimal]:
    left: dict[str, int] = {}
    writes, reads = 0, Decimal(0)
    for operation, request in _requests(relay):
        if operation == "PutItem":
            item = request["Item"]
            size = item_bytes(item)
            left[item[TABLE_KEY]["S"]] = size
            # An item in the index is written there, too.
            writes += math.ceil(size / _WRITE_UNIT) + (QUEUE_KEY in item)
        elif operation == "GetItem":
            size = left.get(request["Key"][TABLE_KEY]["S"], 0)
            reads += max(1, math.ceil(size / _READ_UNIT))
        elif operation == "Query":
            reads += _EVENTUAL
        else:
            message = f"{operation}: nobody said what it costs"
            raise RuntimeError(message)
    return {
        "table_writes_per_session": Decimal(writes),
        "table_reads_per_session": reads,
        "table_kb_per_session": Decimal(sum(left.values())) / _KB,
    }


def _requests(relay: Relay) -> Iterator[tuple[str, Any]]:
    for headers, body in zip(relay.headers, relay.bodies, strict=True):
        target = next(line for line in headers.splitlines() if line.lower().startswith("x-amz-target:"))
        yield target.rpartition(".")[2].strip(), json.loads(body)


def item_bytes(item: Item) -> int:
    """Count an item as DynamoDB does: names and texts in UTF-8, bytes as they are, two digits of a number to one."""
    return sum(
        len(name.encode()) + sum(_value_bytes(kind, value) for kind, value in held.items())
        for name, held in item.items()
    )


def _value_bytes(kind: str, value: str) -> int:
    match kind:
        case "N":
            return (len(value) + 1) // 2 + 1
        case "B":
            return len(b64decode(value))
        case _:
            return len(value.encode())


def _audit(aws: str) -> Mapping[str, Decimal]:
    found = client_at(aws, "s3").list_objects_v2(Bucket=NAME).get("Contents", ())
    sizes = [entry["Size"] for entry in found if f"/{_COUNTED}/" in entry["Key"]]
    return {
        "audit_kb_per_session": Decimal(sum(sizes)) / _KB,
        "audit_objects_per_session": Decimal(len(sizes)),
    }
