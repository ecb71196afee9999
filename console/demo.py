"""Show on this machine what the kit is for: an answer, and after a re-index what the model was reading."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

from console.ask import agent_of, ask
from console.dev import EXAMPLE, START_SECONDS
from console.errors import ConsoleError
from console.laptop import SAMPLE_KNOWLEDGE
from console.local_agent import ADDRESS_FILE
from console.screen import Screen

WINDOWS: Final = (1_200, 500)
"""Characters of a passage, before and after the re-index."""
_RASTRO: Final = (sys.executable, "-P", "-m", "console.cli")
_PAUSE_SECONDS: Final = 0.1


def main() -> int:
    """Run the demonstration; it leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="rastro-demo-") as folder:
        state = Path(folder)
        asked = [(window, str(uuid4())) for window in WINDOWS]
        for window, session in asked:
            _write(f"\nThe agent answers from {SAMPLE_KNOWLEDGE.name}/, cut into passages of {window:,} characters:\n")
            with _agent(state, window):
                _write(f"\n> {EXAMPLE}\n")
                status = ask(EXAMPLE, session, agent_of(state, None), Screen(_write), as_json=False)
            if status:
                return status
        return _trace(state, asked[0][1])


def _trace(state: Path, session: str) -> int:
    _write("\nThe index is another now. What was the first answer reading?\n\n")
    _write(f"$ rastro trace --session {session}\n\n")
    command = [*_RASTRO, "trace", "--session", session, "--state", str(state)]
    status = subprocess.run(command, check=False).returncode  # noqa: S603 - our own program
    _write('\nThis folder goes now. With one of yours: rastro dev, rastro ask "…", rastro trace.\n')
    return status


@contextmanager
def _agent(state: Path, window: int) -> Iterator[None]:
    options = ["--state", str(state), "--port", "0", "--window", str(window), "--overlap", str(window // 10)]
    child = subprocess.Popen([*_RASTRO, "dev", *options], stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
    try:
        _wait(child, state / ADDRESS_FILE)
        yield
    finally:
        child.terminate()
        child.wait()


def _wait(child: subprocess.Popen[bytes], file: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not file.exists():
        if child.poll() is not None or time.monotonic() > deadline:
            message = "the agent did not start"
            raise ConsoleError(message)
        time.sleep(_PAUSE_SECONDS)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ConsoleError as error:
        sys.exit(f"demo: {error}")
