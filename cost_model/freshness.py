"""Refuse synthesised stacks that were not made from the settings as they are now."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from agent_image.contract import SETTINGS_DIGESTS
from cost_model.documents import read_bytes
from cost_model.errors import DocumentError, StaleSynthesisError
from cost_model.terraform import Stack, objects

UNCHECKED: Final = f"the stacks carry no {SETTINGS_DIGESTS}: whether they match their settings could not be checked"


def check_fresh(stacks: Iterable[Stack], settings: Path) -> tuple[str, ...]:
    """Compare the digests in the stacks with the files under `settings`; return what has to be assumed.

    Raises StaleSynthesisError naming every file that changed or vanished.
    """
    recorded = _recorded(stacks)
    if not recorded:
        return (UNCHECKED,)
    faults = [fault for file, digest in sorted(recorded) if (fault := _fault(settings, file, digest))]
    if faults:
        raise StaleSynthesisError(*(f"{fault}; run `make synth`" for fault in faults))
    return ()


def check_complete(stacks: Iterable[Stack], settings: Path) -> None:
    """Refuse stacks of all environments when an environment's settings file went into none of them."""
    recorded = {file for file, _ in _recorded(stacks)}
    missing = sorted(path for path in settings.glob("*.toml") if path.name not in recorded)
    if recorded and missing:
        raise StaleSynthesisError(
            *(f"{path}: no stack was made from this settings file; run `make synth`" for path in missing)
        )


def digest_of(content: bytes) -> str:
    """Return a settings file's digest as the stacks record it."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _recorded(stacks: Iterable[Stack]) -> set[tuple[str, str]]:
    tables = (table for stack in stacks for table in objects(stack.local(SETTINGS_DIGESTS)))
    return {(file, str(digest)) for table in tables for file, digest in table.items()}


def _fault(settings: Path, file: str, digest: str) -> str | None:
    path = settings / file
    if not path.resolve().is_relative_to(settings.resolve()):
        return f"{file}: the stacks name a settings file outside {settings}"
    try:
        content = read_bytes(path)
    except DocumentError:
        return f"{path}: the stacks were made from this settings file, which is gone"
    return None if digest_of(content) == digest else f"{path}: changed since the stacks were made"
