"""Tell where the state of an account's stacks lies: all of it follows from the settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacks.names import account_stack, agent_stack, place_of, state_bucket
from stacks.settings.load import AccountSettings, Settings
from stacks.settings.model import S3State


@dataclass(frozen=True, slots=True)
class RemoteState:
    """Name the bucket that holds the state of an account's stacks.

    Attributes:
        account_id: the account that the bucket must belong to, or None where it may be anybody's.
    """

    bucket: str
    region: str
    kms_key_arn: str | None
    account_id: str | None

    def backend(self, stack: str) -> dict[str, Any]:
        """Give the arguments of Terraform's S3 backend for one stack."""
        arguments = {
            "bucket": self.bucket,
            "key": key_of(stack),
            "region": self.region,
            "encrypt": True,
            "use_lockfile": True,
        }
        return arguments if self.kms_key_arn is None else {**arguments, "kms_key_id": self.kms_key_arn}


def remote_state(account: AccountSettings) -> RemoteState | None:
    """Tell where an account file puts the state, or None where it lies beside the project."""
    state, place = account.declared.state, place_of(account)
    if not isinstance(state, S3State):
        return None
    if state.bucket is None:
        return RemoteState(state_bucket(place), place.region, state.kms_key_arn, place.account_id)
    return RemoteState(state.bucket, state.region or place.region, state.kms_key_arn, None)


def is_bootstrapped(account: AccountSettings) -> bool:
    """Tell whether `make bootstrap` makes the bucket: a bucket that the file names is somebody else's affair."""
    return isinstance(account.declared.state, S3State) and account.declared.state.bucket is None


def key_of(stack: str) -> str:
    """Name the object that holds one stack's state."""
    return f"{stack}/terraform.tfstate"


def local_file(stack: str) -> str:
    """Name the file that holds one stack's state, beside the project."""
    return f"terraform.{stack}.tfstate"


def stacks_of(settings: Settings, account: AccountSettings) -> tuple[str, ...]:
    """List the stacks of an account that share its state bucket."""
    environments = (environment for environment in settings.environments if environment.account == account)
    return account_stack(account.alias), *(agent_stack(environment.name) for environment in environments)
