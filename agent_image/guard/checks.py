"""Ask the stages before a tool, and keep what they make of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from agent_image.errors import AgentError
from agent_image.guard.canonical import NotCanonical
from agent_image.guard.checkpoint import Call
from agent_image.guard.scenes import scene_of
from agent_image.guard.verdict import Verdict, judge_call
from agent_image.guard.work import Work

ABANDONED: Final = AgentError("abandoned", "The caller hung up while a check was asked; nothing ran.")


@dataclass(frozen=True, slots=True)
class Asked:
    """Hold what the model said, and the call that stages made of it."""

    said: Call
    call: Call

    @property
    def changed(self) -> bool:
        """Tell whether they are not the same."""
        return self.said is not self.call

    @property
    def canonical(self) -> bool:
        """Tell whether its arguments can be kept, compared and shown."""
        try:
            return bool(self.call.id)
        except NotCanonical:
            return False

    def with_arguments(self, arguments: Mapping[str, Any]) -> Asked:
        """Put arguments in the place of the call's own."""
        return replace(self, call=replace(self.call, arguments=arguments))


class Checks:
    """Ask the stages of one run."""

    def __init__(self, work: Work) -> None:
        """Take the run's bookkeeping."""
        self._work = work

    def ask(self, asked: Asked) -> tuple[Asked, tuple[Verdict, ...]]:
        """Ask every stage; give the call as they leave it, and what they said.

        Raises:
            AgentError: the caller hung up in the meantime, or it cannot be written down; nothing ran.
        """
        work = self._work
        if not work.guard.stages.before_tool:
            return asked, ()
        call, verdicts = judge_call(work.guard.stages.before_tool, asked.call, scene_of(work))
        for verdict in verdicts:
            work.hooked(verdict, asked.call)
        if work.abandoned:
            raise ABANDONED.with_traceback(None)
        made = replace(asked, call=call)
        # Who says the same arguments again has changed nothing.
        return (asked if made.canonical and call.id == asked.call.id else made), verdicts

    def keep(self, asked: Asked) -> None:
        """Keep what stages put in the place of a call's arguments: every later run begins that call, and no other."""
        work, call = self._work, asked.call
        work.batch.change(call.message, asked.said.id, call.arguments, work.steps)
