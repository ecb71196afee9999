"""Look at one document for all passages that were read of it: fetched once, prepared once, gone when all is decided."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

from agent_image.retrieval.fingerprint import Fingerprint
from agent_image.telemetry.size import ELLIPSIS
from console.trace.documents import Document, prepared
from console.trace.facts import Source, SourceFact
from console.trace.search import TooCostlyError
from console.trace.sources.extraction import Extraction
from console.trace.sources.media import is_notation, media_type_of
from console.trace.sources.source import Content, Refused, Sources, Version, Why, unreadable

Passages = Mapping[Fingerprint, bytes | None]
"""What to look for: fingerprints, each with the normalised words where they are known already."""
LONG_BYTES: Final = 16 << 20
"""Documents longer than this are made ready one at a time."""
_Looked = Mapping[Fingerprint, "Looked"]
_LOOK_BACK: Final = frozenset({Source.CHANGED, Source.NOT_FOUND, Source.MISSING})


@dataclass(frozen=True, slots=True)
class Looked:
    """Hold how a document stands to one passage, and the passage's normalised words where it holds them."""

    fact: SourceFact
    words: str | None = None


class Lookup:
    """Look at documents; from several threads at once."""

    def __init__(self, sources: Sources, extraction: Extraction, surroundings: int) -> None:
        """Take what reads documents, what takes their text out, and how many characters to give around a passage."""
        self._sources = sources
        self._extraction = extraction
        self._surroundings = surroundings
        self._one_long = Lock()

    def look(self, uri: str, passages: Passages) -> _Looked:
        """Say of each passage how its document stands now, and look back in versions for those that it lacks."""
        # What a cut URI leads to is not the document, so that it is not there says nothing.
        read = unreadable(Why.URI_CUT) if uri.endswith(ELLIPSIS) else self._sources.read(uri)
        looked = dict(self._in(read, passages))
        lacking = {one: passages[one] for one in passages if looked[one].fact.state in _LOOK_BACK}
        # A document that has no version has no older one; one that is gone may have had many.
        newest, has_older = (read.version, bool(read.version)) if isinstance(read, Content) else ("", True)
        del read
        return looked | dict(self._back(uri, newest, lacking, looked)) if lacking and has_older else looked

    def _back(self, uri: str, newest: str, lacking: Passages, now: Mapping[Fingerprint, Looked]) -> _Looked:
        """Look for passages in older versions, the newest first, until all are found."""
        versions = self._sources.older(uri, newest)
        if isinstance(versions, Refused):
            return {one: _without_versions(now[one]) for one in lacking}
        found = dict[Fingerprint, Looked]()
        for version in versions:
            left = {one: words for one, words in lacking.items() if one not in found}
            if not left:
                break
            looked = self._in(version.read(), left)
            found |= {one: _then(now[one], there, version) for one, there in looked.items() if there.words is not None}
        return found

    def _in(self, read: Content | Refused, passages: Passages) -> _Looked:
        # Ready to be searched, a document takes some times its size: long ones wait for each other.
        long = isinstance(read, Content) and len(read.data) > LONG_BYTES
        with self._one_long if long else nullcontext():
            return self._searched(read, passages)

    def _searched(self, read: Content | Refused, passages: Passages) -> _Looked:
        document = prepared(read, self._extraction) if isinstance(read, Content) else read
        if isinstance(document, Refused):
            media_type = media_type_of(read) if isinstance(read, Content) else ""
            return dict.fromkeys(passages, Looked(SourceFact(document.state, document.why, media_type)))
        return {one: self._now(document, one, words) for one, words in passages.items()}

    def _now(self, document: Document, wanted: Fingerprint, words: bytes | None) -> Looked:
        try:
            found = document.find(wanted, words, self._surroundings)
        except TooCostlyError:
            return Looked(SourceFact(Source.UNREADABLE, Why.TOO_COSTLY, document.media_type))
        if found is None:
            return Looked(_lacking(document))
        fact = SourceFact(
            Source.INTACT,
            media_type=document.media_type,
            extracted=found.extracted,
            before=found.before,
            after=found.after,
        )
        return Looked(fact, found.words)


def _lacking(document: Document) -> SourceFact:
    """Say that a passage is not in a document: "changed" where nothing else can be the reason."""
    if document.extracted:
        return SourceFact(Source.NOT_FOUND, media_type=document.media_type, extracted=True)
    if is_notation(document.media_type):
        return SourceFact(Source.NOT_FOUND, Why.NOTATION, document.media_type)
    return SourceFact(Source.CHANGED, media_type=document.media_type)


def _then(now: Looked, then: Looked, version: Version) -> Looked:
    """Say that a passage stands in an older version: what is extracted in one way lacks it now, and did not then."""
    gone = now.fact.state is Source.MISSING
    state, why = (Source.MISSING, Why.DELETED) if gone else (Source.CHANGED, "")
    return replace(then, fact=replace(then.fact, state=state, why=why, version=version.id, version_time=version.time))


def _without_versions(now: Looked) -> Looked:
    """Say that there are older versions which nobody could list."""
    return replace(now, fact=replace(now.fact, why=now.fact.why or Why.VERSIONS_NOT_READ))
