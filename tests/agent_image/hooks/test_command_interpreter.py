"""A hook's program and environment: what is plain in a command is looked at before anything runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.hooks.interpreter import PATH, ROOT, SYSTEM_PATH, arguments_of, environment_of, script_named
from tests.agent_image.hooks.running import hook


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("bash a.sh", "a.sh"),
        ("/bin/bash /a/b.sh --flag", "/a/b.sh"),
        ("bash -eu --norc a.sh", "a.sh"),
        ("sh 'a b.sh' | cat", "a b.sh"),
        ("bash a.sh; exit 2", "a.sh"),
        ("bash a.sh>out", "a.sh"),
        ("A=1 B= python3 a.py", "a.py"),
        ("python3 -I -u /a.py <in", "/a.py"),
        ("/usr/bin/python a.py && true", "a.py"),
        ("bash", None),
        ("bash -e", None),
        ("bash -c 'a.sh'", None),
        ("bash -o pipefail a.sh", None),
        ("bash -- a.sh", None),
        ("python3 -m a", None),
        ("python3 -c 'import a'", None),
        ("python3 -W error a.py", None),
        ("python3 - <<< 'a'", None),
        ("bash < a.sh", None),
        ("bash <(cat a.sh)", None),
        ("bash $HOME/a.sh", None),
        ("bash ~/a.sh", None),
        ("bash a*.sh", None),
        ("bash `a`", None),
        ("exec bash a.sh", None),
        ("./a.sh", None),
        ("cat a.sh", None),
        ("if true; then bash a.sh; fi", None),
        ("A=1", None),
        ("bash 'a.sh", None),
        ("# bash a.sh", None),
        ("", None),
    ],
)
def test_the_script_that_a_command_names(command: str, script: str | None) -> None:
    """After an interpreter and options that take no argument; what the shell has to read is left to it."""
    assert script_named(command) == script


@given(st.text(alphabet=st.sampled_from(list("bash -ce'\"\\$ \n;|&<>#=/.py3")), max_size=30))
def test_any_command_may_be_asked_for_its_script(command: str) -> None:
    """Nothing is raised, and what is given stands in the command."""
    named = script_named(command)

    assert named is None or set(named) <= set(command)


def test_a_command_is_the_shells(tmp_path: Path) -> None:
    """As one argument, whatever is in it; nothing is written."""
    program, *rest = arguments_of(hook(command="echo \"$HOME\" 'x'"), tmp_path)

    assert Path(program).name == "bash"
    assert rest == ["-c", "echo \"$HOME\" 'x'"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "program", "options", "name"),
    [
        ("", "bash", [], "hook.sh"),
        ("#!/bin/bash -eu", "bash", ["-eu"], "hook.sh"),
        ("#!/usr/bin/env python3", sys.executable, ["-B", "-P", "-s"], "hook.py"),
        ("#!/usr/bin/python3 -u", sys.executable, ["-B", "-P", "-s", "-u"], "hook.py"),
    ],
)
def test_a_script_is_written_and_run_by_its_interpreter(
    tmp_path: Path, line: str, program: str, options: list[str], name: str
) -> None:
    """A second time in the same folder, too."""
    text = f"{line}\n# não\n"

    for _ in range(2):
        found, *rest = arguments_of(hook(script=text), tmp_path)

        assert found.endswith(program)
        assert rest == [*options, str(tmp_path / name)]
        assert (tmp_path / name).read_bytes() == text.encode()
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700


def test_the_environment_has_five_variables(tmp_path: Path) -> None:
    """The image's Python comes first on the path, and the image's code can be imported."""
    here = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}

    assert environment_of(tmp_path) == {"PATH": PATH, "PYTHONPATH": ROOT, "LANG": "C.UTF-8", **here}
    assert (Path(ROOT) / "agent_image" / "hooks").is_dir()
    assert f"{Path(sys.executable).parent}:{SYSTEM_PATH}" == PATH
