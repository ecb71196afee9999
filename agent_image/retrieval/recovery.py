"""State what became of a passage that an old answer was reading: pure, from what source and archive hold now."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agent_image.retrieval.fingerprint import Fingerprint, find, fingerprint_of, normalised


class Text(StrEnum):
    """Say where the words come from."""

    ARCHIVE = "archive"
    SOURCE = "source"
    NOT_RECOVERED = "not_recovered"


class Source(StrEnum):
    """Say how the source stands: it holds the passage, it holds other words, it is gone, or it cannot be read."""

    INTACT = "intact"
    CHANGED = "changed"
    MISSING = "missing"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Recovery:
    """Hold two facts that do not follow from each other, and the words: normalised where they come from the source."""

    text: Text
    source: Source
    words: str | None


def recover(wanted: Fingerprint, document: str | Source, archived: bytes | None) -> Recovery:
    """Find a passage's words again.

    Args:
        wanted: the fingerprint that the address holds.
        document: the text of the source as it is now, or why there is none: missing or unreadable.
        archived: what the archive holds under the fingerprint; other words than the fingerprint's do not count.
    """
    source, found = _in_source(wanted, document)
    kept = None if archived is None else archived.decode("utf-8", "replace")
    if kept is not None and fingerprint_of(normalised(kept)) == wanted:
        return Recovery(Text.ARCHIVE, source, kept)
    return Recovery(Text.NOT_RECOVERED if found is None else Text.SOURCE, source, found)


def _in_source(wanted: Fingerprint, document: str | Source) -> tuple[Source, str | None]:
    # A state is a text too: the type that says more comes first.
    if isinstance(document, Source):
        return document, None
    data = normalised(document)
    offset = next(find(wanted, data), None)
    if offset is None:
        return Source.CHANGED, None
    return Source.INTACT, data[offset : offset + wanted.length].decode()
