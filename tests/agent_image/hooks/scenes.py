"""A scene for hooks: a run of which only what a context shows is real."""

from __future__ import annotations

from agent_image.guard.scene import Scene, SideCall


class NoCalls:
    """Pays for no model."""

    def begin(self, hook: str, model: str, projected_tokens: int | None, output_tokens: int | None) -> SideCall:
        raise NotImplementedError


def scene(sent_back: int = 0) -> Scene:
    """Give a scene at the fifth of fifty steps."""
    return Scene(
        session_id="s",
        agent="my_agent",
        turn=5,
        max_turns=50,
        sent_back=sent_back,
        transcript=lambda: "",
        calls=NoCalls(),
        gone=lambda: False,
    )
