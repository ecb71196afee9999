"""Run the agent on this machine: the container's own application, as a child process."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, Self

from console.errors import BAD_INPUT, BadInputError, ConsoleError
from console.laptop import LAPTOP_FILE, SAMPLE_KNOWLEDGE, STATE, Laptop, audit_file
from console.local_agent import ADDRESS_FILE, LOOPBACK, PORTS, answers_ping
from console.terminal import shown

START_SECONDS: Final = 60
"""How long the agent may take until it answers /ping."""
STOP_SECONDS: Final = 30
"""How long it may take to end: open answers first, then spans and passages."""
EXAMPLE: Final = "Within how many days can unused items be returned?"
"""A question that the sample of documents answers."""

_PAUSE_SECONDS: Final = 0.1
_STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LAUNCHER: Final = "opentelemetry-instrument"


def run(laptop: Laptop, port: int, write: Callable[[str], None]) -> int:
    """Run the agent until a signal ends it; give the exit status.

    Raises:
        BadInputError: the port, the state folder or the agent's settings cannot be used.
        ConsoleError: the agent did not start, or ended by itself.
    """
    with _alone(laptop.state), _Stop() as stop:
        chosen = _free(port)
        _remember(laptop)
        child = stop.watch(_start(laptop, chosen))
        try:
            if _is_ready(child, chosen):
                with _told_in(laptop.state, chosen):
                    write("".join(f"{shown(line)}\n" for line in _lines(laptop, chosen)))
                    return _ended(stop, child.wait())
            return _never_ready(stop, child)
        finally:
            # Whatever broke off here must not leave an agent behind.
            if child.poll() is None:
                child.kill()
                child.wait()


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """Hold the state folder, which only its owner can enter: two agents would write one trail."""
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(state, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        message = f"--state is {str(state)!r}: {error.strerror}; allowed: a folder, or where one can be made"
        raise BadInputError(message) from None
    try:
        _lock(folder, state)
        yield
    finally:
        os.close(folder)


def _lock(folder: int, state: Path) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = f"an agent runs on {state} already; choose another folder with --state"
        raise BadInputError(message) from None


class _Stop:
    """Pass on the signals that end a command, and remember that one came."""

    def __init__(self) -> None:
        self.asked = False
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._ask) for number in _STOPPING}
        self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._kill)
        return self

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def watch(self, child: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
        """Take the process that the signals are meant for."""
        self._child = child
        if self.asked:
            child.terminate()
        return child

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True
        signal.alarm(STOP_SECONDS)
        if self._child is not None:
            self._child.terminate()

    def _kill(self, _number: int, _frame: FrameType | None) -> None:
        if self._child is not None:
            self._child.kill()


def _free(port: int) -> int:
    """Choose where to listen; 0 stands for any free port."""
    if port != 0 and port not in PORTS:
        message = f"--port is {port}; allowed: 0 to {PORTS[-1]}"
        raise BadInputError(message)
    with socket.socket() as probe:
        # As the server does: a port that was given back a moment ago is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            message = f"--port is {port}: {error.strerror}; choose another, or 0 for a free one"
            raise BadInputError(message) from None
        chosen: int = probe.getsockname()[1]
        return chosen


def _start(laptop: Laptop, port: int) -> subprocess.Popen[bytes]:
    launcher = Path(sys.executable).with_name(_LAUNCHER)
    # What it prints is its events, and the terminal is a person's.
    events = _opened(laptop.events)
    try:
        # A session of its own: a key on the terminal reaches it once, through us.
        return subprocess.Popen(  # noqa: S603 - our own program
            [launcher, sys.executable, "-P", "-m", "agent_image"],
            # The launcher lets modules be found where it runs: not among somebody's documents.
            cwd=laptop.state,
            env=laptop.variables(os.environ, port),
            stdin=subprocess.DEVNULL,
            stdout=events,
            start_new_session=True,
        )
    except OSError as error:
        message = f"{launcher} cannot be run ({error.strerror}); make setup installs it"
        raise ConsoleError(message) from None
    finally:
        os.close(events)


def _opened(file: Path) -> int:
    try:
        return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError as error:
        message = f"{file} cannot be written: {error.strerror}; choose another folder with --state"
        raise BadInputError(message) from None


def _is_ready(child: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while child.poll() is None and time.monotonic() < deadline:
        if answers_ping(port):
            return True
        time.sleep(_PAUSE_SECONDS)
    return False


def _never_ready(stop: _Stop, child: subprocess.Popen[bytes]) -> int:
    status = child.poll()
    if stop.asked:
        return 0
    if status is None:
        message = f"the agent did not answer /ping within {START_SECONDS} seconds"
        raise ConsoleError(message)
    if status == BAD_INPUT:
        message = "the agent refused its settings"
        raise BadInputError(message)
    message = f"the agent ended with status {status} before it answered /ping"
    raise ConsoleError(message)


def _ended(stop: _Stop, status: int) -> int:
    if stop.asked and status in {0, -signal.SIGTERM}:
        return 0
    message = f"the agent ended with status {status}"
    raise ConsoleError(message)


def _remember(laptop: Laptop) -> None:
    """Leave in the state folder what the agent is started with: a trace asks it how the index stands now."""
    file = laptop.state / LAPTOP_FILE
    new = file.with_suffix(".new")
    try:
        new.write_text(json.dumps(laptop.started_with()))
        new.replace(file)
    except OSError as error:
        message = f"{file} cannot be written: {error.strerror}; choose another folder with --state"
        raise BadInputError(message) from None


@contextmanager
def _told_in(state: Path, port: int) -> Iterator[None]:
    """Say in the state folder where the agent listens, while it does."""
    file = state / ADDRESS_FILE
    new = file.with_suffix(".new")
    new.write_text(json.dumps({"port": port}))
    new.replace(file)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def _lines(laptop: Laptop, port: int) -> Iterator[str]:
    known = laptop.state == STATE.absolute()
    state = "" if known else f"--state {shlex.quote(str(laptop.state))} "
    example = EXAMPLE if laptop.knowledge == SAMPLE_KNOWLEDGE else "…"
    yield f"agent      http://{LOOPBACK}:{port}"
    yield f"model      {laptop.model}"
    yield f"knowledge  {laptop.knowledge} (passages of {laptop.cut.window} characters, {laptop.cut.overlap} shared)"
    if laptop.hooks.count:
        yield f"hooks      {laptop.hooks.count}"
    yield f"spans      {laptop.spans} (regime {laptop.capture})"
    yield f"archive    {laptop.archive}"
    yield f"events     {laptop.events}"
    yield f"audit      {audit_file(laptop.state)}"
    yield f'ask it     rastro ask {state}"{example}"'
    yield "stop it    Ctrl-C"
