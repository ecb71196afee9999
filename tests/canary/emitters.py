"""Say who lets content out, by which door, and which locks stand before it: each of them is enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tests.canary import scenes, script
from tests.canary.locks import Lock
from tests.canary.markers import Marker, Words

Found = tuple[str, str]
"""A door, and the place of the marker that left by it."""


@dataclass(frozen=True)
class Emitter:
    """Hold what an emitter shows once all of its locks are off."""

    name: str
    locks: frozenset[Lock]
    shows: frozenset[Found]


def _shows(door: str, markers: Iterable[Marker]) -> frozenset[Found]:
    return frozenset((door, marker.place) for marker in markers)


def _both(words: Iterable[Words]) -> tuple[Marker, ...]:
    return tuple(marker for one in words for marker in one.both)


def _turns(*places: str) -> tuple[Marker, ...]:
    return tuple(
        marker
        for turn in script.TURNS
        for marker in script.texts(turn)
        if any(marker.place.startswith(f"{turn}: {place}") for place in places)
    )


_CONVERSATION: Final = (
    *_turns("question", "answer", "query", "passage", "argument", "mistaken", "invented"),
    *(script.SYSTEM_PROMPT, script.MEMORY, script.TOOL_RESULT, script.FAILED_QUESTION),
    *(*_both(scenes.SPOKEN), scenes.TAIL, scenes.INVENTED),
)
"""What a model is given to read, and what it writes."""
_IN_EXCEPTIONS: Final = (
    *(script.EXCEPTION, script.AWS_ERROR, script.MODEL_ERROR, *_turns("argument of fail", "mistaken argument")),
    *_both([scenes.RED_EXCEPTION, scenes.argument("in doubt")]),
)
"""What exceptions' texts hold, of tools and of AWS: as recorded exceptions, and as descriptions of a status."""
_INVENTED: Final = (*_turns("invented tool"), scenes.INVENTED)
"""A name that a model made up: it looks like one that a program gave."""
_LOG_EXPORT: Final = frozenset({Lock.NO_LOG_EXPORTER, Lock.NO_LOG_PROVIDER, Lock.SILENCE})
_OUT, _ERROR, _BYTES, _EARLY, _TRACEBACK = script.PRINTED
_EXTRA, _AT_IMPORT = script.LOGGED[3:]

OWN: Final = Emitter(
    "the kit's own spans",
    frozenset({Lock.REGIME, Lock.STRIP}),
    _shows(
        "traces",
        (*_turns("question", "answer", "passage"), script.FAILED_QUESTION, script.NOTE, *_both(scenes.ANSWERS)),
    ),
)
_BEFORE_THE_CUT: Final = (
    *_turns("question", "query", "argument", "mistaken"),
    *(passage for turn in script.TURNS for passage in script.begun(turn)),
    *(script.MEMORY, script.TOOL_RESULT, script.FAILED_QUESTION, scenes.VERDICT_CODE),
)
_EVENTS: Final = (*_BEFORE_THE_CUT, *_turns("passage"))
"""What the turns leave in events."""
SLIM_CONTENT: Final = Emitter(
    "slim lines of content",
    frozenset({Lock.REGIME}),
    _shows(
        "stdout",
        (*_BEFORE_THE_CUT, *(words.marker for words in scenes.RECORDED if words not in scenes.CUT_AWAY)),
    ),
)
EMITTERS: Final = (
    Emitter(
        "Strands' spans",
        frozenset({Lock.STRANDS, Lock.REDACTED_ATTRIBUTES, Lock.STRIP}),
        _shows("traces", _CONVERSATION),
    ),
    Emitter(
        "botocore's log events",
        frozenset({Lock.MESSAGE_EVENTS}) | _LOG_EXPORT,
        _shows("logs", _CONVERSATION),
    ),
    Emitter(
        "Strands' memory spans",
        frozenset({Lock.REDACTED_ATTRIBUTES, Lock.STRIP}),
        _shows("traces", (script.MEMORY, script.MEMORY_QUERY, *_turns("argument of add", "argument of search"))),
    ),
    Emitter(
        "exceptions that spans record",
        frozenset({Lock.REDACTED_ATTRIBUTES, Lock.STRIP}),
        _shows("traces", (script.RECORDED, *_IN_EXCEPTIONS)),
    ),
    Emitter(
        "spans",
        frozenset({Lock.STRIP}),
        _shows(
            "traces",
            (*script.SPANS, script.QUERY_STRING, script.USER_AGENT, script.TRACE_STATE, *_IN_EXCEPTIONS),
        ),
    ),
    OWN,
    Emitter(
        "exported log records",
        frozenset({Lock.RECORDS}) | _LOG_EXPORT,
        _shows(
            "logs",
            (*script.LOGGED, script.LOGGED_TO_A_FILE, script.MEMORY_QUERY, *_turns("argument of search"), *_INVENTED),
        ),
    ),
    Emitter("what is added to log records", _LOG_EXPORT, _shows("logs", [_EXTRA])),
    Emitter("log handlers", frozenset({Lock.RECORDS, Lock.STREAMS}), _shows("stderr", [_AT_IMPORT])),
    Emitter(
        "log handlers with a stream of their own",
        frozenset({Lock.RECORDS}),
        _shows("stderr", [script.LOGGED_TO_A_FILE]),
    ),
    Emitter(
        "prints",
        frozenset({Lock.STREAMS}),
        _shows("stdout", (_OUT, _BYTES, _EARLY)) | _shows("stderr", (_ERROR, _TRACEBACK)),
    ),
    Emitter("exceptions that nobody catches", frozenset({Lock.HOOKS, Lock.STREAMS}), _shows("stderr", script.HOOKED)),
    Emitter(
        "slim lines",
        frozenset({Lock.SLIM_TEXTS}),
        _shows("stdout", (*_EVENTS, *_both(scenes.RECORDED), scenes.TAIL)),
    ),
    SLIM_CONTENT,
    Emitter(
        "slim lines of content, unredacted",
        frozenset({Lock.REGIME, Lock.REDACTION}),
        _shows("stdout", (words.secret for words in scenes.RECORDED if words not in scenes.BEHIND_THE_CUT)),
    ),
    Emitter(
        "slim lines of content, about what a model invents",
        frozenset({Lock.REGIME, Lock.NAMES}),
        _shows("stdout", (*_turns("invented call"), scenes.INVENTED_ARGUMENT.marker)),
    ),
    Emitter("checks that call words a code", frozenset({Lock.CODES}), _shows("stdout", [scenes.VERDICT_CODE])),
    Emitter(
        "slim lines and alerts that name what a model invents",
        frozenset({Lock.NAMES}),
        frozenset().union(*(_shows(door, _INVENTED) for door in ("stdout", "table", "topic", "webhook"))),
    ),
    Emitter("spans that name what a model invents", frozenset({Lock.NAMES, Lock.STRIP}), _shows("traces", _INVENTED)),
    Emitter(
        "metrics that name what a model invents",
        frozenset({Lock.NAMES, Lock.NO_METRIC_EXPORTER, Lock.SILENCE}),
        _shows("metrics", _INVENTED),
    ),
    Emitter(
        "the audit",
        frozenset({Lock.REDACTION}),
        _shows("audit", (words.secret for words in scenes.RECORDED if words not in scenes.BEHIND_THE_CUT)),
    ),
    Emitter("the audit's long texts", frozenset({Lock.CUT}), _shows("audit", [scenes.TAIL])),
    Emitter(
        "the audit's long texts, unredacted",
        frozenset({Lock.REDACTION, Lock.CUT}),
        _shows("audit", (words.secret for words in scenes.BEHIND_THE_CUT)),
    ),
    Emitter(
        "metrics",
        frozenset({Lock.NO_METRIC_EXPORTER, Lock.SILENCE}),
        _shows("metrics", (script.METRIC, script.SPANS[-1])),
    ),
)
