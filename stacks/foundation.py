"""Lay what every stack stands on: provider, state backend, tags and the digests of its settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent_image.contract import SETTINGS_DIGESTS
from stacks.framework import (
    PROVIDER_SOURCE,
    PROVIDER_VERSION,
    LocalBackend,
    S3Backend,
    TerraformLocal,
    TerraformOutput,
    TerraformResourceLifecycle,
    TerraformStack,
    aws,
)
from stacks.remote_state.place import RemoteState, local_file, remote_state
from stacks.settings.load import AccountSettings, Source

PROJECT: Final = "rastro"


def lay(
    stack: TerraformStack,
    *,
    account: AccountSettings,
    tags: dict[str, str],
    sources: Iterable[Source],
    local_state: bool = False,
) -> None:
    """Declare provider, backend and settings digests of a stack; `local_state` whatever the account file says.

    A wrong account is refused by Terraform itself. The digests let the cost model refuse output that is older than the
    settings it came from.
    """
    aws.provider.AwsProvider(
        stack,
        "aws",
        region=account.declared.region,
        allowed_account_ids=[account.declared.account_id],
        default_tags=[aws.provider.AwsProviderDefaultTags(tags={"Project": PROJECT, "ManagedBy": "cdktf", **tags})],
    )
    # The bindings pin the version they were generated from, and on OpenTofu a bare source is ambiguous.
    stack.add_override("terraform.required_providers.aws.version", PROVIDER_VERSION)
    stack.add_override("terraform.required_providers.aws.source", PROVIDER_SOURCE)
    _declare_backend(stack, None if local_state else remote_state(account))
    digests = TerraformLocal(stack, "settings", {source.file: source.digest for source in sources})
    digests.override_logical_id(SETTINGS_DIGESTS)


def _declare_backend(stack: TerraformStack, remote: RemoteState | None) -> None:
    if remote is None:
        # Terraform runs in cdktf.out/stacks/<stack>, which is thrown away: the state lies three folders up, beside it.
        LocalBackend(stack, path=f"../../../{local_file(stack.node.id)}")
        return
    arguments = remote.backend(stack.node.id)
    # An argument in one framework and unknown to the other: the override serves both.
    lock = arguments.pop("use_lockfile")
    S3Backend(stack, **arguments).add_override("use_lockfile", value=lock)


def output(stack: TerraformStack, name: str, value: object, description: str) -> None:
    """Declare an output of a stack."""
    TerraformOutput(stack, name, value=value, description=description)


def let_go(stack: TerraformStack, addresses: Iterable[str]) -> None:
    """Tell Terraform to forget resources that are not declared, instead of destroying them.

    `prevent_destroy` leaves with the declaration that carries it; this stays, and does nothing where nothing is held.
    """
    removed = [{"from": address, "lifecycle": {"destroy": False}} for address in addresses]
    if removed:
        stack.add_override("removed", removed)


def guarded(*, keep: bool) -> TerraformResourceLifecycle | None:
    """Make Terraform refuse to destroy what holds the trail, or let it."""
    return TerraformResourceLifecycle(prevent_destroy=True) if keep else None
