"""Check what is derived from settings against AWS's limits, before anything is synthesised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stacks.policies import execution_role
from stacks.policies.pipeline_ground import ground_of
from stacks.policies.pipeline_rights import parts
from stacks.policies.statement import rendered
from stacks.settings.fault import Fault, SettingsError
from stacks.settings.load import AccountSettings, EnvironmentSettings, Settings

MANAGED_POLICY_LIMIT: Final = 6_144
"""Characters of one managed policy (IAM quotas)."""
INLINE_POLICY_LIMIT: Final = 10_240
"""Characters of all inline policies of one role (IAM quotas)."""


def within_limits(settings: Settings) -> Settings:
    """Give the settings back if all that follows from them fits.

    Raises:
        SettingsError: something is too long; AWS would refuse it in the middle of a deployment.
    """
    faults = [fault for environment in settings.environments for fault in _faults(environment)]
    faults += [fault for account in settings.accounts for fault in _pipeline_faults(account, settings)]
    if faults:
        raise SettingsError(faults)
    return settings


def _faults(environment: EnvironmentSettings) -> Iterator[Fault]:
    permissions = rendered(execution_role.permissions(execution_role.reach_of(environment)))
    # A role that was brought may spread them over managed policies.
    if environment.declared.role.arn is None and len(permissions) > INLINE_POLICY_LIMIT:
        problem = f"make the role's policy {len(permissions):,} characters long"
        allowed = f"allowed: {INLINE_POLICY_LIMIT:,}; list fewer models"
        yield Fault(environment.source.shown_as, "agent.models", problem, None, allowed)


def _pipeline_faults(account: AccountSettings, settings: Settings) -> Iterator[Fault]:
    if account.declared.pipeline is None:
        return
    for part, statements in parts(ground_of(account, settings), "deploy").items():
        if (length := len(rendered(statements))) > MANAGED_POLICY_LIMIT:
            problem = f"makes the policy {part} {length:,} characters long"
            allowed = f"allowed: {MANAGED_POLICY_LIMIT:,}; deploy fewer environments to one account"
            yield Fault(account.source.shown_as, "pipeline", problem, None, allowed)
