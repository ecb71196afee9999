"""Say what failed without saying what it failed on: a code may leave the process, free text may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

BUSY: Final = "busy"
"""The code of an invocation into a session that is at work already."""


class AgentError(Exception):
    """Carry a code, which callers and the trail see, and a sentence for the caller.

    Neither holds anything that came from a user, a model, a tool or a document.
    """

    def __init__(self, code: str, message: str) -> None:
        """Take a code in snake case and one sentence of our own wording."""
        super().__init__(code)
        self.code = code
        self.message = message


class BadInvocation(AgentError):  # noqa: N818 - it names what the caller sent
    """Say that an invocation cannot be understood: the caller has to change it."""


class KnowledgeBaseError(AgentError):
    """Say that a knowledge base did not answer; the code tells why."""


class StoreError(AgentError):
    """Say that a store did not answer; the code tells why."""


class AuditError(AgentError):
    """Say that the audit cannot be written: what must not happen unrecorded must not happen."""


class NoEffect(AgentError):  # noqa: N818 - it names what did not happen
    """Say that a tool refused before anything happened: its call failed, and leaves no doubt."""


class TelemetryError(AgentError):
    """Say that what leaves the process cannot be held to its rules: the process must not serve."""


class SettingsError(Exception):
    """List every fault of the settings document."""

    def __init__(self, faults: Sequence[str]) -> None:
        """Take the faults, one line each: key, value, what is allowed."""
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)
