"""Run command hooks in folders of their own, and see which processes are left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psutil

from agent_image.hooks.command import CommandHooks
from agent_image.hooks.hook import Hook, HookEvent, HookFailed, HookFault, HookLevel, HookType, Said

PIDS = "pids"
"""Where a hook's processes write down who they are."""
LONG = 60.0


def hook(
    *,
    command: str | None = None,
    script: str | None = None,
    timeout: int = 30,
    event: HookEvent = HookEvent.POST_TOOL_USE,
) -> Hook:
    return Hook(
        level=HookLevel.AGENT,
        event=event,
        number=1,
        type=HookType.COMMAND,
        timeout=timeout,
        command=command,
        script=script,
    )


@dataclass
class Ground:
    """Run hooks, each in a folder of its own."""

    root: Path
    commands: CommandHooks = field(default_factory=CommandHooks)
    numbers: Iterator[int] = field(default_factory=count)

    def folder(self) -> Path:
        folder = self.root / str(next(self.numbers))
        folder.mkdir()
        return folder

    def said(
        self,
        one: Hook,
        context: Mapping[str, Any] | None = None,
        gone: Callable[[], bool] = lambda: False,
        folder: Path | None = None,
    ) -> Said:
        return self.commands.run(one, context or {}, folder or self.folder(), gone)

    def failed(
        self,
        one: Hook,
        context: Mapping[str, Any] | None = None,
        gone: Callable[[], bool] = lambda: False,
        folder: Path | None = None,
    ) -> HookFailed:
        try:
            said = self.said(one, context, gone, folder)
        except HookFailed as failed:
            return failed
        raise AssertionError(said)

    def fault(self, one: Hook, context: Mapping[str, Any] | None = None) -> HookFault:
        return self.failed(one, context).fault


@contextmanager
def ground_in(root: Path) -> Iterator[Ground]:
    ground = Ground(root)
    try:
        yield ground
    finally:
        ground.commands.close()


def written(folder: Path) -> list[int]:
    """Give who wrote themselves down; what a killed process left unfinished does not count."""
    path = folder / PIDS
    return [int(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


def left(folder: Path) -> list[int]:
    """Give those who wrote themselves down, or who work in the folder, and are there."""
    working = [process.pid for process in psutil.process_iter() if _works_in(process, folder)]
    return sorted({*working, *(pid for pid in written(folder) if psutil.pid_exists(pid))})


def wardens() -> list[psutil.Process]:
    """Give this process's wardens."""
    return [child for child in psutil.Process().children() if _is_warden(child)]


def supervisors() -> list[psutil.Process]:
    return [supervisor for warden in wardens() for supervisor in warden.children()]


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds.

    Raises:
        AssertionError: it does not within a minute.
    """
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _works_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return Path(process.cwd()) == folder
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _is_warden(process: psutil.Process) -> bool:
    try:
        return any("hooks.warden" in part for part in process.cmdline())
    except psutil.NoSuchProcess:
        return False
