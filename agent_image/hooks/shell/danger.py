"""Name what a command may do that must not happen, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

EXCERPT: Final = 120
"""Characters of a command that are quoted."""


class Kind(StrEnum):
    """Name a danger; the value ends a sentence that begins with a command."""

    DELETES = "deletes folders, or whatever a search finds"
    PRIVILEGE = "runs as somebody else, or lets others do so"
    PERMISSIONS = "lets everybody write"
    SYSTEM = "writes to a device, or to what belongs to the system"
    DISK = "makes, changes or wipes a file system"
    POWER = "stops the machine, or all that runs on it"
    HISTORY = "throws away work that a repository holds"
    RESOURCES = "destroys what others depend on"
    LATER = "has something run later, unseen"
    MEANING = "changes what a name runs"
    FOREIGN = "runs code in a language that is not read here"
    UNTOLD = "cannot be told before it runs"
    ENDLESS = "starts itself without an end"
    UNREADABLE = "cannot be read as the shell would"


@dataclass(frozen=True, slots=True)
class Danger:
    """Hold one danger.

    Attributes:
        text: the beginning of the command.
        start: where it begins in the text that was looked at, in characters from 0.
    """

    kind: Kind
    text: str
    start: int = 0
