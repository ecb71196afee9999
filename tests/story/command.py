"""Run the `rastro` command as a person's shell does, and read what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_PATIENCE_SECONDS: Final = 120
_KEPT: Final = ("PATH", "HOME", "LANG")
_VARYING: Final = (
    (r"\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{20}\b|\b[0-9a-f]{12}\b|(?<=run )[0-9a-f]{8}\b", "#"),
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "SESSION"),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?: UTC|Z)?", "TIME"),
    (r"\b\d[\d.,]* (?:ms|s|min|h)\b(?: \d+ s)?", "LASTING"),
    (r"digest [\w-]{16}", "digest #"),
    (r"(?<=^read  )[\d.]+ [KM]?B", "SIZE"),
    (r"(?<=result )[\d,]+(?= bytes)", "#"),
)
"""What differs from run to run: ids, moments, lengths of time, sizes of what names a folder, digests by a new key."""


@dataclass(frozen=True)
class Ran:
    """Hold what a command did."""

    status: int
    output: str
    errors: str

    @property
    def document(self) -> dict[str, Any]:
        """Read its JSON."""
        document: dict[str, Any] = json.loads(self.output)
        return document

    def passages(self) -> Iterator[dict[str, Any]]:
        """List the passages of the session that it shows."""
        for turn in self.document["session"]["turns"]:
            for step in turn["steps"]:
                yield from step.get("passages") or ()

    def golden(self, *replaced: tuple[str, str]) -> str:
        """Give its output without what differs from run to run."""
        text = self.output
        for old, new in replaced:
            text = text.replace(old, new)
        for pattern, word in _VARYING:
            text = re.sub(pattern, word, text, flags=re.MULTILINE)
        return text


def rastro(*words: str, variables: Mapping[str, str] | None = None) -> Ran:
    """Run the command, with no other set-up of AWS than these variables."""
    ran = subprocess.run(
        [sys.executable, "-m", "console.cli", *words],
        env={**{key: os.environ[key] for key in _KEPT if key in os.environ}, **(variables or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE_SECONDS,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)
