"""Hold what became of a passage: three facts that do not follow from each other, and the words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Text(StrEnum):
    """Say where the words come from."""

    ARCHIVE = "archive"
    SOURCE = "source"
    TRAIL = "trail"
    """The span itself holds them: regime content."""
    NOT_RECOVERED = "not_recovered"


class Source(StrEnum):
    """Say how the source stands now."""

    INTACT = "intact"
    CHANGED = "changed"
    """The document was read whole, and the passage is not in it."""
    NOT_FOUND = "not_found"
    """The passage is not in the text that was extracted, or read; what the index read of it may be another text."""
    MISSING = "missing"
    UNREADABLE = "unreadable"
    NOT_READ = "not_read"
    """Nobody looked: it was not asked for."""


class Index(StrEnum):
    """Say whether the index is still the one that was read."""

    SAME = "same"
    REINDEXED = "reindexed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TextFact:
    """Say whether the words were recovered.

    Attributes:
        words: as they were retrieved where the archive or the trail has them, normalised where the source has.
        why: why the archive does not have them, as a code of `archive.Lack`: `erased`, `never_stored`, `gone`,
            `forged`, `access_denied`, `no_archive`, `unreachable`; empty where it was not asked or has them.
    """

    state: Text
    words: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class SourceFact:
    """Say how the source stands.

    Attributes:
        why: a code of `sources.source.Why` that says more: `access_denied`, `not_found`, `too_large`, `no_text`, ….
        media_type: what the document is; empty where it was not fetched.
        extracted: the text was extracted from a form that is not text.
        version: the object version in which the passage was found, where it is not in the newest.
        version_time: when that version was written, in UTC, as ISO 8601.
        before, after: normalised text around the passage, where it was found and surroundings were asked for.
    """

    state: Source
    why: str = ""
    media_type: str = ""
    extracted: bool = False
    version: str = ""
    version_time: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class IndexFact:
    """Say which index version was read, and which there is now; empty where nobody knows."""

    state: Index
    then: str = ""
    now: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Hold the three facts of one passage."""

    text: TextFact
    source: SourceFact
    index: IndexFact
