"""Say of each program which of its words make it a danger: rules as rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from agent_image.hooks.shell.danger import Kind
from agent_image.hooks.shell.options import UNKNOWN, Words, given, positionals
from agent_image.hooks.shell.places import is_system

Rule = Callable[[Words], Iterator[Kind]]
"""Tells, by the words after its name, what a program would do."""

ALWAYS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("sudo", "sudoedit", "doas", "su", "pkexec", "run0", "runuser", "gosu", "chroot"), Kind.PRIVILEGE),
    **dict.fromkeys(("nsenter", "unshare", "setcap", "visudo", "passwd", "chpasswd", "usermod"), Kind.PRIVILEGE),
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff", "telinit", "kexec"), Kind.POWER),
    **dict.fromkeys(("shred", "srm", "wipe"), Kind.DELETES),
    **dict.fromkeys(("mkswap", "mke2fs", "wipefs", "blkdiscard", "fdisk", "sfdisk", "cfdisk", "gdisk"), Kind.DISK),
    **dict.fromkeys(("sgdisk", "parted", "lvremove", "vgremove", "pvremove", "cryptsetup", "hdparm"), Kind.DISK),
    **dict.fromkeys(("crontab", "at", "batch"), Kind.LATER),
    "hash": Kind.MEANING,
    "enable": Kind.MEANING,
}
"""Programs that are a danger whatever is given to them."""
_DISK_FAMILIES: Final = ("mkfs", "newfs")

WORDS_ONLY: Final = frozenset({
    "echo", "printf", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ls", "cat", "head", "tail", "man",
    "info", "which", "type", "whereis", "apropos", "whatis", "true", "false", ":", "test", "[", "read", "cd", "pwd",
    "return", "exit", "break", "continue", "shift", "wc", "sort", "uniq", "cut", "tr", "basename", "dirname", "git",
})  # fmt: skip
"""Programs to which the name of a program is a word like any other."""

_CLAUSE: Final = re.compile(r"([ugoa]*)([-+=][rwxXstugo]*)+")
_WRITE: Final = 0o2
_SET_ID: Final = 0o6000


def _when(kind: Kind, short: str, *long: str) -> Rule:
    """Build a rule: one of these options makes it a danger."""

    def rule(words: Words) -> Iterator[Kind]:
        found = given(words, short, *long)
        if found is None or found:
            yield kind if found else Kind.UNTOLD

    return rule


def _named(kind: Kind, *names: str) -> Rule:
    """Build a rule: one of these words makes it a danger."""

    def rule(words: Words) -> Iterator[Kind]:
        if any(word in names for word in words):
            yield kind
        elif any(word.startswith(UNKNOWN) for word in words[:1]):
            yield Kind.UNTOLD

    return rule


def _chmod(words: Words) -> Iterator[Kind]:
    # A mode may begin with a dash, which takes rights away.
    mode = next(positionals(words), "")
    if UNKNOWN in mode:
        yield Kind.UNTOLD
    elif re.fullmatch("=?[0-7]+", mode):
        rights = int(mode.removeprefix("="), 8)
        if rights & _WRITE or rights & _SET_ID:
            yield Kind.PERMISSIONS
    elif any(_opens(clause) for clause in mode.split(",")):
        yield Kind.PERMISSIONS


def _opens(clause: str) -> bool:
    if not _CLAUSE.fullmatch(clause):
        return False
    who = re.split("[-+=]", clause, maxsplit=1)[0]
    added = "".join(rights for sign, rights in re.findall("([-+=])([rwxXstugo]*)", clause) if sign != "-")
    everybody = not who or "o" in who or "a" in who
    return "s" in added or (everybody and any(letter in added for letter in "wug"))


def _dd(words: Words) -> Iterator[Kind]:
    for word in words:
        name, _, path = word.partition("=")
        if UNKNOWN in name:
            yield Kind.UNTOLD
        elif name == "of":
            yield from written(path)


def _writes(words: Words, *, every: bool = False) -> Iterator[Kind]:
    """Look at the last word, or at every one, as a place that is written to; and at the value of `-t`."""
    places = list(positionals(words))
    for place in places if every else places[1:][-1:]:
        yield from written(place)
    for position, word in enumerate(words):
        name, _, value = word.partition("=")
        if re.fullmatch(r"--t[a-z-]*", name) or re.fullmatch(r"-[A-Za-z]*t", word):
            yield from written(value or next(iter(words[position + 1 :]), ""))
        elif re.fullmatch(r"-[A-SU-Za-su-z]*t/.*", word):
            yield from written(word[word.index("t/") + 1 :])


def written(path: str) -> Iterator[Kind]:
    """Say what it is to write there."""
    found = is_system(path)
    if found is None or found:
        yield Kind.SYSTEM if found else Kind.UNTOLD


def _kill(words: Words) -> Iterator[Kind]:
    if len(words) > 1 and "-1" in words[1:]:
        yield Kind.POWER


def _alias(words: Words) -> Iterator[Kind]:
    if any("=" in word or UNKNOWN in word for word in words):
        yield Kind.MEANING


def _git(words: Words) -> Iterator[Kind]:
    rest = list(words)
    while rest and rest[0].startswith(("-", UNKNOWN)):
        option = rest.pop(0)
        if UNKNOWN in option.partition("=")[0]:
            yield Kind.UNTOLD
        if option in {"-C", "--git-dir", "--work-tree", "--namespace", "--exec-path"}:
            rest[:1] = []
        elif option == "-c":
            yield from _config(rest[:1])
            rest[:1] = []
        elif option.startswith(("--config-env", "--exec-path=")):
            yield Kind.MEANING
    if not rest:
        return
    name, *given_to = rest
    if UNKNOWN in name:
        yield Kind.UNTOLD
    elif name in _GIT:
        yield from _GIT[name](given_to)


def _push(words: Words) -> Iterator[Kind]:
    yield from _when(Kind.HISTORY, "fd", "force", "force-with-lease", "delete", "mirror", "prune")(words)
    if any(word.startswith(("+", ":")) for word in words):
        yield Kind.HISTORY


def _config(words: Words) -> Iterator[Kind]:
    """Look for a setting that is a command."""
    if any(
        "!" in word or re.match(r"alias\.|core\.|[a-z]+\..*(cmd|command|path)", word, re.IGNORECASE) for word in words
    ):
        yield Kind.MEANING


def _first(kind: Kind, *names: str) -> Rule:
    """Build a rule: the first word is one of these."""
    return lambda words: _named(kind, *names)(words[:1])


_GIT: Final[Mapping[str, Rule]] = {
    "clean": _when(Kind.HISTORY, "f", "force"),
    "push": _push,
    "reset": _when(Kind.HISTORY, "", "hard"),
    "branch": _when(Kind.HISTORY, "D", "force"),
    "checkout": _when(Kind.HISTORY, "f", "force"),
    "switch": _when(Kind.HISTORY, "f", "force", "discard-changes"),
    "filter-branch": lambda _: iter((Kind.HISTORY,)),
    "filter-repo": lambda _: iter((Kind.HISTORY,)),
    "update-ref": _when(Kind.HISTORY, "d", "delete", "stdin"),
    "reflog": _first(Kind.HISTORY, "expire", "delete"),
    "stash": _first(Kind.HISTORY, "clear", "drop"),
    "config": _config,
}

RULES: Final[Mapping[str, Rule]] = {
    "rm": _when(Kind.DELETES, "rR", "recursive"),
    "chmod": _chmod,
    "dd": _dd,
    "tee": partial(_writes, every=True),
    "cp": _writes,
    "mv": _writes,
    "ln": _writes,
    "install": _writes,
    "truncate": partial(_writes, every=True),
    "rsync": _when(Kind.DELETES, "", "delete", "delete-before", "delete-after", "delete-excluded", "delete-during"),
    "tar": _when(Kind.FOREIGN, "I", "checkpoint-action", "to-command", "use-compress-program", "info-script"),
    "kill": _kill,
    "init": _first(Kind.POWER, "0", "1", "6", "s", "S"),
    "systemctl": _named(Kind.POWER, "poweroff", "reboot", "halt", "kexec", "rescue", "emergency", "isolate"),
    "zfs": _first(Kind.DISK, "destroy", "rollback"),
    "zpool": _first(Kind.DISK, "destroy", "create", "labelclear"),
    "git": _git,
    "terraform": _named(Kind.RESOURCES, "destroy", "-destroy", "--destroy"),
    "tofu": _named(Kind.RESOURCES, "destroy", "-destroy", "--destroy"),
    "kubectl": _named(Kind.RESOURCES, "delete", "drain"),
    "aws": _named(Kind.RESOURCES, "--recursive", "rb", "--delete", "terminate-instances"),
    "alias": _alias,
}
"""Programs that are a danger with some words."""


def judged(name: str, words: Words) -> Iterator[Kind]:
    """Say what a program would do with these words, by itself."""
    if name in ALWAYS:
        yield ALWAYS[name]
    elif name.startswith(_DISK_FAMILIES):
        yield Kind.DISK
    elif name in RULES:
        yield from RULES[name](words)
