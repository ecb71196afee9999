"""Show a run to its stages."""

from __future__ import annotations

from agent_image.guard.scene import Scene
from agent_image.guard.side_calls import SessionCalls
from agent_image.guard.spending import Spending
from agent_image.guard.work import Work


def scene_of(work: Work) -> Scene:
    """Give what a stage may know of a run now."""
    return Scene(
        session_id=work.run.session_id,
        agent=work.guard.agent,
        turn=work.steps,
        max_turns=work.guard.settings.limits.hard.steps,
        sent_back=work.session.sent_back,
        transcript=lambda: work.transcript.text(work.messages()),
        calls=SessionCalls(work, Spending(work)),
        gone=lambda: work.abandoned,
    )
