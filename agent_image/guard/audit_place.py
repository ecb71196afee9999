"""Open the place that keeps the audit: a URL's scheme decides what stands behind it."""

from __future__ import annotations

from pathlib import Path
from time import sleep
from typing import Final
from urllib.parse import unquote

import boto3
from botocore.config import Config

from agent_image.guard.audit_file import FileOutlet
from agent_image.guard.audit_s3 import S3Outlet, parse_audit_place
from agent_image.guard.outlet import Outlet

FILE: Final = "file:"
# One attempt: the outlet tries again itself, and knows then that an object in its place may be its own.
_CONFIG: Final = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 1})


def outlet_at(url: str, region: str | None = None) -> Outlet:
    """Open the outlet at `file:<path>` or `s3://<bucket>/<prefix>`.

    Raises:
        ValueError: the URL has another form.
    """
    if url.startswith(FILE):
        return FileOutlet(audit_path(url), sleep)
    if not url.startswith("s3:"):
        message = f"{url!r}; allowed: file:path or s3://bucket/prefix"
        raise ValueError(message)
    place = parse_audit_place(url)
    return S3Outlet(place, boto3.client("s3", region_name=region, config=_CONFIG), sleep)


def audit_path(url: str) -> Path:
    """Read `file:<path>`, or `file:///<path>` as browsers write it.

    Raises:
        ValueError: it names no file.
    """
    path = unquote(url.removeprefix(FILE))
    path = path.removeprefix("//") if path.startswith("///") else path
    if not path or path.endswith("/"):
        message = f"{url!r}; allowed: file:path"
        raise ValueError(message)
    return Path(path)
