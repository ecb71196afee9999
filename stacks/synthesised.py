"""Read what a synthesis wrote: the Terraform JSON of every stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stacks.preflight import OperationError


def read(out: Path) -> dict[str, dict[str, Any]]:
    """Read the stacks by name.

    Raises:
        OperationError: the folder holds no synthesis, or a broken one.
    """
    manifest = out / "manifest.json"
    if not manifest.is_file():
        message = f"{out}: holds no synthesised stacks; run `make synth`"
        raise OperationError(message)
    try:
        stacks = json.loads(manifest.read_text())["stacks"]
        return {name: json.loads((out / stack["synthesizedStackPath"]).read_text()) for name, stack in stacks.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{manifest}: is not what a synthesis wrote ({type(error).__name__}: {error}); run `make synth`"
        raise OperationError(message) from error
