"""Load what a session of the agent image was measured to leave. It stands in for sizes that nobody stated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from agent_image.contract import EVENT_KB_PER_SESSION, KB_PER_SESSION, KB_PER_SESSION_REGIMES, USAGE, Quantity, Regime
from cost_model.documents import read_toml
from cost_model.errors import SessionSizesError
from cost_model.faults import Faults
from cost_model.scenario import Scenario

SHIPPED: Final = Path(__file__).parent / "data" / "session_sizes.toml"

# A session that leaves nothing was not measured: its zero would read as free.
_SPANS: Final = replace(next(each for each in USAGE if each.key == "spans_per_session"), minimum=Decimal(1))
_KB: Final = replace(KB_PER_SESSION, minimum=Decimal("0.1"))
_EVENT_KB: Final = replace(EVENT_KB_PER_SESSION, minimum=Decimal("0.1"))
_MEASURED: Final = "measured"
_SESSION: Final = "session"
_RECORDS: Final = "records"
_KEYS: Final = (_MEASURED, _SESSION, _SPANS.key, _KB.key, _EVENT_KB.key, _RECORDS)
_TABLE: Final = ("table_writes_per_session", "table_reads_per_session", "table_kb_per_session")
_AUDIT: Final = ("audit_kb_per_session", "audit_objects_per_session")
_COUNTS: Final = {each.key: replace(each, minimum=Decimal("0.1")) for each in USAGE if each.key in {*_TABLE, *_AUDIT}}


@dataclass(frozen=True, slots=True)
class SessionSizes:
    """Hold what one session left: spans, KB of them and of event lines by regime; the day, and what it did.

    Attributes:
        records: what it took of the table and of the audit's bucket, by the keys of `[usage]`; what was not counted
            stays unknown.
    """

    measured: date
    session: str
    spans_per_session: Decimal
    kb_per_session: Mapping[Regime, Decimal]
    event_kb_per_session: Mapping[Regime, Decimal]
    records: Mapping[str, Decimal] = field(default_factory=lambda: MappingProxyType({}))


def assume_sizes(scenario: Scenario, sizes: SessionSizes) -> Scenario:
    """Put what was measured where nobody stated a size, and say so among the assumptions.

    Without stated sessions there is nothing to multiply, and without a regime no telling whose sessions they are.
    """
    workload, regime = scenario.workload, scenario.span_regime
    if workload.sessions is None or regime is None:
        return scenario
    assumed: dict[str, Decimal] = {}
    if workload.spans_per_session is None:
        workload = replace(workload, spans_per_session=sizes.spans_per_session)
        assumed[_SPANS.key] = sizes.spans_per_session
    # What split telemetry leaves in the spans is what metadata has in them: both sizes are of one session, or of none.
    if regime not in workload.kb_per_session:
        for each in (regime, Regime.METADATA) if scenario.splits else (regime,):
            workload = replace(workload, kb_per_session=_with(workload.kb_per_session, each, sizes.kb_per_session))
            assumed[f"{_KB.key}.{each}"] = sizes.kb_per_session[each]
    if regime not in workload.event_kb_per_session:
        events = _with(workload.event_kb_per_session, regime, sizes.event_kb_per_session)
        workload = replace(workload, event_kb_per_session=events)
        assumed[f"{_EVENT_KB.key}.{regime}"] = sizes.event_kb_per_session[regime]
    counted = _records_of(scenario, sizes)
    workload = replace(workload, **counted)
    assumed |= counted
    assumptions = (*scenario.deployment.assumptions, *_said(assumed, sizes))
    return Scenario(replace(scenario.deployment, assumptions=assumptions), workload)


def _records_of(scenario: Scenario, sizes: SessionSizes) -> dict[str, Any]:
    """Return the counts of what is deployed that nobody stated."""
    pieces = scenario.deployment.pieces
    there = (*(_TABLE if pieces.table else ()), *(_AUDIT if pieces.audit else ()))
    unstated = (key for key in there if getattr(scenario.workload, key) is None)
    return {key: sizes.records[key] for key in unstated if key in sizes.records}


def _with(
    stated: Mapping[Regime, Decimal], regime: Regime, measured: Mapping[Regime, Decimal]
) -> Mapping[Regime, Decimal]:
    return MappingProxyType({**stated, regime: measured[regime]})


def _said(assumed: Mapping[str, Decimal], sizes: SessionSizes) -> tuple[str, ...]:
    if not assumed:
        return ()
    said = (
        f"{key} is not stated: taken as {size}, as `make bench` measured the agent image on {sizes.measured}"
        for key, size in assumed.items()
    )
    return (*said, f"the measured session is {sizes.session}; one that does more leaves more")


def load_session_sizes(path: Path = SHIPPED) -> SessionSizes:
    """Read the file that `make bench` writes; SessionSizesError shows all its faults."""
    document = read_toml(path)
    faults = Faults(path.name)
    faults.unknown_keys("", document, _KEYS)
    measured = _day(faults, document.get(_MEASURED))
    session = faults.text(_SESSION, document.get(_SESSION))
    spans = faults.number(_SPANS.key, _SPANS, document.get(_SPANS.key))
    kilobytes, events = (_kilobytes(faults, one, document.get(one.key)) for one in (_KB, _EVENT_KB))
    records = _counts(faults, document.get(_RECORDS, {}))
    if faults.lines or measured is None or session is None or spans is None:
        raise SessionSizesError(*faults.lines)
    kept, lines = MappingProxyType(kilobytes), MappingProxyType(events)
    return SessionSizes(measured, session, spans, kept, lines, MappingProxyType(records))


def _counts(faults: Faults, value: object) -> dict[str, Decimal]:
    table = faults.table(_RECORDS, value)
    faults.unknown_keys(_RECORDS, table, _COUNTS)
    found = {key: faults.optional_number(_RECORDS, count, table) for key, count in _COUNTS.items()}
    return {key: count for key, count in found.items() if count is not None}


def _day(faults: Faults, value: object) -> date | None:
    if isinstance(value, date) and type(value) is date:  # a date with a time of day is a date, too
        return value
    faults.add(_MEASURED, value, "a date such as 2026-08-30")
    return None


def _kilobytes(faults: Faults, size: Quantity, value: object) -> dict[Regime, Decimal]:
    table = faults.table(size.key, value)
    faults.unknown_keys(size.key, table, KB_PER_SESSION_REGIMES)
    found = {
        regime: faults.number(f"{size.key}.{regime}", size, table.get(regime)) for regime in KB_PER_SESSION_REGIMES
    }
    return {regime: size for regime, size in found.items() if size is not None}
