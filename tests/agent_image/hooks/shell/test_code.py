"""Python code is told by its syntax tree, and what it hands to a shell by the shell's."""

from __future__ import annotations

import pytest

from agent_image.hooks.shell import Danger, Kind, dangers_of_code

DANGERS = [
    (Kind.DELETES, "import os; os.system('rm -rf x')"),
    (Kind.DELETES, "from os import system as s\ns('rm -rf x')"),
    (Kind.DELETES, "import subprocess\nsubprocess.run(['rm', '-rf', x])"),
    (Kind.DELETES, "import subprocess as sp\nsp.Popen('rm -rf x', shell=True)"),
    (Kind.DELETES, "import subprocess\nsubprocess.run(args=['rm', '-r', 'x'])"),
    (Kind.DELETES, "import shutil; shutil.rmtree('x')"),
    (Kind.DELETES, "from shutil import *\nrmtree('x')"),
    (Kind.DELETES, "a.b().rmtree(x)"),
    (Kind.UNTOLD, "__import__('os').system('ls')"),
    (Kind.UNTOLD, "getattr(os, 'sys' + 'tem')('x')"),
    (Kind.UNTOLD, "import os; f = os.system; f('x')"),
    (Kind.UNTOLD, "import shutil; list(map(shutil.rmtree, x))"),
    (Kind.UNTOLD, "exec('x')"),
    (Kind.UNTOLD, "eval(x)"),
    (Kind.UNTOLD, "import importlib\nimportlib.import_module('os')"),
    (Kind.UNTOLD, "import subprocess\nsubprocess.run(words)"),
    (Kind.UNTOLD, "import subprocess\nsubprocess.run([x, 'a'])"),
    (Kind.UNTOLD, "import subprocess\nsubprocess.run(['rm', x])"),
    (Kind.UNTOLD, "import os\nos.system(f'ls {x}')"),
    (Kind.UNTOLD, "import os\nos.execv('/bin/ls', ['ls'])"),
    (Kind.UNTOLD, "import os\nos.chmod('x', mode)"),
    (Kind.PERMISSIONS, "import os\nos.chmod('x', 0o777)"),
    (Kind.PERMISSIONS, "from pathlib import Path\nPath('x').chmod(mode=0o666)"),
    (Kind.SYSTEM, "open('/dev/sda', 'wb')"),
    (Kind.PRIVILEGE, "import subprocess\nsubprocess.check_output(['sudo', 'ls'])"),
    (Kind.POWER, "import os\nos.kill(-1, 9)"),
    (Kind.FOREIGN, "import ctypes"),
    (Kind.FOREIGN, "from ctypes.util import find_library"),
    (Kind.UNREADABLE, "!rm -rf x"),
    (Kind.UNREADABLE, "x" * 65_537),
    (Kind.UNREADABLE, "(" * 60_000),
    (Kind.UNREADABLE, "-" * 60_000 + "1"),
]
HARMLESS = [
    "",
    "print(1)",
    "x = 'rm -rf'",
    "import subprocess\nsubprocess.run(['ls', '-l'], check=True)",
    "import subprocess\nsubprocess.run(['git', 'commit', '-m', text], shell=False)",
    "import os; os.system('ls')",
    "import os\nos.remove('x')",
    "import os\nos.chmod('x', 0o644)",
    "open('a', 'w').write('x')",
    "open('/dev/sda')",
    "print(open('/etc/hosts', 'rb').read())",
    "re.compile('x')",
    "x = '\\d'; 1 is 1",
]


@pytest.mark.parametrize(("kind", "code"), DANGERS, ids=range(len(DANGERS)))
def test_what_code_would_do_is_named(kind: Kind, code: str) -> None:
    """By whatever name it calls it."""
    assert kind in {danger.kind for danger in dangers_of_code(code)}


@pytest.mark.parametrize("code", HARMLESS)
def test_other_code_is_none(code: str) -> None:
    """What it only speaks of does not happen."""
    assert dangers_of_code(code) == ()


def test_a_danger_of_code_says_where_it_stands() -> None:
    """The line that it begins in, in characters."""
    assert dangers_of_code("x = 'é'\nexec(x)") == (Danger(Kind.UNTOLD, "exec(x)", 8),)
