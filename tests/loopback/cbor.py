"""Write and read CBOR as far as an AWS client speaks it: boto3 asks CloudWatch so, and moto does not answer it."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from botocore.parsers import RpcV2CBORParser

_TEXT, _LIST, _MAP, _TAG = 3, 4, 5, 6
_ONE_BYTE, _EIGHT_BYTES = 24, 27
_DOUBLE = 0xFB


def dumps(value: Any) -> bytes:
    """Write a value: maps, lists, texts, numbers and moments."""
    match value:
        case str():
            return _head(_TEXT, len(value.encode())) + value.encode()
        case int() if value >= 0:
            return _head(0, value)
        case int() | float():
            return bytes([_DOUBLE]) + struct.pack(">d", value)
        case datetime():
            return _head(_TAG, 1) + dumps(value.timestamp())
        case Mapping():
            members = b"".join(dumps(key) + dumps(member) for key, member in value.items())
            return _head(_MAP, len(value)) + members
        case _:
            return _head(_LIST, len(value)) + b"".join(map(dumps, value))


def loads(data: bytes) -> Any:
    """Read what a client sent; moments become seconds since 1970."""
    parser = RpcV2CBORParser()
    return parser.parse_data_item(io.BufferedReader(io.BytesIO(data)))


def _head(major: int, number: int) -> bytes:
    if number < _ONE_BYTE:
        return bytes([major << 5 | number])
    return bytes([major << 5 | _EIGHT_BYTES]) + struct.pack(">Q", number)
