"""Say what runs a hook, and what of the world it sees: an environment that holds nothing of the agent's."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from agent_image.hooks.hook import Hook, HookFailed, HookFault
from agent_image.hooks.shebang import Interpreter, interpreter

SYSTEM_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PATH: Final = os.pathsep.join((str(Path(sys.executable).parent), SYSTEM_PATH))
"""Where hooks find programs: the image's own Python comes first."""
ROOT: Final = str(Path(__file__).resolve().parents[2])
"""The folder that holds the image's code, and its packages where code is deployed without an image."""
_SUFFIXES: Final[Mapping[Interpreter, str]] = MappingProxyType({Interpreter.BASH: "sh", Interpreter.PYTHON: "py"})
_SHELL_OPTIONS: Final = re.compile(r"-[abefhkmnpuvxBCEHPT]+|--(login|noprofile|norc|posix|restricted|verbose)")
_PYTHON_OPTIONS: Final = re.compile(r"-[bBdEhiIOPqsSuvx]+")
_OPTIONS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "bash": _SHELL_OPTIONS,
        "dash": _SHELL_OPTIONS,
        "sh": _SHELL_OPTIONS,
        "python": _PYTHON_OPTIONS,
        "python3": _PYTHON_OPTIONS,
    }
)
"""Options after which a script may still follow, by interpreter."""
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_EXPANDED: Final = frozenset("$`*?[]{}~<>()|&;\n")
"""A word with one of these is the shell's to read."""


def arguments_of(hook: Hook, folder: Path) -> tuple[str, ...]:
    """Give the program and the arguments that run a hook; a script is written into the folder first.

    Raises:
        HookFailed: MISSING or NOT_EXECUTABLE, the interpreter or the script is not there or cannot be read; BROKEN, the
            script cannot be written.
    """
    if hook.script is None:
        command = _ended_plainly(hook.command or "")
        _require(command, folder)
        return (_program(Interpreter.BASH), "-c", command)
    named = interpreter(hook.script)
    if named is None:
        raise HookFailed(HookFault.MISSING, "The script's first line names neither bash nor python3.")
    runs, options = named
    script = _written(_ended_plainly(hook.script), folder / f"hook.{_SUFFIXES[runs]}")
    # What lies beside the script, or in somebody's home, is not imported in the place of what the image holds; and
    # nothing is written beside what the image holds.
    isolated = ("-B", "-P", "-s") if runs is Interpreter.PYTHON else ()
    return (_program(runs), *isolated, *options, str(script))


def environment_of(folder: Path) -> dict[str, str]:
    """Give the whole environment of a hook that works in this folder."""
    return {"PATH": PATH, "PYTHONPATH": ROOT, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}


def script_named(command: str) -> str | None:
    """Give the script that a command runs by naming an interpreter first; None where only the shell can tell."""
    words = _words(command)
    options = _OPTIONS.get(PurePosixPath(next(words, "")).name)
    if options is None:
        return None
    for word in words:
        if not word.startswith("-"):
            return None if set(word) & _EXPANDED else word
        if not options.fullmatch(word):
            return None
    return None


def _words(command: str) -> Iterator[str]:
    """Give the words before the first one that is unclear; variables that are set come first and do not matter."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    begun = False
    try:
        for word in lexer:
            begun = begun or not _ASSIGNMENT.fullmatch(word)
            if begun:
                yield word
    except ValueError:
        # A quote that does not end: the shell will say so.
        return


def _require(command: str, folder: Path) -> None:
    # Interpreters end with status 2 where they find no script, which would count as a refusal.
    named = script_named(command)
    if named is None:
        return
    script = folder / named
    if not script.exists():
        raise HookFailed(HookFault.MISSING, "The command names a script that is not there.")
    if not os.access(script, os.R_OK):
        raise HookFailed(HookFault.NOT_EXECUTABLE, "The command names a script that cannot be read.")


def _program(runs: Interpreter) -> str:
    if runs is Interpreter.PYTHON:
        return sys.executable
    found = _found(runs)
    if found is None:
        raise HookFailed(HookFault.MISSING, f"There is no {runs} on {SYSTEM_PATH}.")
    return found


@cache
def _found(runs: Interpreter) -> str | None:
    return shutil.which(runs.value, path=SYSTEM_PATH)


def _ended_plainly(text: str) -> str:
    """End lines as bash does: with a carriage return it takes `exit 0` for no number, and ends as a refusal does."""
    return text.replace("\r\n", "\n")


def _written(script: str, path: Path) -> Path:
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o700)
        with os.fdopen(file, "wb") as written:
            written.write(script.encode())
    except (OSError, UnicodeError):
        raise HookFailed(HookFault.BROKEN, "The script cannot be written into its folder.") from None
    return path
