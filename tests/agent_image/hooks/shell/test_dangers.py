"""Dangers are found whatever their spelling, and what only looks like one is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_image.hooks.shell import Danger, Kind, dangers
from tests.agent_image.hooks.shell.spellings import DANGERS, HARMLESS, REMOVING

BASH = shutil.which("bash")
BY_KIND = [(kind, command) for kind, commands in DANGERS.items() for command in commands]


@pytest.mark.parametrize("command", REMOVING)
def test_a_folder_is_not_removed_in_any_spelling(command: str) -> None:
    """Written together or apart, quoted, wrapped, handed to another shell."""
    assert dangers(command)


@pytest.mark.parametrize("command", REMOVING)
@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_those_spellings_are_no_invention(tmp_path: Path, command: str) -> None:
    """Bash does remove the folder: what is held here is what would happen."""
    (tmp_path / "victim" / "inner").mkdir(parents=True)
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"

    subprocess.run(
        [str(BASH), "-c", command],
        cwd=tmp_path,
        env={"PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert not (tmp_path / "victim" / "inner").exists()


@pytest.mark.parametrize(("kind", "command"), BY_KIND, ids=lambda value: ascii(str(value)))
def test_what_a_command_would_do_is_named(kind: Kind, command: str) -> None:
    """The kind says why it must not run."""
    assert kind in {danger.kind for danger in dangers(command)}


def test_every_kind_has_its_commands() -> None:
    """None is left untested."""
    assert set(DANGERS) == set(Kind)


@pytest.mark.parametrize("command", HARMLESS)
def test_what_only_looks_like_a_danger_is_none(command: str) -> None:
    """Texts that speak of one, and programs that do no harm."""
    assert dangers(command) == ()


def test_a_danger_says_where_it_stands() -> None:
    """In characters of the text, the first one first; of a long command the beginning."""
    found = dangers('echo "é"; reboot; (sudo ls)')

    assert found == (Danger(Kind.POWER, "reboot", 10), Danger(Kind.PRIVILEGE, "sudo ls", 19))
    assert dangers("rm -rf " + "x" * 200)[0].text == "rm -rf " + "x" * 113


def test_a_text_that_nobody_can_look_through_is_a_danger() -> None:
    """One that is too long, or shells in shells without an end; neither takes long, nor any other."""
    within = "ls"
    for _ in range(14):
        within = f"eval eval {within}"

    assert dangers("x" * 65_537)[0].kind is Kind.UNREADABLE
    assert dangers(within)[0].kind is Kind.UNREADABLE
    assert dangers("a " + "rm " * 20_000)[0].kind is Kind.UNREADABLE
    assert dangers("(" * 60_000)
    assert dangers("$(" * 30_000)
    assert dangers("ls;" * 20_000) == ()
