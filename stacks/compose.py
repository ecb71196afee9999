"""Compose every stack of the settings into one app."""

from __future__ import annotations

from stacks.account import AccountStack
from stacks.agent import AgentStack
from stacks.bootstrap import BootstrapStack
from stacks.framework import App
from stacks.remote_state.place import is_bootstrapped
from stacks.settings.load import Settings


def compose(app: App, settings: Settings) -> None:
    """Declare the stacks, each environment after its account.

    The order is declared without a shared value, so no stack reads another's state. The bucket of an account's state
    has a stack of its own, which no other one waits for: `make bootstrap` deploys it, once.
    """
    accounts = {account.alias: AccountStack(app, account, settings) for account in settings.accounts}
    for account in settings.accounts:
        if is_bootstrapped(account):
            BootstrapStack(app, account)
    for environment in settings.environments:
        agent = AgentStack(app, environment)
        agent.add_dependency(accounts[environment.account.alias])
