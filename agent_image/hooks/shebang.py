"""Tell what runs a script: its first line says so, and nothing else may be named there."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

SHEBANG_FORM: Final = "#!/bin/bash or #!/usr/bin/env python3, on the first line; with options of one letter, such as -e"
SHEBANG: Final = (
    r"^#![ \t]*(?:/[A-Za-z0-9._-]+)*/(?:env[ \t]+(?:-S[ \t]+)?)?(bash|python3)"
    # Those that take no argument, and after which the script still is what runs.
    r"((?:[ \t]+-[BEIPefuvx]+)*)[ \t]*\r?(?:\n|$)"
)
"""Matches the first line of a script that names what runs it; in the dialect that Python and JSON Schema share."""
HIDDEN_SHEBANG: Final = r"^\s*#!"
"""Matches a script with such a line, be it one that does not stand first and so would count for nothing."""


class Interpreter(StrEnum):
    """Name what runs a script."""

    BASH = "bash"
    PYTHON = "python3"


def interpreter(script: str) -> tuple[Interpreter, tuple[str, ...]] | None:
    """Give what runs a script, and with which options: bash where it does not say, None where it names another."""
    if found := re.match(SHEBANG, script):
        return Interpreter(found[1]), tuple(found[2].split())
    return None if re.match(HIDDEN_SHEBANG, script) else (Interpreter.BASH, ())
