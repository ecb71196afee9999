"""Read objects of S3, and older versions of them where the bucket keeps any.

Rights: `s3:GetObject`; to look back, `s3:ListBucketVersions` and `s3:GetObjectVersion`. To who may not list a bucket,
S3 says "access denied" of an object that does not exist: so it is unreadable then, and never called missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC
from functools import partial
from threading import Lock
from typing import Any, Final

from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    ReadTimeoutError,
    SSOError,
    TokenRetrievalError,
)
from urllib3.exceptions import HTTPError

from agent_image.retrieval.failure import AWS_ERRORS, aws_code
from console.trace.facts import Source
from console.trace.sources.content_type import media_type_and_charset
from console.trace.sources.s3_uri import s3_object
from console.trace.sources.source import LIMIT_BYTES, Content, Refused, Version, Why, missing, unreadable
from console.trace.sources.unpacking import collected

VERSIONS: Final = 20
"""Older versions that are looked at, at most."""
_PATIENCE: Final = {
    "connect_timeout": 5,
    "read_timeout": 30,
    "retries": {"mode": "standard", "total_max_attempts": 5},
    "max_pool_connections": 16,
}
_USUAL_REGION: Final = "us-east-1"
_PIECE_BYTES: Final = 1 << 20
_LISTED: Final = 100
_MARKER: Final = "x-amz-delete-marker"
_MISSING: Final = {
    "NoSuchKey": Why.NOT_FOUND,
    "404": Why.NOT_FOUND,
    "NoSuchVersion": Why.NOT_FOUND,
    "NoSuchBucket": Why.NO_BUCKET,
}
_UNREADABLE: Final = {
    "AccessDenied": Why.ACCESS_DENIED,
    "AllAccessDisabled": Why.ACCESS_DENIED,
    "403": Why.ACCESS_DENIED,
    "InvalidAccessKeyId": Why.ACCESS_DENIED,
    "SignatureDoesNotMatch": Why.ACCESS_DENIED,
    "ExpiredToken": Why.ACCESS_DENIED,
    "InvalidObjectState": Why.COLD,
    "SlowDown": Why.THROTTLED,
    "Throttling": Why.THROTTLED,
    "ThrottlingException": Why.THROTTLED,
    "KMS.DisabledException": Why.ACCESS_DENIED,
    "KeyTooLongError": Why.BAD_URI,
    "InvalidBucketName": Why.BAD_URI,
}
_NO_CREDENTIALS: Final = (
    NoCredentialsError,
    PartialCredentialsError,
    CredentialRetrievalError,
    TokenRetrievalError,
    ProfileNotFound,
    SSOError,
)
_ERRORS: Final = (*AWS_ERRORS, HTTPError)


class S3:
    """Read objects by their URIs; the client is made when the first is asked for."""

    def __init__(self, client: Callable[[], Any], limit_bytes: int = LIMIT_BYTES) -> None:
        """Take what makes a boto3 client of S3, and the size of the largest object to read."""
        self._make = client
        self._limit_bytes = limit_bytes
        self._lock = Lock()
        self._client: Any = None

    def read(self, uri: str) -> Content | Refused:
        """Read the newest version of an object."""
        place = s3_object(uri)
        if place is None:
            return unreadable(Why.BAD_URI)
        refused = list[Refused]()
        for key in place.keys:
            read = self._get(Bucket=place.bucket, Key=key)
            if isinstance(read, Content):
                return read
            refused.append(read)
        # A name that may not be read may be there, whatever is said of the other.
        return next((one for one in refused if one.state is Source.UNREADABLE), refused[0])

    def older(self, uri: str, newest: str) -> Sequence[Version] | Refused:
        """List the versions before the newest; none where the bucket keeps none."""
        place = s3_object(uri)
        if place is None:
            return ()
        for key in place.keys:
            try:
                found = list(self._versions(place.bucket, key, newest))
            except _ERRORS as error:
                return _refused(error)
            if found:
                return found
        return ()

    def _versions(self, bucket: str, key: str, newest: str) -> Iterator[Version]:
        # In the order of keys, then of age: those of this very key come first.
        page = self._s3().list_object_versions(Bucket=bucket, Prefix=key, MaxKeys=_LISTED)
        listed = [one for one in page.get("Versions", ()) if one["Key"] == key and one["VersionId"] != newest]
        for one in listed[:VERSIONS]:
            written = one["LastModified"].astimezone(UTC)
            read = partial(self._get, Bucket=bucket, Key=key, VersionId=one["VersionId"])
            yield Version(one["VersionId"], f"{written:%Y-%m-%dT%H:%M:%SZ}", read)

    def _get(self, **place: str) -> Content | Refused:
        try:
            answer = self._s3().get_object(**place)
            with closing(answer["Body"]) as body:
                if answer["ContentLength"] > self._limit_bytes:
                    return unreadable(Why.TOO_LARGE)
                pieces = body.iter_chunks(_PIECE_BYTES)
                data = collected(pieces, answer.get("ContentEncoding", "").lower(), self._limit_bytes)
        except _ERRORS as error:
            return _refused(error)
        if isinstance(data, Refused):
            return data
        media_type, charset = media_type_and_charset(answer.get("ContentType", ""))
        name = place["Key"].rpartition("/")[2]
        return Content(data, name, media_type, charset, answer.get("VersionId", ""))

    def _s3(self) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
        # Making a client is not for two threads at once; using it is.
        with self._lock:
            if self._client is None:
                self._client = self._make()
            return self._client


def s3_client(region: str | None) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
    """Make a client; S3 itself says where a bucket of another Region lies."""
    # They take longer to import than a local answer takes.
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415

    session = boto3.Session()
    usual = session.region_name or _USUAL_REGION
    return session.client("s3", region_name=region or usual, config=Config(**_PATIENCE))


def _refused(error: Exception) -> Refused:
    if isinstance(error, ClientError):
        return _answered(error)
    if isinstance(error, _NO_CREDENTIALS):
        return unreadable(Why.NO_CREDENTIALS)
    if isinstance(error, (ConnectTimeoutError, ReadTimeoutError)):
        return unreadable(Why.TIMEOUT)
    return unreadable(Why.UNREACHABLE)


def _answered(error: ClientError) -> Refused:
    code = aws_code(error) or ""
    meta = error.response.get("ResponseMetadata", {})
    if why := _MISSING.get(code):
        return missing(Why.DELETED if meta.get("HTTPHeaders", {}).get(_MARKER) == "true" else why)
    if why := _UNREADABLE.get(code):
        return unreadable(why)
    return unreadable(Why.SERVER_ERROR if meta.get("HTTPStatusCode", 0) >= 500 else Why.FAILED)  # noqa: PLR2004 - HTTP
