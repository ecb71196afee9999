"""Compose the bucket that holds an account's Terraform state: a stack of its own, whose own state is a local file."""

from __future__ import annotations

from typing import Final

from stacks import foundation
from stacks.framework import App, TerraformStack
from stacks.names import bootstrap_stack, place_of, state_bucket
from stacks.remote_state.place import remote_state
from stacks.settings.load import AccountSettings
from stacks.storage.bucket import BucketPlan, build

OLD_STATE_DAYS: Final = 90
"""Days that a state which was overwritten can be taken back."""


class BootstrapStack(TerraformStack):
    """Hold the state bucket, which no other stack refers to.

    A local state is enough for it: what a lost file held is taken back from AWS, since all of it follows from the
    account file.
    """

    def __init__(self, app: App, account: AccountSettings) -> None:
        """Compose the stack `bootstrap-<alias>`."""
        super().__init__(app, bootstrap_stack(account.alias))
        declared, place, state = account.declared, place_of(account), remote_state(account)
        tags = {"Environment": "account", "Owner": declared.owner, "CostCenter": declared.cost_center}
        foundation.lay(self, account=account, tags=tags, sources=[account.source], local_state=True)
        bucket = BucketPlan(
            "state",
            state_bucket(place),
            place,
            None if state is None else state.kms_key_arn,
            keep=True,
            versioned=True,
            old_versions_days=OLD_STATE_DAYS,
        )
        build(self, bucket)
        foundation.output(self, "state_bucket", bucket.name, "Where Terraform keeps the state of this account's stacks")
