"""Say what a program would run that does so in another way: later, slower, once for each line, with other variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from agent_image.hooks.shell.danger import Kind
from agent_image.hooks.shell.options import UNKNOWN
from agent_image.hooks.shell.parts import Command, Part, Shell


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Hold how a program is told what to run.

    Attributes:
        letters: short options that take a word.
        names: long options that take one.
        skipped: how many words stand before the command.
        settings: words with a `=` may stand before it, too.
        texts: short options that take a text for a shell.
        replaces: short options that say which part of a word is replaced by what nobody knows.
        more: what it runs gets words that nobody knows.
    """

    letters: str = ""
    names: tuple[str, ...] = ()
    skipped: int = 0
    settings: bool = False
    texts: str = ""
    replaces: str = ""
    more: bool = False


WRAPPERS: Final[Mapping[str, Wrapper]] = {
    **dict.fromkeys(("nohup", "setsid", "command", "builtin", "coproc", "busybox", "toybox", "chronic"), Wrapper()),
    **dict.fromkeys(("{", "!", "if", "then", "while", "until", "do", "else", "elif", "fakeroot", "ccache"), Wrapper()),
    "env": Wrapper("uC", ("unset", "chdir"), settings=True, texts="S"),
    "nice": Wrapper("n", ("adjustment",)),
    "ionice": Wrapper("cnpPu", ("class", "classdata")),
    "time": Wrapper("fo", ("format", "output")),
    "timeout": Wrapper("sk", ("signal", "kill-after"), skipped=1),
    "exec": Wrapper("a"),
    "stdbuf": Wrapper("ioe", ("input", "output", "error")),
    "chrt": Wrapper("TPD", skipped=1),
    "taskset": Wrapper(skipped=1),
    "flock": Wrapper("wE", ("timeout", "conflict-exit-code"), skipped=1, texts="c"),
    "strace": Wrapper("eoOpsSuaIPbUX"),
    "systemd-run": Wrapper("pHMuE", ("property", "unit", "description", "slice", "setenv", "uid", "gid")),
    "xargs": Wrapper(
        "IdEnPLsa",
        ("replace", "max-args", "max-procs", "max-lines", "delimiter", "arg-file", "max-chars", "eof"),
        replaces="Ii",
        more=True,
    ),
}
_ENVIRONMENT: Final = re.compile(
    r"PATH|BASH_ENV|ENV|PROMPT_COMMAND|PS[0-4]|SHELL|LD_\w+|DYLD_\w+|PERL5\w+|PYTHON\w+|RUBYOPT|NODE_OPTIONS"
    r"|GIT_\w*(SSH|PAGER|EDITOR|DIFF|ASKPASS|CONFIG)\w*|PAGER|EDITOR|VISUAL|BASH_FUNC\w+"
)
_LONG: Final[Mapping[str, str]] = {"split-string": "S", "command": "c", "replace": "i"}
"""Long options that say the same as a short one."""


def changes_meaning(variable: str) -> bool:
    """Tell whether a variable decides which programs run."""
    return _ENVIRONMENT.fullmatch(variable) is not None


def wrapped(command: Command, wrapper: Wrapper) -> Iterator[Part]:
    """Say what it would run, and what in that cannot be told."""
    rest, skipped, replaced = list(command.words[1:]), wrapper.skipped, ""
    while rest:
        word = rest[0]
        if word == "--":
            rest.pop(0)
            break
        if word.startswith("-") and word != "-":
            letter, value = _option(rest.pop(0), wrapper, rest)
            yield from _untold(word.partition("=")[0])
            if letter in {*wrapper.texts}:
                yield _text(command.name, [value, *rest])
                return
            if letter in {*wrapper.replaces}:
                replaced = value or "{}"
        elif wrapper.settings and "=" in word:
            yield from _setting(rest.pop(0))
        elif skipped:
            skipped -= 1
            yield from _untold(rest.pop(0))
        else:
            break
    if rest[skipped:]:
        yield Command(_filled(rest[skipped:], wrapper, replaced), command.inputs)


def value_of(word: str, wrapper: Wrapper, rest: list[str]) -> str:
    """Take the value of an option off what follows it, and give it."""
    return _option(word, wrapper, rest)[1]


def _option(word: str, wrapper: Wrapper, rest: list[str]) -> tuple[str, str]:
    """Give the letter of an option that takes a value, and the value."""
    if word.startswith("--"):
        name, sign, value = word[2:].partition("=")
        letter = next((short for long, short in _LONG.items() if name and long.startswith(name)), "")
        takes = letter in wrapper.texts or any(full.startswith(name) for full in wrapper.names)
        return letter, value if sign or not (takes and rest) else rest.pop(0)
    for position, letter in enumerate(word[1:], start=2):
        if letter in wrapper.letters + wrapper.texts:
            return letter, word[position:] or (rest.pop(0) if rest else "")
        if letter in wrapper.replaces:
            return letter, word[position:]
    return "", ""


def _untold(word: str) -> Iterator[Kind]:
    if UNKNOWN in word:
        yield Kind.UNTOLD


def _text(name: str, words: list[str]) -> Part:
    # What `env` splits may begin with variables, and with options of its own.
    return Shell(" ".join(["env", *words] if name == "env" else words[:1]))


def _setting(word: str) -> Iterator[Kind]:
    name = word.partition("=")[0]
    if UNKNOWN in name or changes_meaning(name):
        yield Kind.MEANING


def _filled(words: list[str], wrapper: Wrapper, replaced: str) -> tuple[str, ...]:
    if replaced:
        return tuple(word.replace(replaced, UNKNOWN) for word in words)
    return (*words, UNKNOWN) if wrapper.more else tuple(words)
