"""Name whom a command is about: this machine's agent by its state folder, or the one deployed in an environment."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from console.errors import BadInputError
from console.laptop import STATE


@dataclass(frozen=True, slots=True)
class Where:
    """Hold what a person named.

    Attributes:
        state: the laptop's state folder; not looked at where an environment is named.
        environment: the environment's name, or None for this machine.
    """

    state: Path
    environment: str | None = None

    @property
    def option(self) -> str:
        """Give what a command has to say to mean the same, with a blank before it; nothing where that is usual."""
        if self.environment is not None:
            return f" --environment {shlex.quote(self.environment)}"
        return "" if self.state == STATE else f" --state {shlex.quote(str(self.state))}"


def where(state: Path | None, environment: str | None) -> Where:
    """Take what was named; None stands for what is usual.

    Raises:
        BadInputError: both are named.
    """
    if state is not None and environment is not None:
        message = "--state and --environment name two agents; allowed: one of them"
        raise BadInputError(message)
    return Where(state or STATE, environment)
