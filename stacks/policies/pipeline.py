"""State what whoever builds and deploys may do with bundles of code: AWS reads one as the caller, not as the agent."""

from __future__ import annotations

from stacks.names import BUNDLE_KEY, Place, bundle_bucket
from stacks.policies.kms import via_services
from stacks.policies.statement import Statement


def statements(place: Place, kms_key_arn: str | None) -> tuple[Statement, ...]:
    """Grant the account's one bundle, and the account's key where it encrypts it."""
    bundle = (f"{place.bucket_arn(bundle_bucket(place))}/{BUNDLE_KEY}",)
    key = Statement(
        sid="UseBundleKey",
        why="The bundle is encrypted with the account's key.",
        actions=("kms:Decrypt", "kms:GenerateDataKey"),
        resources=() if kms_key_arn is None else (kms_key_arn,),
        conditions=(via_services(place, "s3"),),
    )
    return (
        Statement(
            sid="StoreBundle",
            why="`make bundle` stores each bundle as a new version of one object.",
            actions=("s3:PutObject",),
            resources=bundle,
        ),
        Statement(
            sid="HandBundleOver",
            why="AgentCore reads the bundle with the rights of whoever creates or updates the runtime.",
            actions=("s3:GetObject", "s3:GetObjectVersion"),
            resources=bundle,
        ),
        *(() if kms_key_arn is None else (key,)),
    )
