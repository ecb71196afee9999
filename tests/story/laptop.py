"""Run the agent of this machine on the shop's documents, and let time pass."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_image.contract import Regime
from console.local_agent import ADDRESS_FILE
from tests.loopback.agent_process import PATIENCE_SECONDS
from tests.story import shop
from tests.story.command import Ran, rastro

_PAUSE_SECONDS = 0.05


@dataclass
class Laptop:
    """Hold a laptop whose agent answered a question."""

    folder: Path
    regime: Regime
    answer: str = ""

    @property
    def state(self) -> Path:
        """Give the state folder."""
        return self.folder / "state"

    @property
    def documents(self) -> Path:
        """Give the folder of documents."""
        return self.folder / "shop"

    def answers(self) -> None:
        """Start the agent, ask it, and end it."""
        shop.open_shop(self.documents)
        with self._agent(window=1_200):
            said = rastro("ask", "--state", str(self.state), shop.QUESTION)
        assert said.status == 0, said.errors
        self.answer = said.output.partition("\n[1] ")[0]

    def time_passes(self) -> None:
        """Re-index with shorter passages, edit one document, delete another, deny access to a third."""
        (self.documents / shop.CHANGED).write_text(shop.changed_document())
        (self.documents / shop.DELETED).unlink()
        with self._agent(window=80):
            said = rastro("ask", "--state", str(self.state), shop.QUESTION)
        assert said.status == 0, said.errors
        # Whoever may read everything cannot follow a link that leads to itself either.
        denied = self.documents / shop.DENIED
        denied.unlink()
        denied.symlink_to(denied)

    def trace(self, *options: str) -> Ran:
        """Trace on this laptop."""
        return rastro("trace", "--state", str(self.state), *options)

    @contextmanager
    def _agent(self, window: int) -> Iterator[None]:
        command = [sys.executable, "-m", "console.cli", "dev", "--port", "0", "--overlap", "0"]
        places = ["--state", str(self.state), "--knowledge", str(self.documents)]
        options = ["--window", str(window), "--capture", self.regime.value]
        child = subprocess.Popen([*command, *places, *options], stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not (self.state / ADDRESS_FILE).exists():
                assert child.poll() is None, "the agent did not start"
                assert time.monotonic() < deadline, "the agent does not answer"
                time.sleep(_PAUSE_SECONDS)
            yield
        finally:
            child.terminate()
            child.wait(PATIENCE_SECONDS)
