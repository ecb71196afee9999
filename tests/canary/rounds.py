"""Take locks off in rounds: together they open every emitter, and leave each of its locks to hold alone."""

from __future__ import annotations

from typing import Final

from tests.canary.emitters import EMITTERS, Emitter, Found
from tests.canary.locks import Lock

ROUNDS: Final = (
    frozenset(
        {
            *(Lock.STRANDS, Lock.REDACTED_ATTRIBUTES, Lock.STRIP),
            *(Lock.MESSAGE_EVENTS, Lock.NO_LOG_EXPORTER, Lock.NO_LOG_PROVIDER, Lock.SILENCE, Lock.NO_METRIC_EXPORTER),
            *(Lock.STREAMS, Lock.HOOKS),
            *(Lock.SLIM_TEXTS, Lock.REDACTION, Lock.CUT),
        }
    ),
    frozenset(
        {
            *(Lock.REDACTED_ATTRIBUTES, Lock.STRIP),
            *(Lock.NO_LOG_EXPORTER, Lock.NO_LOG_PROVIDER, Lock.SILENCE, Lock.RECORDS),
            *(Lock.STREAMS, Lock.NAMES),
        }
    ),
    frozenset(
        {
            *(Lock.STRANDS, Lock.STRIP),
            *(Lock.MESSAGE_EVENTS, Lock.NO_LOG_PROVIDER, Lock.SILENCE, Lock.RECORDS),
            *(Lock.HOOKS, Lock.REDACTION),
        }
    ),
    frozenset(
        {
            *(Lock.REGIME, Lock.MESSAGE_EVENTS, Lock.NO_LOG_EXPORTER, Lock.SILENCE, Lock.RECORDS),
            *(Lock.NO_METRIC_EXPORTER, Lock.NAMES, Lock.CUT),
        }
    ),
    frozenset(
        {
            *(Lock.STRANDS, Lock.REDACTED_ATTRIBUTES),
            *(Lock.MESSAGE_EVENTS, Lock.NO_LOG_EXPORTER, Lock.NO_LOG_PROVIDER, Lock.RECORDS, Lock.NO_METRIC_EXPORTER),
            *(Lock.NAMES, Lock.CODES),
        }
    ),
    frozenset({Lock.REGIME, Lock.STRIP, Lock.REDACTION}),
)


def opened(off: frozenset[Lock]) -> tuple[Emitter, ...]:
    """Give the emitters of which no lock is left."""
    return tuple(emitter for emitter in EMITTERS if emitter.locks <= off)


def shown(off: frozenset[Lock]) -> frozenset[Found]:
    """Give what leaves once these locks are off."""
    return frozenset().union(*(emitter.shows for emitter in opened(off)))


def holding_alone(emitter: Emitter, lock: Lock) -> tuple[frozenset[Lock], ...]:
    """Give the rounds in which nothing but this lock keeps an emitter from showing what no open one shows."""
    return tuple(off for off in ROUNDS if emitter.locks - off == {lock} and emitter.shows - shown(off))
