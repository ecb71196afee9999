"""Move a stack's state between a file and a bucket: the same bytes, never over another state or a newer one.

Neither `terraform init -migrate-state` nor the framework CLI's `--migrate-state`: both look for the old place in a
stack's folder, which a new clone or `make clean` has not got; the CLI answers yes to whatever Terraform asks; and in a
place that was empty Terraform gives the state a new lineage, so that it no longer knows its own copies.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.preflight import OperationError
from stacks.remote_state.place import RemoteState, key_of


@dataclass(frozen=True, slots=True)
class State:
    """Hold a state as Terraform wrote it, and what tells it from others."""

    text: str
    lineage: str
    serial: int
    resources: int

    def replaces(self, held: State | None) -> bool:
        """Tell whether this may take another's place: nothing, the same state, or an older one of its line."""
        return held is None or self == held or (self.lineage == held.lineage and self.serial > held.serial)


def read(text: str, place: str) -> State:
    """Read a state.

    Raises:
        OperationError: it is none that this version of Terraform writes.
    """
    try:
        found = json.loads(text)
        return State(text, str(found["lineage"]), int(found["serial"]), len(found["resources"]))
    except (ValueError, KeyError, TypeError) as error:
        message = f"{place}: is no Terraform state ({type(error).__name__}); nothing was moved"
        raise OperationError(message) from error


def write_file(path: Path, state: State) -> None:
    """Write a state beside the project, whole or not at all.

    Raises:
        OperationError: the file holds another state, or a newer one.
    """
    _refuse_over(read(path.read_text(), str(path)) if path.is_file() else None, state, str(path))
    draft = path.with_name(f"{path.name}.draft")
    draft.write_text(state.text)
    draft.replace(path)


class Bucket:
    """Read and write states in a bucket; every method raises OperationError where AWS refuses."""

    def __init__(self, remote: RemoteState) -> None:
        """Open the bucket with the credentials that there are."""
        # Only here: boto3 takes longer to import than the other commands take to run.
        import boto3  # noqa: PLC0415 - see above
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - see above

        self._remote = remote
        self._client = boto3.client("s3", region_name=remote.region)
        self._errors = (BotoCoreError, ClientError)

    def read(self, stack: str) -> State | None:
        """Read a stack's state, or None where there is none."""
        found = self._get(stack)
        return None if found is None else found[0]

    def write(self, stack: str, state: State) -> None:
        """Write a stack's state, unless Terraform holds the lock or the bucket holds another state or a newer one."""
        place = self._place(stack)
        if self._is_locked(stack):
            message = f"{place}.tflock: Terraform is at work on this state; wait, then move again"
            raise OperationError(message)
        found = self._get(stack)
        _refuse_over(None if found is None else found[0], state, place)
        condition = {"IfNoneMatch": "*"} if found is None else {"IfMatch": found[1]}
        key = self._remote.kms_key_arn
        encryption = {"ServerSideEncryption": "AES256"} if key is None else _under(key)
        self._ask(
            "put_object",
            place,
            **self._object(stack),
            **condition,
            **encryption,
            Body=state.text.encode(),
            ContentType="application/json",
        )

    def _get(self, stack: str) -> tuple[State, str] | None:
        place = self._place(stack)
        answer = self._ask("get_object", place, **self._object(stack))
        if answer is None:
            return None
        with answer["Body"] as body:
            return read(body.read().decode(), place), answer["ETag"]

    def _is_locked(self, stack: str) -> bool:
        lock = {**self._object(stack), "Key": f"{key_of(stack)}.tflock"}
        return self._ask("head_object", f"{self._place(stack)}.tflock", **lock) is not None

    def _place(self, stack: str) -> str:
        return f"s3://{self._remote.bucket}/{key_of(stack)}"

    def _object(self, stack: str) -> dict[str, str]:
        owner = self._remote.account_id
        named = {"Bucket": self._remote.bucket, "Key": key_of(stack)}
        return named if owner is None else {**named, "ExpectedBucketOwner": owner}

    def _ask(self, operation: str, place: str, **arguments: Any) -> dict[str, Any] | None:
        """Ask S3; None where there is no such object."""
        try:
            answer: dict[str, Any] = getattr(self._client, operation)(**arguments)
        except self._errors as error:
            response: dict[str, Any] = getattr(error, "response", {})
            if operation != "put_object" and response.get("Error", {}).get("Code") in {"NoSuchKey", "404"}:
                return None
            message = f"{place}: {error}; nothing was moved"
            raise OperationError(message) from error
        return answer


def _under(key: str) -> dict[str, str]:
    return {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": key}


def _refuse_over(held: State | None, state: State, place: str) -> None:
    if held is not None and not state.replaces(held):
        same_line = state.lineage == held.lineage
        other = f"number {held.serial} of this state, not number {state.serial}" if same_line else "another state"
        message = (
            f"{place}: holds {other}; nothing was moved. Decide which is right and take the other away "
            "(a bucket keeps its versions), then move again"
        )
        raise OperationError(message)
