"""State what finding passages in documents costs: time and memory for one in a long text, readings for many in many.

As a program, `python -m benchmarks.trace.finding FILE FINGERPRINT` finds a passage in one file and prints the seconds
that it took, the processor's, and the most memory that the process ever held, in bytes.
"""

from __future__ import annotations

import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent_image.retrieval.fingerprint import Fingerprint, fingerprint, parse
from agent_image.retrieval.passage import Address
from benchmarks.process import ROOT
from benchmarks.ratio import Ratio
from console.trace.archive import NoArchive
from console.trace.facts import Source
from console.trace.index_now import NoIndex
from console.trace.resolve import Resolver, Wanted
from console.trace.sources.by_scheme import ByScheme
from console.trace.sources.files import Files
from console.trace.sources.media import Kind
from console.trace.sources.source import Content, Refused, Version, Why, missing

MEGABYTES = 50
PASSAGES, DOCUMENTS = 1_000, 200
_ROUNDS = 3
_PASSAGE_CHARACTERS = 1_200
_VOCABULARY = {
    "ASCII": "etaoinshrdlucmfwypvbgkqjxz",
    "multi-byte": "etaoinshrdlucmáéíóúãõçâêô漢字仮名€",
}


def finding_ratios() -> list[Ratio]:
    """Measure, and give the ratios."""
    return [ratio for kind in _VOCABULARY for ratio in _of_long_text(kind)] + _of_many()


def _of_long_text(kind: str) -> Iterator[Ratio]:
    print(f"one passage in {MEGABYTES} MB of {kind} text")
    with tempfile.TemporaryDirectory(prefix="rastro-bench-") as folder:
        file = Path(folder, "long.txt")
        text = _text(kind)
        file.write_text(text)
        wanted = fingerprint(text[-2 * _PASSAGE_CHARACTERS : -_PASSAGE_CHARACTERS])
        size = file.stat().st_size
        runs = [_found_in(file, wanted) for _ in range(_ROUNDS)]
    seconds, memory = min(run[0] for run in runs), max(run[1] for run in runs)
    least = min(_joined(text) for _ in range(_ROUNDS))
    named = f"one passage found in {MEGABYTES} MB of {kind} text"
    yield Ratio(f"{named} / ' '.join(text.split())", seconds / least, 4.0, f"{seconds:.2f} s / {least:.2f} s")
    yield Ratio(f"{named}, peak memory / its file", memory / size, 6.0, f"{memory / 1e6:.0f} MB / {size / 1e6:.0f} MB")


def _text(kind: str) -> str:
    """Write so many bytes of words, in lines; one character in many thousands needs four bytes, as in any long text."""
    chance, letters = random.Random(1), _VOCABULARY[kind]  # noqa: S311 - the same text each time
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(20_000)]
    if kind != "ASCII":
        words[0] = "😀"
    page = "\n".join(" ".join(chance.choices(words, k=12)) for _ in range(10_000))
    pages = MEGABYTES * 1_000_000 // len(page.encode())
    return "\n".join(" ".join((str(n), page)) for n in range(pages)) + "\n" + " ".join(chance.choices(words, k=2_000))


def _found_in(file: Path, wanted: Fingerprint) -> tuple[float, int]:
    """Find it in a process of its own: what one process holds, no other has held before."""
    command = [sys.executable, "-m", "benchmarks.trace.finding", str(file), str(wanted)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)


def _joined(text: str) -> float:
    started = time.process_time()
    " ".join(text.split())
    return time.process_time() - started


def _find(file: Path, wanted: Fingerprint) -> None:
    passage = Wanted(Address(file.name, wanted), file.as_uri())
    resolver = Resolver(ByScheme({"file": Files()}), NoArchive(), NoIndex(), surroundings=200)
    started = time.process_time()
    found = resolver.facts([passage])[passage]
    took = time.process_time() - started
    if found.source.state is not Source.INTACT:
        message = f"the passage is {found.source.state}"
        raise RuntimeError(message)
    print(took, _peak())


def _peak() -> int:
    """Give the most memory that this process ever held, in bytes."""
    status = Path("/proc/self/status")
    # On Linux the other figure counts what the parent held when it started this process.
    if status.exists() and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return int(found[1]) * 1_024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1_024)


# --- many passages of many documents ---------------------------------------------------------------------------------


@dataclass
class Counted:
    """Hold documents, and count how often each is fetched, and how often text is taken out of one."""

    documents: dict[str, Content]
    fetched: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)

    def read(self, uri: str) -> Content | Refused:
        """Give a document."""
        self.fetched[uri] += 1
        return self.documents.get(uri, missing(Why.NOT_FOUND))

    def older(self, uri: str, newest: str) -> Sequence[Version]:  # noqa: ARG002 - there are none
        """Know of no versions."""
        return ()

    def texts(self, kind: Kind, content: Content) -> Sequence[bytes]:  # noqa: ARG002 - pages alone
        """Give a page as it is."""
        self.taken[content.name] += 1
        return [content.data]

    @contextmanager
    def opened(self) -> Iterator[Counted]:
        """Take text out of documents."""
        yield self


def _of_many() -> list[Ratio]:
    print(f"{PASSAGES:,} passages of {DOCUMENTS} documents")
    each = PASSAGES // DOCUMENTS
    names = [f"{n}.{'md' if n % 2 else 'html'}" for n in range(DOCUMENTS)]
    rules = {name: [f"Rule {k} of {name}: case {k} takes {k} days." for k in range(each)] for name in names}
    shelf = Counted({name: Content(" ".join(rules[name]).encode(), name) for name in names})
    wanted = [Wanted(Address(name, fingerprint(rule)), name) for name in names for rule in rules[name]]
    found = Resolver(shelf, NoArchive(), NoIndex(), extraction=shelf.opened).facts(wanted)
    if {one.source.state for one in found.values()} != {Source.INTACT}:
        message = "a passage was not found in its document"
        raise RuntimeError(message)
    fetched, taken, pages = shelf.fetched.total(), shelf.taken.total(), DOCUMENTS // 2
    named = f"{PASSAGES:,} passages of {DOCUMENTS} documents"
    return [
        Ratio(f"{named}, documents fetched / documents", fetched / DOCUMENTS, 1.0, f"{fetched} / {DOCUMENTS}"),
        Ratio(f"{named}, pages prepared / pages", taken / pages, 1.0, f"{taken} / {pages}"),
    ]


if __name__ == "__main__":
    _find(Path(sys.argv[1]), parse(sys.argv[2]))
