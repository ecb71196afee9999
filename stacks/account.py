"""Compose what exists once per AWS account and Region."""

from __future__ import annotations

from collections.abc import Sequence

from stacks import foundation, pipeline
from stacks.framework import App, TerraformStack, aws
from stacks.names import account_stack, bundle_bucket, place_of
from stacks.observability import masking, transaction_search
from stacks.policies.pipeline_ground import ground_of
from stacks.policies.promotion import Reader
from stacks.settings.load import AccountSettings, Settings
from stacks.storage import repository
from stacks.storage.bucket import BucketPlan
from stacks.storage.bucket import build as build_bucket


class AccountStack(TerraformStack):
    """Hold the singletons that environments share and must not fight over."""

    def __init__(self, app: App, account: AccountSettings, settings: Settings) -> None:
        """Compose the stack `account-<alias>`."""
        super().__init__(app, account_stack(account.alias))
        declared, place = account.declared, place_of(account)
        tags = {"Environment": "account", "Owner": declared.owner, "CostCenter": declared.cost_center}
        foundation.lay(self, account=account, tags=tags, sources=[account.source])
        if declared.manage_transaction_search:
            transaction_search.build(self, place=place, indexing_percentage=declared.indexing_percentage)
        else:
            # To destroy the policy would lose every span of the account: whoever manages it now takes it as it is.
            foundation.let_go(self, transaction_search.ADDRESSES)
        images = repository.build(
            self, kms_key_arn=declared.kms_key_arn, readers=_readers(declared.promotes_to, settings)
        )
        # Always there, as the repository is: an empty bucket costs nothing, and an environment may change its artifact.
        bundles = BucketPlan("bundles", bundle_bucket(place), place, declared.kms_key_arn, keep=True, versioned=True)
        build_bucket(self, bundles)
        self._mask_whole_account(account, place.partition)
        if declared.pipeline is not None:
            pipeline.build(self, declared.pipeline, ground_of(account, settings))
        foundation.output(self, "region", place.region, "Region of this account stack")
        foundation.output(self, "repository_url", images.repository_url, "Where images of the agent are pushed")
        foundation.output(self, "bundle_bucket", bundles.name, "Where bundles of the agent's code are stored")

    def _mask_whole_account(self, account: AccountSettings, partition: str) -> None:
        declared = account.declared.masking
        name = f"rastro-{account.alias}"
        document = masking.document(
            name=name, partition=partition, identifiers=declared.identifiers, patterns=declared.patterns
        )
        if document is not None:
            aws.cloudwatch_log_account_policy.CloudwatchLogAccountPolicy(
                self,
                "masking",
                policy_name=name,
                policy_type="DATA_PROTECTION_POLICY",
                policy_document=masking.rendered(document),
                scope="ALL",
            )


def _readers(aliases: Sequence[str], settings: Settings) -> tuple[Reader, ...]:
    """Find the accounts that images are promoted to."""
    found = {account.alias: place_of(account) for account in settings.accounts}
    return tuple(Reader(alias, found[alias].account_id, found[alias].partition) for alias in aliases)
