"""Hold what a command consists of, and what it has run for it."""

from __future__ import annotations

from dataclasses import dataclass

from agent_image.hooks.shell.danger import Kind


@dataclass(frozen=True, slots=True)
class Command:
    """Hold one command as the shell would run it.

    Attributes:
        words: its name and what is given to it.
        inputs: the texts that it gets to read from; none where nobody can tell.
    """

    words: tuple[str, ...]
    inputs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Give the name of the program, without the folder that it lies in."""
        return self.words[0].rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Shell:
    """Hold a text that a shell would run."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Hold a text that Python would run."""

    text: str


Part = Command | Shell | Code | Kind
"""What a command has run for it, or why that is a danger."""
