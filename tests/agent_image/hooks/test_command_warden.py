"""The warden finds its children in either way that Linux offers, and ends a whole process group at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil

from agent_image.hooks.supervisors import WARDEN
from agent_image.hooks.warden import children, end, searched
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
        [sys.executable, "-I", "-S", WARDEN], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )

    assert answer.returncode == 1
    assert b"Socket operation on non-socket" in answer.stderr
