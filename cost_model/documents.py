"""Read TOML and JSON files with exact numbers, refusing what cannot be read with the reason."""

from __future__ import annotations

import json
import stat
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final

from cost_model.errors import DocumentError

MAXIMUM_BYTES: Final = 50_000_000
"""Bytes above which a file is refused unread: a synthesised stack holds some hundred thousand."""


def read_toml(path: Path) -> Mapping[str, object]:
    """Read a TOML file; numbers with a point become Decimal."""
    content = read_bytes(path)
    try:
        return tomllib.loads(content.decode("utf-8"), parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        message = f"{path}: not valid TOML: {_reason(error)}"
        raise DocumentError(message) from error


def read_json(path: Path) -> Mapping[str, object]:
    """Read a JSON file that holds one object; numbers with a point become Decimal."""
    content = read_bytes(path)
    try:
        document = json.loads(content.decode("utf-8"), parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        message = f"{path}: not valid JSON: {_reason(error)}"
        raise DocumentError(message) from error
    if not isinstance(document, dict):
        message = f"{path}: holds a JSON {type(document).__name__}; allowed: an object"
        raise DocumentError(message)
    return document


def read_bytes(path: Path) -> bytes:
    """Read a file of at most `MAXIMUM_BYTES`."""
    try:
        found = path.stat()
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            # A pipe or a device could keep a reader waiting for ever, whatever its size says.
            message = f"{path}: not a file; allowed: a file"
            raise DocumentError(message)
        size = found.st_size
        if size > MAXIMUM_BYTES:
            message = f"{path}: {size:,} bytes; allowed: at most {MAXIMUM_BYTES:,}"
            raise DocumentError(message)
        return path.read_bytes()
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror or error}"
        raise DocumentError(message) from error


def _refuse_constant(name: str) -> object:
    message = f"{name} is not a JSON number"
    raise ValueError(message)


def _reason(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
