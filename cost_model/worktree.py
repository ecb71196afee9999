"""Synthesise a project as it was at a git reference, in a temporary worktree that is gone afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final

from cost_model.errors import SynthesisError

PROGRAM: Final = "main.py"
"""What synthesises a project; it stands in the project's folder."""
OUT: Final = "cdktf.out"
PATIENCE_SECONDS: Final = 600
"""Seconds after which a synthesis is given up; one takes some seconds."""
_SAID: Final = 5
"""Lines of what a failed program said last that are shown."""
_ELSEWHERE: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""Variables with which a hook of git points at a repository of its own."""
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def project_at(reference: str, project: Path) -> Iterator[Path]:
    """Yield the project's folder as it was at a reference.

    Raises SynthesisError where there is no repository, no such reference or no git. Nothing of it is left, whatever
    ends the block, an interrupt or a request to terminate included.
    """
    prefix = _git(project, "rev-parse", "--show-prefix")
    commit = _commit(project, reference)
    with _ends_by_exception(), tempfile.TemporaryDirectory(prefix="rastro-diff-") as temporary:
        tree = Path(temporary) / "tree"
        try:
            # A checkout's hook is no part of what is priced.
            _git(project, "-c", f"core.hooksPath={os.devnull}", "worktree", "add", "--detach", str(tree), commit)
            yield tree / prefix
        finally:
            with suppress(SynthesisError):
                # Twice: an interrupted checkout leaves its worktree locked.
                _git(project, "worktree", "remove", "--force", "--force", str(tree))


def synthesise(project: Path, out: Path, name: str) -> None:
    """Run a project's own program with this Python, and have it write into `out`.

    Raises SynthesisError with what it said last.
    """
    if not (project / PROGRAM).is_file():
        message = f"{name}: no {PROGRAM} there to synthesise with"
        raise SynthesisError(message)
    variables = {**os.environ, "CDKTF_OUTDIR": str(out)}
    variables.pop("PYTHONSAFEPATH", None)  # the program finds the project's packages beside itself
    status, said = _run([sys.executable, PROGRAM], project, variables)
    if status:
        last = [line for line in said.splitlines() if line.strip()][-_SAID:]
        message = f"{name}: {PROGRAM} failed with status {status}"
        raise SynthesisError(message, *(f"  {line}" for line in last))


def _commit(project: Path, reference: str) -> str:
    try:
        return _git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    except SynthesisError:
        message = f"--git {reference!r}: no such commit, branch or tag in the repository of {project.resolve()}"
        raise SynthesisError(message) from None


def _git(project: Path, *arguments: str) -> str:
    variables = {key: value for key, value in os.environ.items() if key not in _ELSEWHERE}
    try:
        done = subprocess.run(  # noqa: S603 - a program by its name, and arguments that no shell reads
            ["git", "-C", str(project), *arguments],  # noqa: S607 - git is the one that stands on PATH
            capture_output=True, text=True, errors="replace", check=False, env=variables, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        message = f"--git: git cannot be run: {error.strerror or error}"
        raise SynthesisError(message) from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        message = f"--git: {said[-1]}"
        raise SynthesisError(message)
    return done.stdout.strip()


def _run(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> tuple[int, str]:
    # A session of its own: whatever the program starts ends with it.
    process = subprocess.Popen(  # noqa: S603 - the project's own program
        command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        _, said = process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        message = f"{folder}: {PROGRAM} did not end within {PATIENCE_SECONDS} seconds"
        raise SynthesisError(message) from None
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, said


@contextmanager
def _ends_by_exception() -> Iterator[None]:
    """Let a request to terminate unwind as an interrupt does, so that what is to be removed is."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # What somebody else handles, or has ignored (nohup), stays as it is.
    ours = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _exit)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _exit(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
