"""Compose every stack of the settings into one app."""

from __future__ import annotations

from stacks.account import AccountStack
from stacks.agent import AgentStack
from stacks.framework import App
from stacks.settings.load import Settings


def compose(app: App, settings: Settings) -> None:
    """Declare the stacks, each environment after its account.

    The order is declared without a shared value, so no stack reads another's state.
    """
    accounts = {account.alias: AccountStack(app, account) for account in settings.accounts}
    for environment in settings.environments:
        agent = AgentStack(app, environment)
        agent.add_dependency(accounts[environment.account.alias])
