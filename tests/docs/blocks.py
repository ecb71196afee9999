"""Read the pages, and the blocks of commands in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^( *)```(\S*)(?: (\S+))?\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
STATUS = re.compile(r"# exit status (\d+)")


@dataclass(frozen=True, slots=True)
class Block:
    """Hold one block of a page.

    Attributes:
        how: `offline`: commands that run anywhere; `server`: a command that runs until the page ends; `apply`: a diff;
            `file`: the contents of a file; None: it needs what no test has, or is there to be read.
        file: the path that the contents are of.
    """

    page: str
    language: str
    how: str | None
    text: str
    file: str = ""

    @property
    def commands(self) -> list[str]:
        """Give its commands, each in one line, without what is no command."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in lines if line and not line.startswith("#")]

    @property
    def script(self) -> str:
        """Give them as a script that ends at the first command whose status is not the one that its line names."""
        return "\n".join(_held(command) for command in self.commands)


def _held(command: str) -> str:
    found = STATUS.search(command)
    if found is None:
        return command
    return f"status=0; {command[: found.start()].rstrip()} || status=$?; test $status = {found[1]}"


def named(page: Path) -> str:
    """Name a page by its path."""
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    """Read the blocks of one page, in their order: a word behind the language says what is done with it."""
    return [
        _block(named(page), language, mark, re.sub(rf"^{indent}", "", text, flags=re.MULTILINE))
        for indent, language, mark, text in FENCE.findall(page.read_text())
    ]


def _block(page: str, language: str, mark: str, text: str) -> Block:
    if mark and language not in {"sh", "diff"}:
        return Block(page, language, "file", text, mark)
    return Block(page, language, mark or None, text)


def prose_of(page: Path) -> str:
    """Give a page without its blocks."""
    return FENCE.sub("", page.read_text())
