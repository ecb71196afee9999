"""Encode AWS event-stream messages (vnd.amazon.eventstream), as ConverseStream answers."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any
from zlib import crc32

_STRING = 7


def message(event: str, document: Mapping[str, Any]) -> bytes:
    """Encode one event."""
    payload = json.dumps(document).encode()
    return _framed(
        _headers({":event-type": event, ":content-type": "application/json", ":message-type": "event"}), payload
    )


def _headers(headers: Mapping[str, str]) -> bytes:
    return b"".join(
        bytes([len(name)]) + name.encode() + struct.pack("!BH", _STRING, len(value.encode())) + value.encode()
        for name, value in headers.items()
    )


def _framed(headers: bytes, payload: bytes) -> bytes:
    total = 12 + len(headers) + len(payload) + 4
    prelude = struct.pack("!II", total, len(headers))
    body = prelude + struct.pack("!I", crc32(prelude)) + headers + payload
    return body + struct.pack("!I", crc32(body))
