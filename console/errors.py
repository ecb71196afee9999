"""Name the ways in which a command gives up: each with the exit status that tells a script."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from agent_image.errors import AgentError

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


@contextmanager
def told() -> Iterator[None]:
    """Turn what the image's own parts raise into a sentence with its code.

    Raises:
        ConsoleError: something failed in there.
    """
    try:
        yield
    except AgentError as error:
        message = f"{error.message} ({error.code})"
        raise ConsoleError(message) from None
