"""No process outlives its hook, whatever it does to get away, and whoever is killed meanwhile."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import cycle, islice
from pathlib import Path

import psutil
import pytest

from agent_image.guard.verdict import Say
from agent_image.hooks.hook import Hook, HookFailed, HookFault, Said
from agent_image.hooks.supervisors import IDLE
from tests.agent_image.hooks.running import (
    PIDS,
    Ground,
    descriptors,
    ground_in,
    hook,
    left,
    supervisors,
    until,
    wardens,
    written,
)
from tests.conftest import ROOT

# Each writes down who it is, in one write.
ME = f"echo $BASHPID >> {PIDS}"
PYTHON = f"""#!/usr/bin/env python3
import os, signal, sys, time
at = os.path.abspath({PIDS!r})
def me():
    with open(at, "ab", 0) as file:
        file.write(b"%d\\n" % os.getpid())
me()
"""
DAEMON = """
def daemon():
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    for number in (0, 1, 2):
        os.close(number)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    me()
    time.sleep(600)
    os._exit(0)
daemon()
"""
COMET = """
def comet():
    # Each forks the next in a session of its own, and ends.
    for _ in range(3000):
        if os.fork():
            os._exit(0)
        os.setsid()
        me()
if not os.fork():
    comet()
    time.sleep(600)
    os._exit(0)
"""
BOMB = """
def bomb(depth):
    for _ in range(3):
        if not os.fork():
            os.setsid()
            me()
            if depth:
                bomb(depth - 1)
            time.sleep(600)
            os._exit(0)
bomb(3)
"""
WAITS = f"\nwhile len(open({PIDS!r}).readlines()) < {{}}: time.sleep(0.01)\n"
SLOW = f"{ME}; setsid -f bash -c '{ME}; exec sleep 600'; while [ ! -e go ]; do sleep 0.01; done; exit 2"
"""Two processes; refuses when it may go on."""


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    with ground_in(tmp_path) as ground:
        yield ground


@contextmanager
def begun(ground: Ground, folder: Path) -> Iterator[Future[Said]]:
    """Have the slow hook run, as far as it goes by itself."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(ground.said, hook(command=SLOW, timeout=60), folder=folder)
        until(lambda: len(written(folder)) == 2)
        yield running


def shell(script: str) -> Hook:
    return hook(script=f"{ME}\n{script}", timeout=60)


def python(script: str, waits_for: int) -> Hook:
    return hook(script=f"{PYTHON}{script}{WAITS.format(waits_for)}", timeout=60)


@pytest.mark.parametrize(
    ("one", "least"),
    [
        (shell(f"({ME}; exec sleep 600) & until [ $(wc -l < {PIDS}) -ge 2 ]; do sleep 0.01; done"), 2),
        (shell(f"(trap '' TERM HUP; {ME}; sleep 600; sleep 600) & disown; sleep 0.1"), 2),
        (shell(f"env -i setsid -f bash -c '{ME}; exec sleep 600' </dev/null >/dev/null 2>&1; sleep 0.1"), 2),
        (shell(f"(setsid bash -c '({ME}; kill -STOP $BASHPID) &'); until [ $(wc -l < {PIDS}) -ge 2 ]; do :; done"), 2),
        (shell(f"for i in {{1..200}}; do ({ME}; exec sleep 600) & done; sleep 0.1"), 2),
        (python(DAEMON, 2), 2),
        (python(BOMB, 100), 100),
        (python(COMET, 20), 20),
        (python(DAEMON + BOMB + COMET, 130), 130),
    ],
    ids=[
        *("holds standard output", "ignores signals", "empties its environment", "is stopped", "many"),
        *("double fork", "fork bomb", "comet", "all of it"),
    ],
)
def test_nothing_outlives_a_hook_that_ends(ground: Ground, one: Hook, least: int) -> None:
    """What it leaves in the background is over when its verdict is there, and the verdict holds."""
    folder = ground.folder()

    assert ground.said(one, folder=folder) == Said()

    assert len(written(folder)) >= least
    assert left(folder) == []


@pytest.mark.parametrize(
    ("script", "least"),
    [
        (DAEMON, 2),
        (BOMB, 100),
        # As many as there are while nobody ends them: a bomb that is not bounded, but for how often it forks.
        ("for _ in range(7):\n    os.fork(); me()\n", 100),
    ],
    ids=["daemon", "fork bomb", "doubling"],
)
def test_nothing_outlives_a_hook_that_takes_too_long(ground: Ground, script: str, least: int) -> None:
    """The timeout ends the whole tree."""
    folder = ground.folder()
    one = hook(script=f"{PYTHON}{script}\ntime.sleep(600)", timeout=3)

    assert ground.failed(one, folder=folder).fault is HookFault.TIMEOUT

    assert 1 < len(written(folder)) <= 3 * least
    assert left(folder) == []


def test_nothing_outlives_a_hook_that_writes_too_much(ground: Ground) -> None:
    """Nor does it write to its end."""
    folder = ground.folder()
    one = shell(f"({ME}; exec setsid sleep 600) & head -c 50000000 /dev/zero; touch done")

    assert ground.failed(one, folder=folder).fault is HookFault.OUTPUT

    assert not (folder / "done").exists()
    assert left(folder) == []


def test_nothing_outlives_a_hook_for_which_nobody_waits(ground: Ground) -> None:
    """One look ends it."""
    folder = ground.folder()
    looks = []

    def gone() -> bool:
        looks.append(time.monotonic())
        return len(written(folder)) > 1

    assert ground.failed(hook(command=SLOW, timeout=60), gone=gone, folder=folder).fault is HookFault.ABANDONED

    assert len(looks) > 1
    assert len(written(folder)) > 1
    assert left(folder) == []


def test_a_hook_for_which_nobody_waits_does_not_start(ground: Ground) -> None:
    """The look comes before anything runs."""
    folder = ground.folder()

    failed = ground.failed(hook(command="touch begun"), gone=lambda: True, folder=folder)

    assert failed.fault is HookFault.ABANDONED
    assert not (folder / "begun").exists()


def test_a_look_that_raises_ends_the_hook(ground: Ground) -> None:
    """What it raises comes through."""
    folder = ground.folder()

    def gone() -> bool:
        if len(written(folder)) > 1:
            raise KeyError("gone")
        return False

    with pytest.raises(KeyError, match="gone"):
        ground.said(hook(command=SLOW, timeout=60), gone=gone, folder=folder)
    assert left(folder) == []


SLAYER = f"setsid -f bash -c '{ME}; exec sleep 600'; sleep 0.1; kill -{{}} $PPID; sleep 0.5; exit 2"


@pytest.mark.parametrize("signal_name", ["KILL", "STOP"])
def test_a_hook_that_turns_on_its_supervisor(ground: Ground, signal_name: str) -> None:
    """The warden ends it, with all that it started; the next hook works."""
    folder = ground.folder()

    assert ground.failed(shell(SLAYER.format(signal_name)), folder=folder).fault is HookFault.BROKEN

    assert len(written(folder)) == 2
    assert left(folder) == []
    assert ground.said(hook(command="true")) == Said()


@pytest.mark.parametrize("signal_name", ["TERM", "INT", "HUP", "QUIT", "PIPE", "CHLD"])
def test_a_supervisor_heeds_no_signal(ground: Ground, signal_name: str) -> None:
    """That it can ignore."""
    folder = ground.folder()

    assert ground.said(shell(SLAYER.format(signal_name)), folder=folder) == Said(say=Say.DENY)

    assert len(written(folder)) == 2
    assert left(folder) == []


def test_a_warden_that_is_killed_takes_no_hook_with_it(ground: Ground) -> None:
    """The hook that runs goes on to its end, below its supervisor; the next has a new warden."""
    folder = ground.folder()
    with begun(ground, folder) as running:
        (before,) = wardens()
        before.kill()
        until(lambda: before.status() == psutil.STATUS_ZOMBIE)
        (folder / "go").touch()

        assert running.result() == Said(say=Say.DENY)

    assert left(folder) == []
    assert ground.said(hook(command="true")) == Said()
    (after,) = wardens()
    assert after.pid != before.pid


def test_a_supervisor_that_is_killed_makes_no_other_wait(ground: Ground) -> None:
    """Its hook fails while one that began later still runs."""
    first, second = ground.folder(), ground.folder()
    with begun(ground, first) as killed:
        (supervisor,) = supervisors()
        with begun(ground, second) as other:
            supervisor.kill()
            with pytest.raises(HookFailed) as raised:
                killed.result()
            assert not other.done()
            (second / "go").touch()

    assert raised.value.fault is HookFault.BROKEN
    assert other.result() == Said(say=Say.DENY)
    assert left(first) == left(second) == []


def test_an_idle_supervisor_that_is_killed_is_not_used(ground: Ground) -> None:
    """Another one runs the next hook."""
    ground.said(hook(command="true"))
    (idle,) = supervisors()

    idle.kill()
    until(lambda: not idle.is_running())

    assert ground.said(hook(command="true")) == Said()
    (other,) = supervisors()
    assert other.pid != idle.pid


def test_nothing_outlives_an_agent_that_is_killed(tmp_path: Path) -> None:
    """Not the hook, not what it started, not the processes above it."""
    agent = (
        "import sys; from pathlib import Path; from tests.agent_image.hooks.running import ground_in, hook\n"
        "with ground_in(Path(sys.argv[1])) as ground:\n"
        "    ground.said(hook(command=sys.argv[2], timeout=300))\n"
    )
    folder = tmp_path / "0"
    with subprocess.Popen([sys.executable, "-c", agent, str(tmp_path), SLOW], cwd=ROOT) as process:
        until(lambda: len(written(folder)) == 2)
        below = psutil.Process(process.pid).children(recursive=True)
        process.kill()

    assert len(below) >= 4
    until(lambda: not any(one.is_running() for one in below) and not left(folder))


def test_closing_ends_the_hooks_that_run(tmp_path: Path) -> None:
    """And every process of ours; afterwards, no hook runs."""
    with ground_in(tmp_path) as ground:
        folder = ground.folder()
        with begun(ground, folder) as running:
            (warden,) = wardens()
            below = warden.children(recursive=True)

            ground.commands.close()

            with pytest.raises(HookFailed) as raised:
                running.result()
        assert raised.value.fault is HookFault.ABANDONED
        assert len(below) >= 3
        assert not any(one.is_running() for one in [warden, *below])
        assert left(folder) == []
        assert ground.fault(hook(command="true")) is HookFault.BROKEN


def test_closing_what_has_run_nothing(tmp_path: Path) -> None:
    """No process starts before the first hook, and closing twice is no matter."""
    with ground_in(tmp_path) as ground:
        assert wardens() == []
        ground.commands.close()


def test_sixteen_hooks_at_once(ground: Ground) -> None:
    """Each gets its own context and gives its own answer; two supervisors at most stay for the next."""
    one = hook(command=f"{ME}; until [ -e ../go ]; do sleep 0.01; done; cat >&2; exit 2", timeout=60)
    folders = [ground.folder() for _ in range(16)]

    with ThreadPoolExecutor(len(folders)) as pool:
        said = [pool.submit(ground.said, one, {"n": n}, folder=folder) for n, folder in enumerate(folders)]
        until(lambda: all(written(folder) for folder in folders))
        (ground.root / "go").touch()

    assert [one.result().reason for one in said] == [f'{{"n": {n}}}' for n in range(len(folders))]
    until(lambda: len(supervisors()) == IDLE)
    assert [left(folder) for folder in folders] == [[]] * len(folders)


def test_two_hundred_hooks_leave_nothing(ground: Ground) -> None:
    """No descriptor in the agent, in the warden or in a supervisor, no process, no zombie."""
    ends = [
        "true",
        "exit 2",
        "exit 9",
        "kill -9 $$",
        "setsid -f sleep 600",
        "no-such-program",
        "head -c 2000000 /dev/zero",
    ]
    ground.said(hook(command="true"))
    before = descriptors(), sum(map(psutil.Process.num_fds, [*wardens(), *supervisors()]))

    for command in islice(cycle(ends), 200):
        with suppress(HookFailed):
            ground.said(hook(command=command))

    ground.said(hook(command="true"))
    until(lambda: len(supervisors()) == 1)
    assert (descriptors(), sum(map(psutil.Process.num_fds, [*wardens(), *supervisors()]))) == before
    assert {one.status() for one in supervisors()} <= {psutil.STATUS_SLEEPING, psutil.STATUS_RUNNING}


def test_without_descriptors_a_hook_is_broken(ground: Ground) -> None:
    """And the next that has some works."""
    ground.said(hook(command="true"))
    folder = ground.folder()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        with ExitStack() as held:
            nowhere = [held.enter_context(Path(os.devnull).open()) for _ in range(256 - descriptors() - 3)]
            failed = ground.failed(hook(command="true"), folder=folder)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert nowhere
    assert failed.fault is HookFault.BROKEN
    assert ground.said(hook(command="true")) == Said()
