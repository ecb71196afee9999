"""Check a bulk file of the AWS Price List before it is read."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from cost_model.errors import DocumentError

MAXIMUM_BYTES: Final = 2_000_000_000
"""Bytes above which a file is refused unread: a Region's file of one service holds some millions."""
ADVICE: Final = (
    "fetch the Region's own file of the service: https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/"
    "<service>/current/<region>/index.json (or .csv)"
)
_GZIP: Final = b"\x1f\x8b"
_HEAD: Final = 512


def check_file(path: Path) -> bytes:
    """Give a file's first bytes, without space before them.

    Raises:
        DocumentError: it is not there, no file, too large, empty, packed, or a page.
    """
    try:
        found = path.stat()
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            # A pipe or a device could keep a reader waiting for ever, whatever its size says.
            message = f"{path}: not a file; allowed: a file"
            raise DocumentError(message)
        size = found.st_size
        if size > MAXIMUM_BYTES:
            message = f"{path}: {size:,} bytes; allowed: at most {MAXIMUM_BYTES:,}; {ADVICE}"
            raise DocumentError(message)
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror or error}"
        raise DocumentError(message) from error
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        message = f"{path}: is empty; {ADVICE}"
        raise DocumentError(message)
    if head.startswith(_GZIP):
        message = f"{path}: is packed with gzip; unpack it first"
        raise DocumentError(message)
    if start.startswith(b"<"):
        message = f"{path}: is a page in HTML or XML, perhaps an error's, and no price list; {ADVICE}"
        raise DocumentError(message)
    return start
