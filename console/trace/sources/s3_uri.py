"""Read where an object lies out of its URI, in the forms in which knowledge bases and people write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_DOMAIN: Final = r"s3(?:[.-](?:dualstack\.)?(?P<region>[a-z]{2}(?:-[a-z]+)+-\d+))?\.amazonaws\.com(?:\.cn)?"
_BY_HOST: Final = re.compile(rf"(?P<bucket>[a-z0-9][a-z0-9.-]{{1,61}}[a-z0-9])\.{_DOMAIN}")
_BY_PATH: Final = re.compile(_DOMAIN)
_S3: Final = "s3://"


@dataclass(frozen=True, slots=True)
class S3Object:
    """Name an object.

    Attributes:
        bucket: its bucket.
        keys: what its key may be, the likeliest first: a knowledge base writes keys as they are, others encode them.
    """

    bucket: str
    keys: tuple[str, ...]


def s3_object(uri: str) -> S3Object | None:
    """Read a URI; None where it names no object."""
    if uri[: len(_S3)].lower() == _S3:
        # Not as a URL: `?` and `#` are letters of a key.
        bucket, _, key = uri[len(_S3) :].partition("/")
        return _object(bucket, dict.fromkeys((key, unquote(key))))
    return _on_the_web(uri)


def _on_the_web(uri: str) -> S3Object | None:
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    # A query means something to the service: whoever signed it may read what we may not.
    if parts.scheme not in {"http", "https"} or parts.query or port not in {None, 80, 443}:
        return None
    path = parts.path.removeprefix("/")
    if _BY_PATH.fullmatch(host):
        bucket, _, path = path.partition("/")
    elif found := _BY_HOST.fullmatch(host):
        bucket = found["bucket"]
    else:
        return None
    return _object(bucket, (unquote(path),))


def _object(bucket: str, keys: dict[str, None] | tuple[str, ...]) -> S3Object | None:
    named = tuple(key for key in keys if key)
    return S3Object(bucket, named) if _BUCKET.fullmatch(bucket) and named else None
