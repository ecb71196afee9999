"""Name the ways in which a command gives up: each with the exit status that tells a script."""

from __future__ import annotations

from typing import Final

FAILURE: Final = 1
"""Exit status after something failed."""
BAD_INPUT: Final = 2
"""Exit status after an input was refused."""


class ConsoleError(Exception):
    """Say what failed and what can be done, in one line or several."""

    status = FAILURE


class BadInputError(ConsoleError):
    """Say which input is not allowed, its value, and what is."""

    status = BAD_INPUT
