"""Make the image without Docker: the folder alone, its lock file in a new environment, the Dockerfile's command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import requests

from agent_image.contract import SESSION_HEADER, SETTINGS_VARIABLE
from console.sse import parse
from tests.conftest import ROOT
from tests.loopback.agent_process import PATIENCE_SECONDS, free_port, wait_for_ping
from tests.stacks.dockerfile import read

SESSION = "session-of-the-image-alone-0123456789"


@dataclass(frozen=True)
class Image:
    """Hold a folder that stands for the container's file system."""

    workdir: Path
    binaries: Path

    @classmethod
    def made_in(cls, folder: Path) -> Self:
        """Copy, and install what the copy's own lock file says."""
        workdir, environment = folder / "app", folder / "environment"
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "Dockerfile")
        shutil.copytree(ROOT / "agent_image", workdir / "agent_image", ignore=ignored)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip: list[str | Path] = [
            environment / "bin" / "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
        ]
        lock = workdir / "agent_image" / "requirements.lock"
        subprocess.run([*pip, "--only-binary=:all:", "--requirement", lock], check=True)
        return cls(workdir, environment / "bin")

    @contextmanager
    def running(self, settings: Mapping[str, Any], variables: Mapping[str, str] = {}) -> Iterator[Agent]:
        """Run the Dockerfile's command with its variables, wait for /ping, and end it by SIGTERM."""
        dockerfile = read((ROOT / "agent_image" / "Dockerfile").read_text())
        port = free_port()
        environment = {
            "PATH": f"{self.binaries}:{os.environ['PATH']}",
            **dockerfile.environment(),
            "PORT": str(port),
            "AWS_EC2_METADATA_DISABLED": "true",
            SETTINGS_VARIABLE: json.dumps(settings),
            **variables,
        }
        command = dockerfile.command()
        launcher = shutil.which(command[0], path=environment["PATH"]) or command[0]
        process = subprocess.Popen(
            [launcher, *command[1:]],
            cwd=self.workdir,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        agent = Agent(process, port)
        try:
            agent.wait()
            yield agent
        finally:
            agent.end()


@dataclass
class Agent:
    """Hold an agent that runs, and what it printed once it has ended."""

    process: subprocess.Popen[str]
    port: int
    printed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Both pipes are read all the time: a full one would stop the agent.
        self._readers = [
            threading.Thread(target=self._read, args=(name,), daemon=True) for name in ("stdout", "stderr")
        ]
        for reader in self._readers:
            reader.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def post(self, body: bytes | Mapping[str, Any], session: str | None = SESSION, **headers: str) -> requests.Response:
        """Invoke the agent."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        said = {"Content-Type": "application/json", **({SESSION_HEADER: session} if session else {}), **headers}
        return requests.post(f"{self.url}/invocations", data=data, headers=said, timeout=PATIENCE_SECONDS)

    def wait(self) -> None:
        """Wait for /ping."""
        try:
            wait_for_ping(self.process, self.port)
        except RuntimeError as error:
            self.end()
            message = f"{error}: {self.printed}"
            raise AssertionError(message) from None

    def end(self, number: int = signal.SIGTERM) -> int:
        """End the agent and take what it printed."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(PATIENCE_SECONDS)
        for reader in self._readers:
            reader.join(PATIENCE_SECONDS)
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        return status

    def _read(self, name: str) -> None:
        stream = getattr(self.process, name)
        with suppress(ValueError):
            self.printed[name] = stream.read()


def local(image: Image, folder: Path, **more: Any) -> dict[str, Any]:
    """Give the settings of a laptop, with all that the agent keeps in a folder."""
    return {
        "environment": "local",
        "models": ["offline:"],
        "knowledge_base": f"folder:{image.workdir}/agent_image/knowledge",
        "store": f"sqlite:///{folder}/guard.db",
        "archive": f"file:{folder}/archive",
        "audit": f"file:{folder}/audit.jsonl",
        "ledger": f"file:{folder}/ledger.jsonl",
        "destination": f"file:{folder}/spans.jsonl",
        **more,
    }


def spans(file: Path) -> list[dict[str, Any]]:
    """Read a file of spans."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def events(text: str) -> list[tuple[str, Any]]:
    """Read server-sent events: the name and the document of each."""
    return [(event.name, json.loads(event.data)) for event in parse([text.encode()])]
