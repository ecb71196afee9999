"""Write what was measured as a dated `[usage]` table: comments say what was measured, when and how."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Final

import tomlkit
from tomlkit.items import Table

from agent_image.contract import (
    EVENT_KB_PER_SESSION,
    KB_PER_SESSION,
    QUERIES_KEY,
    QUERY_CLASS_INDEXED,
    QUERY_CLASS_NAME,
)
from cost_model.errors import DocumentError, MeasureError, UsageError
from cost_model.measure.measurement import Measurement
from cost_model.query_classes import QueryClass
from cost_model.render.figures import clean, percentage, quantity
from cost_model.session_sizes import SessionSizes
from cost_model.whole_file import write_whole
from cost_model.workload import SESSIONS, USAGE_TABLE

_FINE: Final = Decimal("0.0001")
_WHOLE: Final = Decimal(1)


def check_place(path: Path, *, force: bool) -> None:
    """Refuse a file that is there already, before anything is asked.

    Raises:
        UsageError: it is, and nobody said to write over it.
    """
    if path.exists() and not force:
        message = f"--write {path}: is there already; --force writes over it"
        raise UsageError(message)


def write_usage(path: Path, measurement: Measurement, sizes: SessionSizes) -> None:
    """Write the file, whole or not at all.

    Raises:
        CostError: nothing was measured that `[usage]` can say, or the file cannot be written.
    """
    text = usage_text(measurement, sizes)
    try:
        write_whole(path, text)
    except OSError as error:
        message = f"--write {path}: cannot be written: {error.strerror or error}"
        raise DocumentError(message) from error


def usage_text(measurement: Measurement, sizes: SessionSizes) -> str:
    """Write the table.

    Raises:
        MeasureError: nothing was measured that it can say.
    """
    usage = tomlkit.table()
    for comment in _head(measurement):
        usage.add(tomlkit.comment(clean(comment)))
    _add_sessions(usage, measurement)
    _add_sizes(usage, measurement, sizes)
    _add_queries(usage, measurement)
    if not [key for key in usage if key]:
        message = "nothing was measured that [usage] can say: --sessions N or --count-sessions give sizes per session"
        raise MeasureError(message)
    document = tomlkit.document()
    document.add(USAGE_TABLE, usage)
    return tomlkit.dumps(document)


def _head(measurement: Measurement) -> Iterator[str]:
    window, incoming = measurement.window, measurement.incoming
    yield f"Measured by `rastro cost measure` on {measurement.today}: {measurement.place.group}"
    yield f"in {measurement.place.region}, {window.first} to {window.last} (UTC, whole days)."
    yield (
        f"IncomingBytes {quantity(incoming.bytes)}, IncomingLogEvents {quantity(incoming.events)} in "
        f"{len(incoming.bytes_by_day)} of {window.days} days; a month is 30 days such as these."
    )
    if measurement.unknown_days:
        yield f"{measurement.unknown_days} days have no sum: they are unknown, and not taken as nothing."
    for namespace, count in measurement.inventory.metrics:
        if count is not None:
            yield f"Custom metrics of the account in {namespace}: {count} (metric_series, if all are of this agent)."


def _add_sessions(usage: Table, measurement: Measurement) -> None:
    sessions = measurement.sessions
    if sessions is None:
        usage.add(tomlkit.comment("Sessions were not counted: what one of them leaves is not known either."))
        return
    usage.add(tomlkit.comment(f"Sessions: {sessions.how}."))
    usage.add(SESSIONS.key, _number(sessions.a_month.quantize(_WHOLE, ROUND_HALF_UP)))
    split = measurement.split
    if split is not None and split.spans_per_session is not None:
        usage.add(tomlkit.comment(f"Spans of {split.window.first} by the sessions of that day, counted by a query."))
        usage.add("spans_per_session", _number(split.spans_per_session))


def _add_sizes(usage: Table, measurement: Measurement, sizes: SessionSizes) -> None:
    measured, regime = measurement.kb_per_session(sizes), measurement.regime
    if measured is None or regime is None:
        if measurement.sessions is not None:
            usage.add(tomlkit.comment("The capture regime is not known: --capture says under which one sizes stand."))
        return
    share = percentage(measurement.span_share(sizes, regime), Decimal(1))
    how = (
        f"as a query told them apart on {measurement.split.window.first}"
        if measurement.split is not None
        else f"as in the session that was measured of the agent image on {sizes.measured}; --split asks the trail"
    )
    usage.add(tomlkit.comment(f"IncomingBytes mixes spans and all other lines: {share} of them are spans, {how}."))
    for key, size in zip((KB_PER_SESSION.key, EVENT_KB_PER_SESSION.key), measured, strict=True):
        table = tomlkit.table()
        table.add(regime.value, _number(size))
        usage.add(key, table)


def _add_queries(usage: Table, measurement: Measurement) -> None:
    queries = measurement.query_classes
    if not queries:
        return
    rows = tomlkit.aot()
    classes = {each.name: each for each in measurement.classes}
    for query in queries:
        table = _query(query)
        measured = classes[query.name]
        skip = "what they skipped is not told" if measured.skip_ratio is None else "skipped as Logs Insights tells"
        read = f"{quantity(measured.scanned)} bytes read by {measured.told} of them"
        note = f"{measured.runs} in {measurement.window.days} days; {read}; {skip}"
        table.comment(note)
        rows.append(table)
    usage.add(QUERIES_KEY, rows)


def _query(query: QueryClass) -> Table:
    table = tomlkit.table()
    table.add(QUERY_CLASS_NAME, query.name)
    table.add("runs_per_month", _number(query.runs_per_month))
    table.add("window_days", _number(query.window_days))
    table.add(QUERY_CLASS_INDEXED, query.indexed)
    table.add("skip_ratio", _number(query.skip_ratio or Decimal(0)))
    return table


def _number(number: Decimal) -> object:
    rounded = number.quantize(_FINE, ROUND_HALF_UP).normalize()
    return int(rounded) if rounded == rounded.to_integral_value() else tomlkit.float_(f"{rounded:f}")
