"""Say of every passage that was read what became of it: its words, its source, its index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from agent_image.retrieval.fingerprint import Fingerprint, fingerprint, normalised
from agent_image.retrieval.passage import Address
from console.progress import Progress, no_progress
from console.trace.archive import Archive, Kept
from console.trace.facts import Facts, Source, SourceFact, Text, TextFact
from console.trace.index_now import IndexNow
from console.trace.lookup import Looked, Lookup, Passages
from console.trace.session import Session, retrievals
from console.trace.sources.extraction import Extraction
from console.trace.sources.extractors import extractors
from console.trace.sources.source import Sources, Why

THREADS: Final = 8
"""Documents that are looked at, at a time."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Name a passage as one retrieval read it.

    Attributes:
        address: where it stands, relative to the retrieval's base.
        uri: the whole URI of its source.
        text: the words, where the trail holds them; it may hold a part of them only.
        index_version: which the retrieval read; empty where the trail does not say.
        data_source: which the retrieval asked.
    """

    address: Address
    uri: str
    text: str | None = None
    index_version: str = ""
    data_source: str = ""


def wanted_in(session: Session) -> tuple[Wanted, ...]:
    """List the passages of a session that have addresses, each once, in the order in which they were read."""
    found = (
        Wanted(passage.address, passage.uri, passage.text, retrieval.index_version, retrieval.data_source)
        for retrieval in retrievals(session)
        for passage in retrieval.passages or ()
        if passage.address is not None and passage.uri
    )
    return tuple(dict.fromkeys(found))


class Resolver:
    """Find out what became of passages.

    Each distinct document is fetched and prepared once, however many passages were read of it, and let go as soon as
    they are decided.
    """

    def __init__(
        self,
        sources: Sources | None,
        archive: Archive,
        index: IndexNow,
        *,
        surroundings: int = 0,
        threads: int = THREADS,
        progress: Progress = no_progress,
        extraction: Callable[[], AbstractContextManager[Extraction]] = extractors,
    ) -> None:
        """Take what reads documents (None: nobody looks), the archive, and what knows the index.

        Args:
            sources: what reads documents; None where no source is to be read.
            archive: what keeps words.
            index: what knows index versions.
            surroundings: characters to give before and after a passage.
            threads: documents to look at, at a time.
            progress: what to tell how far it is.
            extraction: opens what takes text out of documents that are none.
        """
        self._sources = sources
        self._archive = archive
        self._index = index
        self._surroundings = surroundings
        self._threads = threads
        self._progress = progress
        self._extraction = extraction

    def facts(self, wanted: Collection[Wanted]) -> Mapping[Wanted, Facts]:
        """State the three facts of each."""
        distinct = tuple(dict.fromkeys(wanted))
        in_trail = {one: words for one in distinct if (words := _in_trail(one)) is not None}
        kept = self._kept({one.address.fingerprint for one in distinct if one not in in_trail})
        known = {one.address.fingerprint: words for one, words in in_trail.items()}
        known |= {one: found.words for one, found in kept.items() if found.words is not None}
        looked = self._looked(distinct, known)
        return {
            one: Facts(
                _text(in_trail.get(one), kept.get(one.address.fingerprint), looked[one.uri][one.address.fingerprint]),
                looked[one.uri][one.address.fingerprint].fact,
                self._index.fact(one.index_version, one.data_source),
            )
            for one in distinct
        }

    def _kept(self, wanted: Collection[Fingerprint]) -> Mapping[Fingerprint, Kept]:
        if not wanted:
            return {}
        self._progress(f"asking the archive for {len(wanted)} passages")
        return self._archive.ask(wanted)

    def _looked(
        self, wanted: Collection[Wanted], known: Mapping[Fingerprint, str]
    ) -> Mapping[str, Mapping[Fingerprint, Looked]]:
        """Look at each document once."""
        documents = defaultdict[str, dict[Fingerprint, bytes | None]](dict)
        for one in wanted:
            mark = one.address.fingerprint
            documents[one.uri][mark] = normalised(known[mark]) if mark in known else None
        if self._sources is None:
            nobody = Looked(SourceFact(Source.NOT_READ))
            return {uri: dict.fromkeys(passages, nobody) for uri, passages in documents.items()}
        with self._extraction() as extraction:
            return self._in_parallel(Lookup(self._sources, extraction, self._surroundings), documents)

    def _in_parallel(
        self, lookup: Lookup, documents: Mapping[str, Passages]
    ) -> Mapping[str, Mapping[Fingerprint, Looked]]:
        looked = {}
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="sources")
        try:
            asked = {pool.submit(lookup.look, uri, passages): uri for uri, passages in documents.items()}
            for done, future in enumerate(as_completed(asked), 1):
                uri = asked[future]
                looked[uri] = _outcome(future, documents[uri])
                self._progress(f"looked at {done} of {len(asked)} documents")
        except BaseException:
            # Whoever stops the command waits neither for what has not begun nor for what is slow.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()
        return looked


def _outcome(future: Future[Mapping[Fingerprint, Looked]], passages: Passages) -> Mapping[Fingerprint, Looked]:
    try:
        return future.result()
    except Exception:  # noqa: BLE001 - one document that nobody foresaw must not hide what is known of all others
        return dict.fromkeys(passages, Looked(SourceFact(Source.UNREADABLE, Why.FAILED)))


def _in_trail(wanted: Wanted) -> str | None:
    """Give the words that the trail holds, where it holds them whole."""
    if wanted.text is None or fingerprint(wanted.text) != wanted.address.fingerprint:
        return None
    return wanted.text


def _text(in_trail: str | None, kept: Kept | None, looked: Looked) -> TextFact:
    if in_trail is not None:
        return TextFact(Text.TRAIL, in_trail)
    if kept is not None and kept.words is not None:
        return TextFact(Text.ARCHIVE, kept.words)
    why = "" if kept is None else kept.why
    if looked.words is not None:
        return TextFact(Text.SOURCE, looked.words, why)
    return TextFact(Text.NOT_RECOVERED, why=why)
