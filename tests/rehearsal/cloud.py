"""Pretend to be AWS: objects in one file, and every operation in another, in order."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import string
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

RUNTIME: Final = "aws_bedrockagentcore_agent_runtime"
ENDPOINT: Final = "aws_bedrockagentcore_agent_runtime_endpoint"
LOG_GROUP: Final = "aws_cloudwatch_log_group"
_ON_BUCKET: Final = ("aws_s3_bucket", "bucket", "bucket")
_ON_GROUP: Final = (LOG_GROUP, "name", "log_group_name")


class RefusedError(Exception):
    """Say why the cloud refuses an operation."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Describe a type: `identity` names one object, `on` is its parent type, the parent's attribute and its own.

    `upserts`: making what is there replaces it, as AWS's Put operations do. `fixed`: what else AWS cannot change, so
    that another value needs another object. `renewed`: what every change gives a new value.
    """

    identity: tuple[str, ...] = ("name",)
    on: tuple[str, str, str] | None = None
    upserts: bool = False
    fixed: tuple[str, ...] = ()
    renewed: tuple[str, ...] = ()


_PUT_ON_BUCKET: Final = Kind(("bucket",), _ON_BUCKET, upserts=True)
_PUT_ON_GROUP: Final = Kind(("log_group_name",), _ON_GROUP, upserts=True)
KINDS: Final[Mapping[str, Kind]] = {
    RUNTIME: Kind(("agent_runtime_name",), renewed=("agent_runtime_version",)),
    ENDPOINT: Kind(("agent_runtime_id", "name"), (RUNTIME, "agent_runtime_id", "agent_runtime_id")),
    "aws_cloudwatch_dashboard": Kind(("dashboard_name",), upserts=True),
    "aws_cloudwatch_log_account_policy": Kind(("policy_name", "policy_type"), upserts=True),
    "aws_cloudwatch_log_data_protection_policy": _PUT_ON_GROUP,
    "aws_cloudwatch_log_index_policy": _PUT_ON_GROUP,
    "aws_cloudwatch_log_metric_filter": Kind(("log_group_name", "name"), _ON_GROUP, upserts=True),
    "aws_cloudwatch_log_resource_policy": Kind(("policy_name",), upserts=True),
    "aws_cloudwatch_metric_alarm": Kind(("alarm_name",), upserts=True),
    "aws_ecr_lifecycle_policy": Kind(("repository",), ("aws_ecr_repository", "name", "repository"), upserts=True),
    "aws_iam_role_policy": Kind(("role", "name"), ("aws_iam_role", "name", "role"), upserts=True),
    # A key's own name is drawn: what it says of itself is one of its environment's.
    "aws_kms_key": Kind(("description",)),
    "aws_s3_bucket": Kind(("bucket",), fixed=("object_lock_enabled",)),
    "aws_s3_bucket_lifecycle_configuration": _PUT_ON_BUCKET,
    "aws_s3_bucket_object_lock_configuration": _PUT_ON_BUCKET,
    "aws_s3_bucket_ownership_controls": _PUT_ON_BUCKET,
    "aws_s3_bucket_policy": _PUT_ON_BUCKET,
    "aws_s3_bucket_public_access_block": _PUT_ON_BUCKET,
    "aws_s3_bucket_server_side_encryption_configuration": _PUT_ON_BUCKET,
    "aws_s3_bucket_versioning": _PUT_ON_BUCKET,
    "aws_s3_object": Kind(("bucket", "key"), _ON_BUCKET, upserts=True, renewed=("version_id",)),
    "aws_scheduler_schedule": Kind(("group_name", "name"), ("aws_scheduler_schedule_group", "name", "group_name")),
    "aws_sns_topic_policy": Kind(("arn",), ("aws_sns_topic", "arn", "arn"), upserts=True),
    "aws_xray_indexing_rule": Kind(upserts=True),
    "aws_xray_trace_segment_destination": Kind((), upserts=True),
}
"""Every other type is named by its `name` and must not exist yet."""

_Objects = Mapping[str, dict[str, Any]]
# A parent goes only after these: AWS answers with a conflict.
_HOLD_PARENT: Final = frozenset({ENDPOINT, "aws_iam_role_policy", "aws_s3_object"})


def kind_of(type_name: str) -> Kind:
    """Describe a type."""
    return KINDS.get(type_name, Kind())


@dataclass(frozen=True, slots=True)
class Cloud:
    """Hold one account and Region in a folder; several Terraform processes may use it at once.

    Attributes:
        slow: types that take their time to make.
    """

    folder: Path
    account_id: str
    region: str = "us-east-1"
    slow: frozenset[str] = frozenset()

    def objects(self) -> dict[str, dict[str, Any]]:
        """Read what exists: attributes by `<type>/<identity>`."""
        path = self.folder / "objects.json"
        found: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def operations(self) -> list[tuple[str, str]]:
        """Read what was done: (operation, key) in order."""
        lines = (self.folder / "operations.jsonl").read_text().splitlines()
        return [(operation, key) for operation, key in map(json.loads, lines)]

    def create(self, type_name: str, wanted: dict[str, Any]) -> dict[str, Any]:
        """Make an object, and invent what the cloud gives it."""
        key, kind = _key(type_name, wanted), kind_of(type_name)
        if type_name in self.slow:
            time.sleep(0.3)
        with self._changing("create", key) as objects:
            if key in objects and not kind.upserts:
                message = f"{key} already exists"
                raise RefusedError(message)
            if kind.on and not any(_parents(objects, kind.on, wanted)):
                message = f"{key}: there is no {kind.on[0]} {wanted[kind.on[2]]}"
                raise RefusedError(message)
            objects[key] = made = self._invent(type_name, wanted)
        return made

    def read(self, type_name: str, known: dict[str, Any]) -> dict[str, Any] | None:
        """Read an object, or None where it is gone."""
        return self.objects().get(_key(type_name, known))

    def find(self, type_name: str, own: str) -> dict[str, Any]:
        """Find an object by the last part of its key, as an import names it."""
        found = self.objects().get(f"{type_name}/{own}")
        if found is None:
            message = f"Cannot import non-existent remote object: there is no {type_name}/{own}"
            raise RefusedError(message)
        return found

    def update(self, type_name: str, wanted: dict[str, Any]) -> dict[str, Any]:
        """Change an object in place; a runtime gets its next version."""
        key = _key(type_name, wanted)
        with self._changing("update", key) as objects:
            if type_name == RUNTIME:
                wanted |= {"agent_runtime_version": str(int(objects[key]["agent_runtime_version"]) + 1)}
            objects[key] = made = self._invent(type_name, wanted)
        return made

    def delete(self, type_name: str, known: dict[str, Any]) -> None:
        """Remove an object, unless something protects it."""
        key = _key(type_name, known)
        if known.get("skip_destroy"):
            with self._changing("leave", key):
                return
        with self._changing("delete", key) as objects:
            held = objects.get(key, {})
            if held.get("deletion_protection_enabled"):
                message = f"{key}: deletion protection is enabled"
                raise RefusedError(message)
            if held.get("attachment_count"):
                message = f"{key}: DeleteConflict: the policy is attached"
                raise RefusedError(message)
            if children := list(_children(objects, type_name, held)):
                message = f"{key}: {children[0]} must be deleted first"
                raise RefusedError(message)
            objects.pop(key, None)

    def lose(self, key: str) -> None:
        """Forget an object, as if it had never been made."""
        with self._changing("lose", key) as objects:
            del objects[key]

    @contextmanager
    def _changing(self, operation: str, key: str) -> Iterator[dict[str, dict[str, Any]]]:
        """Lend the objects for one operation; a refused one changes and logs nothing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            objects = self.objects()
            yield objects
            draft = self.folder / "objects.draft"
            draft.write_text(json.dumps(objects, indent=1, sort_keys=True))
            draft.replace(self.folder / "objects.json")
            with (self.folder / "operations.jsonl").open("a") as log:
                log.write(json.dumps([operation, key]) + os.linesep)

    def _invent(self, type_name: str, wanted: dict[str, Any]) -> dict[str, Any]:
        """Fill what Terraform does not know: `...` stands for it."""
        own = "/".join(str(wanted[part]) for part in kind_of(type_name).identity) or self.account_id
        given: dict[str, Any] = {"id": own, "region": self.region, "registry_id": self.account_id}
        given["arn"] = self._arn(type_name, own)
        if type_name == RUNTIME:
            letters = (secrets.choice(string.ascii_letters + string.digits) for _ in range(10))
            known = wanted["agent_runtime_id"]
            runtime_id = f"{own}-{''.join(letters)}" if known is ... else known
            runtime_arn = self._arn("bedrock-agentcore", f"runtime/{runtime_id}")
            given |= {"agent_runtime_id": runtime_id, "agent_runtime_version": "1", "agent_runtime_arn": runtime_arn}
        if type_name == ENDPOINT:
            runtime_arn = self._arn("bedrock-agentcore", f"runtime/{wanted['agent_runtime_id']}")
            endpoint_arn = f"{runtime_arn}/runtime-endpoint/{wanted['name']}"
            given |= {"agent_runtime_arn": runtime_arn, "agent_runtime_endpoint_arn": endpoint_arn}
        if type_name == "aws_s3_object":
            given["version_id"] = secrets.token_hex(8)
        if type_name == "aws_iam_policy":
            given["attachment_count"] = 0
        if type_name == "aws_ecr_repository":
            given["repository_url"] = f"{self.account_id}.dkr.ecr.{self.region}.amazonaws.com/{own}"
        return {name: given.get(name, "pretend") if value is ... else value for name, value in wanted.items()}

    def _arn(self, service: str, own: str) -> str:
        match service:
            case "aws_s3_bucket":
                return f"arn:aws:s3:::{own}"
            case "aws_cloudwatch_log_group":
                service, own = "logs", f"log-group:{own}"
            case _:
                service = service.removeprefix("aws_")
        return f"arn:aws:{service}:{self.region}:{self.account_id}:{own}"


def _key(type_name: str, attributes: Mapping[str, Any]) -> str:
    return "/".join([type_name, *(str(attributes[part]) for part in kind_of(type_name).identity)])


def _parents(objects: _Objects, on: tuple[str, str, str], child: Mapping[str, Any]) -> Iterator[str]:
    type_name, attribute, own = on
    found = (key for key in objects if key.startswith(f"{type_name}/"))
    return (key for key in found if objects[key][attribute] == child[own])


def _children(objects: _Objects, type_name: str, parent: Mapping[str, Any]) -> Iterator[str]:
    """Find what AWS wants gone before a parent goes."""
    for key, child in objects.items():
        child_type = key.partition("/")[0]
        on = kind_of(child_type).on
        if child_type in _HOLD_PARENT and on and on[0] == type_name and child[on[2]] == parent.get(on[1]):
            yield key
