"""Retrieve from a folder on this machine, no service needed: the knowledge base of a laptop."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qsl, unquote

from agent_image.retrieval.chunks import OVERLAP_DEFAULT, WINDOW_DEFAULT, Cut, chunks
from agent_image.retrieval.documents import Document, Documents, documents
from agent_image.retrieval.failure import Failure
from agent_image.retrieval.full_text_index import BUSY_SECONDS, IN_MEMORY, LAYOUT, FullTextIndex, Hit, Row
from agent_image.retrieval.full_text_query import full_text_query
from agent_image.retrieval.knowledge_base import Retrieval, refusal
from agent_image.retrieval.passage import Passage

SCHEME: Final = "folder:"
_FORM: Final = f"{SCHEME}<path>?window=<characters>&overlap=<characters>"
_VERSION_CHARACTERS: Final = 20
_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class Folder:
    """Say where the documents lie and how they are cut."""

    path: Path
    cut: Cut


def parse_folder(url: str) -> Folder:
    """Read `folder:<path>?window=…&overlap=…`: a path, percent-encoded where it holds `?` or `%`, and sizes to cut to.

    Raises:
        ValueError: with every fault, one a line.
    """
    place, _, query = url.removeprefix(SCHEME).partition("?")
    faults = []
    if not url.startswith(SCHEME) or not place or place.startswith("//"):
        faults.append(f"{url!r} names no folder; allowed: {_FORM}")
    sizes = {"window": WINDOW_DEFAULT, "overlap": OVERLAP_DEFAULT}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key not in sizes:
            faults.append(f"{key!r} is no key of a folder; allowed: {', '.join(sizes)}")
        elif not (value.isascii() and value.isdigit()):
            faults.append(f"{key} is {value!r}; allowed: a whole number of characters")
        else:
            sizes[key] = int(value)
    try:
        cut = Cut(**sizes)
    except ValueError as error:
        faults.append(str(error))
    if faults:
        raise ValueError("\n".join(faults))
    return Folder(Path(unquote(place)), cut)


class FolderKnowledgeBase:
    """Answer from the documents as they are now: what changes in the folder is in the next retrieval."""

    def __init__(
        self,
        folder: Folder,
        *,
        index: str = IN_MEMORY,
        busy_seconds: float = BUSY_SECONDS,
        index_version: str | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Take the folder, the index's file and how long to wait for it, a version that a setting states, and a clock.

        The clock gives the time of day in nanoseconds, as the file system's clock does.

        Raises:
            sqlite3.Error: the index's file cannot be opened.
        """
        self._root = folder.path.resolve()
        self._id = id_of(folder)
        self._cut = folder.cut
        self._index = FullTextIndex(index, busy_seconds)
        self._stated_version = index_version
        self._documents = Documents(self._root, clock_ns)
        self._version = ""
        self._lock = Lock()

    @property
    def id(self) -> str:
        """Name the folder, without where it lies."""
        return self._id

    def retrieve(self, query: str, top_k: int) -> Retrieval:
        """Retrieve the best `top_k` passages by BM25; the score is above 0, and is of use only beside its neighbours.

        Raises:
            KnowledgeBaseError: not_found, access_denied or unavailable.
        """
        with self._lock, _told():
            hits = self._search(full_text_query(query), top_k)
            version = self._stated_version or self._version
        base = self._root.as_uri().rstrip("/")
        return Retrieval(tuple(_passage(base, hit) for hit in hits), version)

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    def _search(self, query: str | None, top_k: int) -> list[Hit]:
        if self._documents.changed():
            self._fill()
        for _ in range(_ATTEMPTS):
            hits = self._index.search(self._version, query, top_k)
            if hits is not None:
                return hits
            # Another process has filled the file, from another state of the folder or with other sizes.
            self._fill()
        raise refusal(Failure.UNAVAILABLE)

    def _fill(self) -> None:
        found = self._documents.read()
        self._version = _version(found, self._cut)
        if self._index.search(self._version, None, 0) is None:
            self._index.fill(self._version, _rows(found, self._cut))


def version_now(folder: Folder) -> str:
    """Tell the version that an index of the folder has as it is now, without an index.

    Raises:
        OSError: the folder is not there, or may not be listed.
    """
    return _version(documents(folder.path.resolve()), folder.cut)


def id_of(folder: Folder) -> str:
    """Name the folder as a knowledge base, without where it lies."""
    return f"{SCHEME}{folder.path.resolve().name}"


def _version(found: Sequence[Document], cut: Cut) -> str:
    """Digest all that decides what an index holds: layout, sizes, paths and texts."""
    digest = sha256(f"{LAYOUT}.{cut.window}.{cut.overlap}".encode())
    for document in found:
        digest.update(document.digest)
    return digest.hexdigest()[:_VERSION_CHARACTERS]


def _rows(found: Sequence[Document], cut: Cut) -> Iterator[Row]:
    for document in found:
        for position, text in enumerate(chunks(document.text, cut)):
            yield Row(document.path, position, text)


def _passage(base: str, hit: Hit) -> Passage:
    row = hit.row
    return Passage(f"{base}/{row.path}", row.text, hit.score, MappingProxyType({"position": row.position}))


@contextmanager
def _told() -> Iterator[None]:
    """Turn what the file system and SQLite raise into codes."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise refusal(Failure.NOT_FOUND) from None
    except PermissionError:
        raise refusal(Failure.ACCESS_DENIED) from None
    except (OSError, sqlite3.Error):
        raise refusal(Failure.UNAVAILABLE) from None
