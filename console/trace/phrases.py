"""Say figures and facts in words that a person reads: pure, and the same on a terminal, in a pipe and on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from agent_image.contract import Regime
from console.moments import lasting_seconds
from console.trace.facts import Index, IndexFact, Source, SourceFact, Text, TextFact
from console.trace.session import Tokens, Words

UNKNOWN: Final = "unknown"
VALUE_SHOWN: Final = 160
"""Characters of one value that stands in a line."""
URI_SHOWN: Final = 400
"""Characters of an address."""
ID_SHOWN: Final = 8
"""Characters of a run's or a version's id that tell it from others beside it."""
_MINUTE_MS: Final = 60_000
_SECOND_MS: Final = 1_000
_WHOLE_MS: Final = 10
"""Milliseconds from which on a fraction says nothing."""
_PLACES: Final = 30
"""Decimal exponents beyond which an amount is written with its exponent."""
_TEXTS: Final[Mapping[Text, str]] = MappingProxyType(
    {
        Text.ARCHIVE: "from the archive",
        Text.SOURCE: "from the source",
        Text.TRAIL: "in the trail",
        Text.NOT_RECOVERED: "not recovered",
    }
)
_SOURCES: Final[Mapping[Source, str]] = MappingProxyType(
    {
        Source.INTACT: "intact",
        Source.CHANGED: "changed",
        Source.NOT_FOUND: "not found in the text",
        Source.MISSING: "missing",
        Source.UNREADABLE: "unreadable",
        Source.NOT_READ: "not looked at",
    }
)
_EXTRACTED: Final = "not found in the extracted text"
_INDEXES: Final[Mapping[Index, str]] = MappingProxyType(
    {Index.SAME: "same", Index.REINDEXED: "re-indexed", Index.UNKNOWN: UNKNOWN}
)
_ARCHIVE_WHYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "erased": "erased from the archive",
        "never_stored": "the archive never had it",
        "gone": "it is gone from the archive, and nobody erased it",
        "forged": "something else lies in its place in the archive",
        "access_denied": "the archive denies access",
        "no_archive": "there is no archive",
        "unreachable": "the archive was not reached",
    }
)


def regimes(fitting: Sequence[Regime]) -> str:
    """Say which regime it was, as far as the spans show it."""
    return f"regime {' or '.join(fitting) or UNKNOWN}"


def moment(at: datetime | None) -> str:
    """Write a moment to the second: 2026-01-31 09:30:00 UTC."""
    return "at an unknown time" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def clock(at: datetime | None) -> str:
    """Write a moment to the second where UTC is said elsewhere, as in a column."""
    return UNKNOWN if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def took(milliseconds: Decimal | float | None) -> str:
    """Write how long something lasted, in the unit that leaves few digits; nothing where nobody knows."""
    if milliseconds is None:
        return ""
    length = Decimal(milliseconds)
    if not length.is_finite() or abs(length.adjusted()) > _PLACES:
        return f"{length} ms"
    if length >= _MINUTE_MS:
        return lasting_seconds(length / _SECOND_MS)
    if length >= _SECOND_MS:
        return f"{length / _SECOND_MS:.1f} s"
    return f"{length:.0f} ms" if length >= _WHOLE_MS or not length else f"{length:.1f} ms"


def amount(usd: Decimal | None) -> str:
    """Write what something cost, exactly; the unknown is unknown, and never nothing."""
    return f"cost {UNKNOWN}" if usd is None else f"{exact(usd)} USD"


def exact(number: Decimal) -> str:
    """Write a number exactly, without an exponent where that can be read."""
    if not number.is_finite() or abs(number.adjusted()) > _PLACES:
        return str(number)
    if not number:
        return "0"
    written = f"{number:f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def total(amounts: Iterable[Decimal | None]) -> tuple[Decimal | None, int]:
    """Add amounts up; give how many are not known beside, and None where none is."""
    found = list(amounts)
    known = [one for one in found if one is not None]
    return (sum(known, Decimal(0)) if known else None), len(found) - len(known)


def counted(count: int, what: str) -> str:
    """Count things: 1 turn, 2 turns."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def size(count: int | None) -> str:
    """Write a size."""
    return f"size {UNKNOWN}" if count is None else counted(count, "byte")


def tokens(used: Tokens) -> str:
    """Write tokens: 1,084 in, 56 out; nothing where nobody counted."""
    if used.input is None and used.output is None:
        return ""
    parts = [f"{_count(used.input)} in", f"{_count(used.output)} out"]
    if used.cache_read:
        parts.append(f"{used.cache_read:,} out of a cache")
    if used.cache_write:
        parts.append(f"{used.cache_write:,} into a cache")
    return ", ".join(parts)


def added(used: Iterable[Tokens]) -> Tokens:
    """Add tokens up, each kind over those that counted it."""
    found = list(used)

    def of(kind: str) -> int | None:
        counts = [count for one in found if (count := getattr(one, kind)) is not None]
        return sum(counts) if counts else None

    return Tokens(of("input"), of("output"), of("cache_read"), of("cache_write"))


def measured(words: Words) -> str:
    """Write how much there is of a text, and by which digest an equal one is known."""
    parts = [] if words.size is None else [size(words.size)]
    if words.digest:
        parts.append(f"digest {words.digest}")
    return ", ".join(parts)


def absent(words: Words) -> str:
    """Say of a text that is not there how long it was and why it is not there."""
    return ": ".join(filter(None, (measured(words), words.why or "not in the trail")))


def text_words(fact: TextFact) -> str:
    """Say where the words come from."""
    why = _ARCHIVE_WHYS.get(fact.why, fact.why)
    return f"{_TEXTS[fact.state]} ({why})" if why else _TEXTS[fact.state]


def source_words(fact: SourceFact) -> str:
    """Say how the source stands now."""
    # What is missing was not found: that says nothing more.
    says_more = fact.why and not (fact.state is Source.MISSING and fact.why == "not_found")
    parts = [fact.why.replace("_", " ")] if says_more else []
    if fact.version:
        since = f" of {fact.version_time}" if fact.version_time else ""
        parts.append(f"it stands in version {fact.version}{since}")
    state = _EXTRACTED if fact.state is Source.NOT_FOUND and fact.extracted else _SOURCES[fact.state]
    return f"{state} ({'; '.join(parts)})" if parts else state


def index_words(fact: IndexFact) -> str:
    """Say whether the index is still the one that was read."""
    why = fact.why.replace("_", " ")
    return f"{_INDEXES[fact.state]} ({why})" if why else _INDEXES[fact.state]


def cut(text: str, most: int) -> str:
    """Keep the beginning of a text that is too long to be shown, with a mark that says so."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def _count(count: int | None) -> str:
    return UNKNOWN if count is None else f"{count:,}"
