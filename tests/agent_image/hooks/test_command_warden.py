"""The warden finds its children in either way that Linux offers, and ends a whole process group at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from agent_image.hooks.exchange import Order, exchange
from agent_image.hooks.hook import HookFailed, HookFault
from agent_image.hooks.processes import children, end, searched
from agent_image.hooks.supervisors import WARDEN, Supervisors
from tests.agent_image.hooks.running import until


def test_children_are_found_in_both_ways(tmp_path: Path) -> None:
    """Whatever a child's name holds."""
    named = tmp_path / ") R 1 ("
    named.symlink_to("/bin/sleep")
    with subprocess.Popen([named, "600"]) as child:
        try:
            assert psutil.Process(child.pid).name() == named.name
            assert child.pid in children()
            assert child.pid in searched()
        finally:
            child.kill()


def test_a_process_group_ends_at_once(tmp_path: Path) -> None:
    """Those of its processes, too, that are no children of who ends it."""
    pids = tmp_path / "pids"
    script = f"for i in {{1..5}}; do (echo $BASHPID >> {pids}; exec sleep 600) & done; wait"
    with subprocess.Popen(["/bin/bash", "-c", script], start_new_session=True) as leader:
        until(lambda: pids.exists() and pids.read_text().count("\n") == 5)
        below = psutil.Process(leader.pid).children()

        end(leader.pid)

    assert len(below) == 5
    until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in below))


def test_the_own_process_group_is_spared() -> None:
    """A child that did not leave it ends alone: this test goes on."""
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        assert os.getpgid(child.pid) == os.getpgrp()

        end(child.pid)

    assert child.returncode == -9


def test_one_that_has_ended_is_no_matter() -> None:
    """Nothing is raised."""
    with subprocess.Popen(["/bin/true"]) as child:
        pass

    end(child.pid)


def test_the_warden_needs_the_standard_library_alone() -> None:
    """And goes when the agent's socket is closed; without one, it does not begin."""
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", WARDEN], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )

    assert answer.returncode == 1
    assert b"Socket operation on non-socket" in answer.stderr


@pytest.mark.parametrize(
    "program",
    ["raise SystemExit(1)", "import time; time.sleep(600)", "import os, time; os.close(0); time.sleep(600)"],
    ids=["ends", "is deaf", "hangs up"],
)
def test_a_warden_that_does_not_work_breaks_the_hook(tmp_path: Path, program: str) -> None:
    """However it fails, and each time: nothing runs without one."""
    supervisors = Supervisors(program, answer_seconds=0.2)
    order = Order(["/bin/touch", "begun"], {}, tmp_path)

    for _ in range(2):
        with pytest.raises(HookFailed) as raised:
            exchange(supervisors, order, b"", 0.5, lambda: False)
        assert raised.value.fault is HookFault.BROKEN
    supervisors.close()

    assert not (tmp_path / "begun").exists()
