"""Say what an interpreter of a language would run: Python is read, the others are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agent_image.hooks.shell.danger import Kind
from agent_image.hooks.shell.options import UNKNOWN, Words
from agent_image.hooks.shell.parts import Code, Command, Part
from agent_image.hooks.shell.places import is_input

_PYTHON: Final = re.compile(r"(python|pypy)[0-9.]*")
_VERSIONED: Final = re.compile(r"[0-9.]+$")
_ASKED: Final = frozenset({"-V", "-VV", "-v", "-h", "--version", "--help"})
_AWK_RUNS: Final = re.compile(r'system|getline|\|\s*[^|\s]|"\s*\|')


@dataclass(frozen=True, slots=True)
class _Language:
    """Hold the options that come before code: letters, and whole words."""

    letters: str
    names: tuple[str, ...] = ()


_LANGUAGES: Final = {
    "perl": _Language("eE"),
    "ruby": _Language("e"),
    "node": _Language("ep", ("--eval", "--print")),
    "nodejs": _Language("ep", ("--eval", "--print")),
    "bun": _Language("e", ("--eval",)),
    "php": _Language("rBRE", ("--run",)),
    "lua": _Language("e"),
    "luajit": _Language("e"),
    "Rscript": _Language("e"),
    "osascript": _Language("e"),
    "tclsh": _Language(""),
    "expect": _Language("c"),
    "pwsh": _Language("ce", ("-command", "-encodedcommand")),
    "powershell": _Language("ce", ("-command", "-encodedcommand")),
}


def interpreted(command: Command) -> Iterator[Part]:
    """Say what an interpreter would run; nothing of any other program."""
    name, words = command.name, command.words[1:]
    if _PYTHON.fullmatch(name):
        yield from _python(command)
    elif name in {"awk", "gawk", "mawk", "nawk"}:
        yield from _awk(words)
    elif language := _LANGUAGES.get(_VERSIONED.sub("", name)):
        yield from _foreign(language, words)


def _python(command: Command) -> Iterator[Part]:
    rest = list(command.words[1:])
    while rest and rest[0] != "-" and rest[0][:1] in {"-", UNKNOWN}:
        word = rest.pop(0)
        if UNKNOWN in word[:2]:
            yield Kind.UNTOLD
            return
        if word in _ASKED:
            return
        # `-c` and `-m` end the options; what stands behind the letter is a value already.
        if (found := re.match(r"-[A-Za-bd-ln-z]*?([cmWX])(.*)", word, re.DOTALL)) and not word.startswith("--"):
            letter, value = found[1], found[2] or (rest.pop(0) if rest else "")
            if letter == "c":
                yield Code(value)
            if letter in "cm":
                return
    if rest and not is_input(rest[0]):
        if UNKNOWN in rest[0]:
            yield Kind.UNTOLD
        return
    yield from (Code(text) for text in command.inputs or (UNKNOWN,))


def _awk(words: Words) -> Iterator[Part]:
    rest = iter(words)
    for word in rest:
        if word.startswith(UNKNOWN):
            yield Kind.UNTOLD
            return
        if word in {"-F", "-v", "--assign", "--field-separator"}:
            next(rest, None)
        elif re.match("-f|--f", word):
            return
        elif not word.startswith("-") or word == "--":
            text = next(rest, "") if word == "--" else word
            if UNKNOWN in text:
                yield Kind.UNTOLD
            elif _AWK_RUNS.search(text.replace("||", "")):
                yield Kind.FOREIGN
            return


def _foreign(language: _Language, words: Words) -> Iterator[Part]:
    if not words or any(UNKNOWN in word for word in words[:1]):
        yield Kind.UNTOLD
        return
    for word in words:
        if word in _ASKED:
            return
        if not word.startswith("-") or word == "-":
            if is_input(word):
                yield Kind.UNTOLD
            return
        if word.lower().partition("=")[0] in language.names or (
            not word.startswith("--") and any(letter in language.letters for letter in word[1:])
        ):
            yield Kind.FOREIGN
            return
    yield Kind.UNTOLD
