"""Tell of a model of Strands what its call is priced by."""

from __future__ import annotations

from strands.models import Model

from agent_image.guard.model_reference import reference_for


def reference_of(model: Model) -> str:
    """Name a model as prices do: who serves it says how its tokens are counted."""
    config, kind = model.get_config(), type(model).__name__
    found = config.get("model_id") if isinstance(config, dict) else getattr(config, "model_id", None)
    return reference_for(kind, str(found)) if found else kind


def max_tokens_of(model: Model) -> int | None:
    """Give how many tokens a model may write at most; None where its configuration does not say."""
    config = model.get_config()
    found = config.get("max_tokens") if isinstance(config, dict) else None
    return found if isinstance(found, int) else None
