"""Check, before Terraform is asked anything, what would make a deployment fail or go to the wrong place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from stacks.settings.fault import nearest
from stacks.settings.load import AccountSettings, EnvironmentSettings, Settings

DOCUMENTATION_ACCOUNTS: Final = frozenset({"111122223333", "123456789012", "444455556666", "777788889999"})
"""Account ids that AWS's documentation uses: nobody's account, so nothing can be deployed there."""
PLACEHOLDER_IMAGE: Final = f"sha256:{'0' * 64}"
PLACEHOLDER_BUNDLE: Final = "0" * 32
OLDEST_TERRAFORM: Final = (1, 10)
"""The first version with S3's native lock file."""


class OperationError(Exception):
    """Say why an operation cannot start, one reason a line."""


def refuse_any(problems: Iterable[str | None]) -> None:
    """Refuse with every problem that there is."""
    if found := [problem for problem in problems if problem]:
        raise OperationError("\n".join(found))


@dataclass(frozen=True, slots=True)
class Terraform:
    """Describe the Terraform that was found: its first line of `terraform version`, or None where there is none."""

    version_line: str | None

    def problem(self) -> str | None:
        """Say in one line what is wrong with it, or None."""
        oldest = ".".join(map(str, OLDEST_TERRAFORM))
        if self.version_line is None:
            return (
                f"terraform is not on PATH: install Terraform {oldest} or newer (synth, cost, demo and test do without)"
            )
        found = re.search(r"v(\d+)\.(\d+)", self.version_line)
        if found is not None and tuple(map(int, found.groups())) < OLDEST_TERRAFORM:
            return f"{self.version_line}: is too old; allowed: {oldest} or newer"
        return None


def find_environment(settings: Settings, name: str) -> EnvironmentSettings:
    """Find an environment by its name."""
    known = {environment.name: environment for environment in settings.environments}
    if name not in known:
        message = f"environment {name!r}: there is no such file in environments/; {nearest(name, known)}"
        raise OperationError(message)
    return known[name]


def find_account(settings: Settings, alias: str) -> AccountSettings:
    """Find an account by its alias."""
    known = {account.alias: account for account in settings.accounts}
    if alias not in known:
        message = f"account {alias!r}: there is no such file in environments/accounts/; {nearest(alias, known)}"
        raise OperationError(message)
    return known[alias]


def account_problems(account: AccountSettings) -> Iterator[str]:
    """Say what keeps an account from being deployed to."""
    if account.declared.account_id in DOCUMENTATION_ACCOUNTS:
        yield (
            f"environments/{account.source.file}: account_id = {account.declared.account_id}: is one of AWS's "
            "documentation ids, nobody's account; write your own"
        )


def environment_problems(environment: EnvironmentSettings) -> Iterator[str]:
    """Say what keeps an environment from being deployed."""
    yield from account_problems(environment.account)
    agent = environment.declared.agent
    for key, value, placeholder in (
        ("image", agent.image, PLACEHOLDER_IMAGE),
        ("bundle", agent.bundle, PLACEHOLDER_BUNDLE),
    ):
        if value == placeholder:
            yield (
                f"environments/{environment.source.file}: agent.{key}: is the placeholder; "
                f"`make {key} ENV={environment.name}` builds, stores and writes which one"
            )


def artifact_problems(environment: EnvironmentSettings, wanted: Literal["image", "code"]) -> Iterator[str]:
    """Say if an environment runs something else than what is about to be built for it."""
    artifact = environment.declared.agent.artifact
    if artifact != wanted:
        file = f"environments/{environment.source.file}"
        yield f'{file}: agent.artifact = "{artifact}": the environment does not run this; write "{wanted}" first'
