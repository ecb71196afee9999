"""Write what a record holds as text, one way for all stores, so that each gives back the same."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime
from typing import Final

from agent_image.contract import Item
from agent_image.errors import StoreError
from agent_image.guard.records import Document

KEY_LIMIT: Final = 1_024
"""Bytes of a key; DynamoDB would take 2,048."""
UNPACKED_LIMIT: Final = 64 << 20
"""Bytes that a packed document may have unpacked: no honest one comes near."""
_LEVEL: Final = 1
"""Of zlib: what more time would save is a tenth of what the first level does."""
# One encoder: json.dumps would make one a call.
_ENCODED: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_ITEMS: Final = frozenset(item.value for item in Item)


def document_text(document: Document) -> str:
    """Write a document as JSON in ASCII: what is half a character, or none that a database takes, comes back as it was.

    Raises:
        StoreError: the document is not JSON.
    """
    try:
        return _ENCODED(document)
    except (TypeError, ValueError, RecursionError):
        raise StoreError("record_malformed", "A record that is not JSON cannot be stored.") from None


def document_of(text: str) -> Document:
    """Read a document.

    Raises:
        StoreError: what lies in the store is not a document.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise StoreError("record_malformed", "A record in the store cannot be read.")
    return document


def packed(text: str) -> bytes:
    """Pack a document's text: a conversation takes about a third."""
    return zlib.compress(text.encode("ascii"), _LEVEL)


def unpacked(data: bytes) -> str:
    """Unpack a document's text.

    Raises:
        StoreError: it was not packed so, or would unpack to more than any document has.
    """
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(data, UNPACKED_LIMIT).decode("ascii")
    except (zlib.error, UnicodeDecodeError):
        text = ""
    if not unpacking.eof or not text:
        raise StoreError("record_malformed", "A record in the store cannot be read.")
    return text


def moment_text(moment: datetime) -> str:
    """Write a moment at full length, in UTC, so that texts sort as moments do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment_of(text: str) -> datetime:
    """Read a moment."""
    return datetime.fromisoformat(text)


def item_of(key: str) -> str:
    """Give the item's prefix that a key begins with.

    Raises:
        StoreError: it begins with none, or is no key that every store could hold.
    """
    item, mark, _ = key.partition("#")
    if not is_key(key) or f"{item}{mark}" not in _ITEMS:
        raise StoreError("record_malformed", "A record cannot be stored under such a key.")
    return f"{item}{mark}"


def is_key(key: str) -> bool:
    """Tell whether a record may lie under this key: ids come from outside, and may be anything."""
    try:
        return 0 < len(key.encode()) <= KEY_LIMIT and "\0" not in key
    except UnicodeEncodeError:
        return False
