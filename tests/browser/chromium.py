"""Open a page in headless Chromium, and say what it did with it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

# It asks nobody anything of its own accord: what is seen on the network is the page's doing.
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
SECONDS = 120
"""Seconds after which a browser hangs: it takes two."""
OF_THE_BROWSER = "not an origin"
"""What the browser's own requests say of who began them."""


@dataclass(frozen=True)
class Opened:
    """Hold a page as the browser had it: its elements, what the console said, what it asked the network for."""

    dom: str
    console: tuple[str, ...]
    requests: tuple[str, ...]

    @property
    def tree(self) -> BeautifulSoup:
        return BeautifulSoup(self.dom, "html.parser")

    def charts(self) -> Iterator[Tag]:
        """Yield each drawing."""
        yield from self.tree.find_all("svg")


@dataclass(frozen=True)
class Chromium:
    """Run one browser after the other, each with a profile of its own."""

    binary: str
    folder: Path

    def open(self, page: Path, *options: str) -> Opened:
        """Load a page and wait until nothing loads any more."""
        log = self.folder / f"{page.stem}-network.json"
        done = self.run(page, "--dump-dom", "--enable-logging=stderr", "--v=0", f"--log-net-log={log}", *options)
        return Opened(done.stdout, tuple(_console(done.stderr)), tuple(_requests(json.loads(log.read_text()))))

    def run(self, page: Path, *options: str) -> subprocess.CompletedProcess[str]:
        """Run the browser on a page."""
        command = [self.binary, *QUIET, f"--user-data-dir={self.folder / 'profile'}", *options, page.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)


def _console(log: str) -> Iterator[str]:
    yield from re.findall(r"^\[[^\]]*:CONSOLE[^\]]*\] (.*)$", log, re.MULTILINE)


def _requests(log: dict[str, Any]) -> Iterator[str]:
    kind = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    for event in log["events"]:
        asked = event.get("params", {})
        if event["type"] == kind and "url" in asked and asked["initiator"] != OF_THE_BROWSER:
            yield asked["url"]
