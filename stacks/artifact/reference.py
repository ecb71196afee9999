"""Write into an environment file what runs there; everything else, comments included, stays as it is."""

from __future__ import annotations

from typing import Literal

import tomlkit


def with_reference(environment_file: str, key: Literal["image", "bundle"], value: str) -> str:
    """Set `agent.image` or `agent.bundle` in the text of an environment file."""
    document = tomlkit.parse(environment_file)
    document["agent"][key] = value
    return tomlkit.dumps(document)
