"""Read the audit of a place, wherever it lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent_image.guard.audit_lines import Line, read_file, read_s3
from agent_image.guard.audit_s3 import parse_audit_place
from console.place import Place


def lines_of(place: Place) -> Iterator[Line]:
    """Read every line, each chain's in its order.

    Raises:
        AuditError: it cannot be read.
    """
    if isinstance(place.audit, Path):
        return read_file(place.audit)
    return read_s3(parse_audit_place(place.audit), s3_client(place))


def records_in(place: Place) -> Iterator[Mapping[str, Any]]:
    """Read what every line says that says something.

    Raises:
        AuditError: it cannot be read.
    """
    return (line.record for line in lines_of(place) if line.record is not None)


def s3_client(place: Place) -> Any:  # noqa: ANN401 - a boto3 client has no type
    """Make a client for the audit's bucket."""
    import boto3  # noqa: PLC0415 - a laptop does without

    return boto3.Session().client("s3", region_name=place.region)
