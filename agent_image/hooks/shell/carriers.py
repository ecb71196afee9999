"""Say what a program would have run for it: other commands, texts for a shell, code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from agent_image.hooks.shell.danger import Kind
from agent_image.hooks.shell.interpreters import interpreted
from agent_image.hooks.shell.options import UNKNOWN, Words
from agent_image.hooks.shell.parts import Command, Part, Shell
from agent_image.hooks.shell.places import is_input
from agent_image.hooks.shell.programs import WORDS_ONLY
from agent_image.hooks.shell.wrappers import WRAPPERS, Wrapper, changes_meaning, value_of, wrapped

SHELLS: Final = frozenset({
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "yash", "posh",
})  # fmt: skip
_EVALUATED: Final = frozenset({
    "let", "test", "[", "read", "printf", "unset", "declare", "typeset", "local", "export", "readonly",
    "wait",
})  # fmt: skip
"""Programs that may evaluate what a word holds as an index of an array."""
_DELETING: Final = frozenset({"rm", "unlink", "rmdir", "shred"})
_FIND_RUNS: Final = ("-exec", "-execdir", "-ok", "-okdir")


def carried(command: Command) -> Iterator[Part]:
    """Say what a program would have run for it, and what in that cannot be told."""
    name, words = command.name, command.words[1:]
    if name in WRAPPERS:
        yield from wrapped(command, WRAPPERS[name])
    elif name in SHELLS:
        yield from _shell(command)
    elif name in _TEXTS:
        yield from _TEXTS[name](words)
    elif name == "find":
        yield from _find(words)
    elif name == "git":
        yield from _git(words)
    elif name in _EVALUATED:
        yield from _evaluated(name, words)
    else:
        yield from interpreted(command)


def evaluates(text: str) -> bool:
    """Tell whether a text holds a command that a later evaluation would run."""
    return "$(" in text or "`" in text


def _evaluated(name: str, words: Words) -> Iterator[Kind]:
    yield from (Kind.UNTOLD for word in words if evaluates(word))
    sets = words[words.index("-v") + 1 :][:1] if name == "printf" and "-v" in words else words
    if name not in {"test", "["} and (name != "printf" or "-v" in words):
        yield from (Kind.MEANING for word in sets if changes_meaning(word.partition("=")[0]))


def _shell(command: Command) -> Iterator[Part]:
    rest = list(command.words[1:])
    has_text = reads = False
    while rest and rest[0][:1] in {"-", "+", UNKNOWN} and rest[0] != "-":
        word = rest.pop(0)
        if UNKNOWN in word:
            yield Kind.UNTOLD
            return
        if word in {"--version", "--help"}:
            return
        if word == "--":
            break
        if word.startswith("--"):
            name, sign, text = word[2:].partition("=")
            if name in {"command", "init-command"}:
                yield _shell_text([text] if sign else rest[:1])
                return
            rest[:1] = [] if name in {"rcfile", "init-file"} and not sign else rest[:1]
            continue
        has_text = has_text or (word.startswith("-") and "c" in word)
        reads = reads or "s" in word
        rest[: word.count("o") + word.count("O")] = []
    if has_text:
        yield _shell_text(rest[:1])
    elif rest and UNKNOWN in rest[0] and not reads:
        yield Kind.UNTOLD
    elif not rest or reads or is_input(rest[0]):
        yield from (Shell(text) for text in command.inputs or (UNKNOWN,))


def _shell_text(words: Words) -> Part:
    return Shell(" ".join(words))


def _joined(words: Words) -> Iterator[Part]:
    if words:
        yield _shell_text(words[1:] if words[0] == "--" else words)


def _trap(words: Words) -> Iterator[Part]:
    texts = [word for word in words if word not in {"--", "-", "-p", "-l"}]
    if len(texts) > 1:
        yield _shell_text(texts[:1])


def _source(words: Words) -> Iterator[Part]:
    file = next((word for word in words if word != "--"), "")
    if UNKNOWN in file or is_input(file):
        yield Kind.UNTOLD


def _ssh(words: Words) -> Iterator[Part]:
    """Read what a shell far away would get."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if re.match("-o.*(Proxy|Local)Command", word + "".join(rest[:1])):
            yield Kind.UNTOLD
        value_of(word, Wrapper("bcDEeFIiJLlmOopQRSWwB"), rest)
    yield from _joined(rest[1:])


def _watch(words: Words) -> Iterator[Part]:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        value_of(rest.pop(0), Wrapper("nq", ("interval", "equexit")), rest)
    yield from _joined(rest)


def _after(letter: str, words: Words) -> Iterator[Part]:
    """Read the text that one option takes, and every word that is a line by itself."""
    for position, word in enumerate(words):
        if re.fullmatch(f"-[A-Za-z]*{letter}|--command", word):
            yield _shell_text(words[position + 1 : position + 2])
        elif found := re.match(rf"-{letter}(.+)|--command=(.*)", word, re.DOTALL):
            yield Shell(found[1] or found[2])


def _lines(words: Words) -> Iterator[Part]:
    yield from (Shell(word) for word in words if " " in word)


def _editor(words: Words) -> Iterator[Part]:
    if any("!" in word or "system(" in word for word in words):
        yield Kind.FOREIGN


_TEXTS: Final[Mapping[str, Callable[[Words], Iterator[Part]]]] = {
    "script": partial(_after, "c"),
    "mapfile": partial(_after, "C"),
    "readarray": partial(_after, "C"),
    "complete": partial(_after, "C"),
    "compgen": partial(_after, "C"),
    "tmux": _lines,
    "screen": _lines,
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "view"), _editor),
    "eval": _joined,
    "trap": _trap,
    "source": _source,
    ".": _source,
    "ssh": _ssh,
    "watch": _watch,
    "parallel": _watch,
}


def _find(words: Words) -> Iterator[Part]:
    for position, word in enumerate(words):
        if word in _FIND_RUNS:
            end = next((at for at, one in enumerate(words) if at > position and one in {";", "+"}), len(words))
            inner = words[position + 1 : end]
            names = [one.rpartition("/")[2] for one in inner]
            if any(name in _DELETING for name in names) and names[0] not in WORDS_ONLY:
                yield Kind.DELETES
            elif inner:
                # What is found begins as the search does: it is no option; within a text it may be anything.
                yield Command(tuple(one if one == "{}" else one.replace("{}", UNKNOWN) for one in inner))
        elif word == "-delete":
            yield Kind.DELETES
        elif word.startswith(UNKNOWN) or re.match(f"-[a-z]*{UNKNOWN}", word):
            yield Kind.UNTOLD


def _git(words: Words) -> Iterator[Part]:
    for position, word in enumerate(words):
        rest = words[position + 1 :]
        if word in {"foreach", "--exec", "-x", "--tree-filter", "--index-filter", "--extcmd"}:
            yield from _joined([one for one in rest if one != "--recursive"])
        elif word.startswith(("--exec=", "--extcmd=", "--upload-pack=", "--receive-pack=")):
            yield _shell_text([word.partition("=")[2]])
        elif word == "run" and "bisect" in words[:position] and rest:
            yield Command(tuple(rest))
