"""Build private buckets: an environment's archive and audit, an account's bundles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from stacks.bindings import json_number
from stacks.foundation import guarded
from stacks.framework import TerraformElement, TerraformStack, aws
from stacks.names import Place

OLD_VERSIONS_KEPT: Final = 20
"""Versions of an object that stay beside the newest, whatever their age."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """Say after how many days the objects of a prefix are deleted."""

    id: str
    prefix: str
    days: int


@dataclass(frozen=True, slots=True)
class BucketPlan:
    """Describe one bucket.

    Attributes:
        versioned: keep what an object was before. The archive is unversioned, so that an erased text is gone.
        locked_days: days that no one can delete an object version (Object Lock, compliance mode), or None.
        expiries: what is deleted by itself; all else stays.
        old_versions_days: days that a version which is no longer the newest stays, or None: for ever.
    """

    id: str
    name: str
    place: Place
    kms_key_arn: str | None
    keep: bool
    versioned: bool
    locked_days: Decimal | None = None
    expiries: tuple[Expiry, ...] = ()
    old_versions_days: int | None = None


@dataclass(frozen=True, slots=True)
class Bucket:
    """Hold a bucket, and everything that must stand before the first object."""

    bucket: Any
    parts: tuple[TerraformElement, ...]


def build(stack: TerraformStack, plan: BucketPlan) -> Bucket:
    """Declare a private, encrypted, TLS-only bucket."""
    lifecycle = guarded(keep=plan.keep)
    bucket = aws.s3_bucket.S3Bucket(
        stack,
        plan.id,
        bucket=plan.name,
        force_destroy=not plan.keep,
        object_lock_enabled=True if plan.locked_days else None,
        lifecycle=lifecycle,
    )
    common = {"bucket": bucket.id, "lifecycle": lifecycle}
    parts = [
        aws.s3_bucket_public_access_block.S3BucketPublicAccessBlock(
            stack,
            f"{plan.id}-private",
            **common,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
        ),
        aws.s3_bucket_ownership_controls.S3BucketOwnershipControls(
            stack, f"{plan.id}-ownership", **common, rule={"object_ownership": "BucketOwnerEnforced"}
        ),
        _encrypt(stack, plan, common),
        aws.s3_bucket_policy.S3BucketPolicy(
            stack, f"{plan.id}-tls-only", **common, policy=json.dumps(_tls_only(plan), separators=(",", ":"))
        ),
        _expire(stack, plan, common),
        *(_keep_versions(stack, plan, common) if plan.versioned else ()),
    ]
    return Bucket(bucket, (bucket, *parts))


def _encrypt(stack: TerraformStack, plan: BucketPlan, common: dict[str, Any]) -> Any:
    module = aws.s3_bucket_server_side_encryption_configuration
    default = module.S3BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultA(
        sse_algorithm="aws:kms" if plan.kms_key_arn else "AES256", kms_master_key_id=plan.kms_key_arn
    )
    rule = module.S3BucketServerSideEncryptionConfigurationRuleA(
        apply_server_side_encryption_by_default=default, bucket_key_enabled=plan.kms_key_arn is not None
    )
    return module.S3BucketServerSideEncryptionConfigurationA(stack, f"{plan.id}-encryption", **common, rule=[rule])


def _expire(stack: TerraformStack, plan: BucketPlan, common: dict[str, Any]) -> Any:
    """Drop uploads that never ended, and what expires; a bucket takes one such configuration."""
    abort = _rule_part("AbortIncompleteMultipartUpload", days_after_initiation=1)
    rules = [
        _rule("drop-unfinished-uploads", prefix="", abort_incomplete_multipart_upload=[abort]),
        *(
            _rule(expiry.id, prefix=expiry.prefix, expiration=[_rule_part("Expiration", days=expiry.days)])
            for expiry in plan.expiries
        ),
        *([] if plan.old_versions_days is None else [_drop_old_versions(plan.old_versions_days)]),
    ]
    module = aws.s3_bucket_lifecycle_configuration
    return module.S3BucketLifecycleConfiguration(stack, f"{plan.id}-uploads", **common, rule=rules)


def _drop_old_versions(days: int) -> Any:
    """Drop old versions, however old never the newest of them, and marks of deletion that nothing lies under."""
    return _rule(
        "drop-old-versions",
        prefix="",
        noncurrent_version_expiration=[
            _rule_part("NoncurrentVersionExpiration", noncurrent_days=days, newer_noncurrent_versions=OLD_VERSIONS_KEPT)
        ],
        expiration=[_rule_part("Expiration", expired_object_delete_marker=True)],
    )


def _rule(id_: str, *, prefix: str, **does: Any) -> Any:
    return _rule_part("", id=id_, status="Enabled", filter=[_rule_part("Filter", prefix=prefix)], **does)


def _rule_part(part: str, **arguments: Any) -> Any:
    """Build a lifecycle rule, or one block of it; the bindings take no plain mapping within a list."""
    name = f"S3BucketLifecycleConfigurationRule{part}"
    return getattr(aws.s3_bucket_lifecycle_configuration, name)(**arguments)


def _keep_versions(stack: TerraformStack, plan: BucketPlan, common: dict[str, Any]) -> Iterator[TerraformElement]:
    versioning = aws.s3_bucket_versioning.S3BucketVersioningA(
        stack, f"{plan.id}-versions", **common, versioning_configuration={"status": "Enabled"}
    )
    yield versioning
    if plan.locked_days:
        retention = {"mode": "COMPLIANCE", "days": json_number(plan.locked_days)}
        yield aws.s3_bucket_object_lock_configuration.S3BucketObjectLockConfigurationA(
            stack,
            f"{plan.id}-lock",
            **common,
            rule={"default_retention": retention},
            depends_on=[versioning],
        )


def _tls_only(plan: BucketPlan) -> dict[str, Any]:
    arn = plan.place.bucket_arn(plan.name)
    statement = {
        "Sid": "TlsOnly",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [arn, f"{arn}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    return {"Version": "2012-10-17", "Statement": [statement]}
