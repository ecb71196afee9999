"""Keep documents that are too long for an item of DynamoDB in S3, each under the digest of its bytes."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from opentelemetry.instrumentation.utils import suppress_instrumentation

from agent_image.contract import STATE_OBJECT_PREFIX
from agent_image.errors import StoreError
from agent_image.retrieval.failure import AWS_ERRORS, aws_code, aws_failure
from agent_image.stores.refusal import refusal

_NO_OBJECT: Final = "NoSuchKey"


class LargeState:
    """Hold long documents in one bucket.

    Who holds a digest gets the text that it was made of, or an error: never another text.
    """

    def __init__(self, bucket: str, client: Any) -> None:  # noqa: ANN401 - a boto3 client has no type
        """Take the bucket and its client."""
        self._bucket = bucket
        self._client = client

    def put(self, text: str) -> str:
        """Write a text; gives its digest. A text that is there is written again: its time in the bucket starts anew.

        Raises:
            StoreUnavailable: the text may not be there.
        """
        data = text.encode()
        digest = sha256(data).hexdigest()
        try:
            with suppress_instrumentation():
                self._client.put_object(**self._object(digest), Body=data, ContentType="application/json")
        except AWS_ERRORS as error:
            raise refusal(aws_failure(error)) from None
        return digest

    def get(self, digest: str) -> str:
        """Read a text.

        Raises:
            StoreError: there is none, or it is not the one of the digest.
            StoreUnavailable: S3 did not answer.
        """
        try:
            with suppress_instrumentation():
                data: bytes = self._client.get_object(**self._object(digest))["Body"].read()
        except AWS_ERRORS as error:
            if aws_code(error) == _NO_OBJECT:
                raise StoreError("state_missing", "A record's text is no longer in the store.") from None
            raise refusal(aws_failure(error)) from None
        if sha256(data).hexdigest() != digest:
            raise StoreError("state_changed", "A record's text in the store is not the one that was written.")
        return data.decode()

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def _object(self, digest: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": f"{STATE_OBJECT_PREFIX}{digest}"}
