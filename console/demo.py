"""Show on this machine what the kit is for: an answer, what it was reading, and the same words after a re-index."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from agent_image.contract import Regime, Span
from agent_image.retrieval.fingerprint import Fingerprint
from agent_image.retrieval.passage import Address, parse_address
from console.ask import agent_of, ask
from console.dev import EXAMPLE, START_SECONDS
from console.errors import ConsoleError
from console.laptop import SAMPLE_KNOWLEDGE
from console.local_agent import ADDRESS_FILE
from console.screen import Screen
from console.terminal import shown
from console.trace.archive import NoArchive
from console.trace.index_now import NoIndex
from console.trace.resolve import Resolver, Wanted
from console.trace.sources.by_scheme import ByScheme
from console.trace.sources.files import Files

WINDOWS: Final = (1_200, 500)
"""Characters of a passage, before and after the re-index."""
_SHOWN: Final = 60
_PAUSE_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Read:
    """Hold what one retrieval gave the model to read, as its span tells it."""

    index_version: str
    passages: tuple[tuple[str, Fingerprint], ...]


def main() -> int:
    """Run the demonstration; it leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="rastro-demo-") as folder:
        state = Path(folder)
        for window in WINDOWS:
            _write(f"\nThe agent answers from {SAMPLE_KNOWLEDGE.name}/, cut into passages of {window:,} characters:\n")
            with _agent(state, window):
                _write(f"\n> {EXAMPLE}\n")
                status = ask(EXAMPLE, None, agent_of(state, None), Screen(_write), as_json=False)
            if status:
                return status
        before, after = reads((state / "spans.jsonl").read_text())
    _compare(before, after)
    return 0


def reads(spans: str) -> list[Read]:
    """Find the retrievals in a file of spans, in their order."""
    found = [json.loads(line)["attributes"] for line in spans.splitlines()]
    return [
        Read(
            attributes[Span.INDEX_VERSION],
            tuple(
                (address.uri(attributes[Span.BASE]), address.fingerprint)
                for address in (parse_address(one["id"]) for one in json.loads(attributes[Span.DOCUMENTS]))
            ),
        )
        for attributes in found
        if Span.DOCUMENTS in attributes
    ]


def found_again(uri: str, fingerprint: Fingerprint) -> str | None:
    """Find the words of a passage in its source as it is now; None where it does not hold them."""
    wanted = Wanted(Address(uri, fingerprint), uri)
    return Resolver(ByScheme({"file": Files()}), NoArchive(), NoIndex()).facts([wanted])[wanted].text.words


def _compare(before: Read, after: Read) -> None:
    _write(f"\nThe index changed from version {before.index_version} to {after.index_version}.\n")
    _write("What the first answer was reading, looked up by its addresses in the documents as they are now:\n\n")
    kept = set(after.passages)
    for uri, fingerprint in before.passages:
        words = found_again(uri, fingerprint)
        indexed = "also a passage of the new index" if (uri, fingerprint) in kept else "no passage of the new index"
        _write(f"{shown(Path(urlsplit(uri).path).name)}#{fingerprint}\n")
        _write(f"  {f'found: {shown(words[:_SHOWN])}…' if words else 'not found'} ({indexed})\n")


@contextmanager
def _agent(state: Path, window: int) -> Iterator[None]:
    command = [sys.executable, "-m", "console.cli", "dev", "--state", str(state), "--port", "0"]
    options = ["--window", str(window), "--overlap", str(window // 10), "--capture", Regime.ADDRESS.value]
    child = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
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
