"""Keep the audit in S3: one object for each time that a run makes its events durable, written once and never again.

    <prefix><session>/<number of the first event, 12 digits>-<run>.jsonl       a session's events
    <prefix>decisions/<checkpoint>/000000000001-<event id>.jsonl             what a person decided
    <prefix>erasures/<fingerprint>/000000000001-<event id>.jsonl             what a person erased

Listed by key, a chain's objects come in its order. Every put asks that nothing stands in its place, so neither the
agent nor an approver, who may do nothing but put, can write over what is there. The bucket may hold a lock as well.

Rights: `write` takes `s3:PutObject`; reading takes `s3:ListBucket` and `s3:GetObject`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlsplit

from opentelemetry.instrumentation.utils import suppress_instrumentation

from agent_image.contract import AUDIT_OBJECT_PREFIX
from agent_image.errors import AuditError
from agent_image.guard.outlet import Folder
from agent_image.retrieval.failure import AWS_ERRORS, Failure, aws_code, aws_failure

ATTEMPTS: Final = 4
"""How often an object is put, the first time included."""
SUFFIX: Final = ".jsonl"
_PAUSE_SECONDS: Final = 0.1
_TAKEN: Final = "PreconditionFailed"
_AGAIN: Final = frozenset({Failure.THROTTLED, Failure.UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class AuditPlace:
    """Say where audit objects lie: the bucket and the key prefix."""

    bucket: str
    prefix: str

    def below(self, folder: Folder) -> str:
        """Give the key prefix of a folder's objects."""
        return self.prefix + "".join(f"{quote(part, safe='')}/" for part in folder)

    def key(self, folder: Folder, run: str, seq: int) -> str:
        """Give the key of the object that begins with an event."""
        return f"{self.below(folder)}{seq:012d}-{quote(run, safe='')}{SUFFIX}"


def parse_audit_place(url: str) -> AuditPlace:
    """Read `s3://<bucket>/<prefix>`; a bucket alone gets the usual prefix.

    Raises:
        ValueError: it has another form.
    """
    parts = urlsplit(url)
    if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment:
        message = f"{url!r}; allowed: s3://bucket/prefix"
        raise ValueError(message)
    prefix = parts.path.lstrip("/") or AUDIT_OBJECT_PREFIX
    return AuditPlace(parts.netloc, prefix if prefix.endswith("/") else f"{prefix}/")


class S3Outlet:
    """Put lines as objects."""

    at_once = False

    def __init__(self, place: AuditPlace, client: Any, pause: Callable[[float], object]) -> None:  # noqa: ANN401 - boto3 makes clients at run time
        """Take the place, a client that does not retry by itself, and what waits some seconds."""
        self._place = place
        self._client = client
        self._pause = pause
        self._doubtful: dict[str, bytes] = {}

    def write(self, lines: Sequence[bytes], *, folder: Folder, run: str, seq: int) -> None:
        """Put lines as one object.

        Raises:
            AuditError: they are not there, or nobody can tell; the same call may come again.
        """
        key, body = self._place.key(folder, run, seq), b"".join(lines)
        failure = Failure.UNAVAILABLE
        for attempt in range(ATTEMPTS):
            if attempt:
                self._pause(_PAUSE_SECONDS * 2**attempt)
            try:
                self._put(key, body)
            except AWS_ERRORS as error:
                if aws_code(error) == _TAKEN:
                    self._settle(key, body)
                    return
                failure = aws_failure(error)
                if failure not in _AGAIN:
                    break
                # It may have been stored although nobody said so.
                self._doubtful[key] = body
            else:
                self._doubtful.pop(key, None)
                return
        code = f"audit_{failure}"
        raise AuditError(code, "The audit's bucket did not take what happened.")

    def _put(self, key: str, body: bytes) -> None:
        # The trail holds what the agent did for an answer, not how that is recorded.
        with suppress_instrumentation():
            self._client.put_object(
                Bucket=self._place.bucket,
                Key=key,
                Body=body,
                ContentType="application/x-ndjson",
                IfNoneMatch="*",
            )

    def sync(self) -> None:
        """Have nothing to wait for: what S3 has taken is durable."""

    def _settle(self, key: str, body: bytes) -> None:
        """Take an object that is there already for ours, if these very bytes may have got there before."""
        if self._doubtful.pop(key, None) != body:
            raise AuditError("audit_conflict", "Another object stands where this run's audit belongs.")


def objects(place: AuditPlace, client: Any, folder: Folder = ()) -> Iterator[tuple[str, bytes]]:  # noqa: ANN401 - the same
    """Read the objects of the audit, or of one folder, in the order of their keys: each key with its bytes."""
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=place.bucket, Prefix=place.below(folder)):
        for entry in page.get("Contents", ()):
            key = entry["Key"]
            if key.endswith(SUFFIX):
                yield key, client.get_object(Bucket=place.bucket, Key=key)["Body"].read()
