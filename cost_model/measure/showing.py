"""Lay out what was measured, and the estimate beside it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from cost_model.measure.comparing import Beside, Comparison
from cost_model.measure.incoming import Incoming
from cost_model.measure.measurement import Measurement
from cost_model.money import BYTES_PER_GB, known_sum
from cost_model.render.document import Kind, Remarks, Row, Section, Table
from cost_model.render.figures import UNKNOWN, money, percentage, quantity, signed_percentage

_NONE: Final = "-"


def measured_sections(measurement: Measurement, comparison: Comparison | None) -> Iterator[Section]:
    """Lay out volumes, queries, and costs."""
    window = measurement.window
    yield Section(
        f"{measurement.place.group}, {measurement.place.region}, {window.first} to {window.last}",
        Table(("Measured", "Value"), tuple(_volumes(measurement))),
        (Remarks("How", tuple(_how(measurement))), Remarks("Not known", tuple(_unknown(measurement)))),
    )
    if measurement.classes:
        yield Section("Queries that ran", _queries(measurement), (Remarks("How", tuple(_queries_how(measurement))),))
    if comparison is not None:
        yield _costs(comparison)


def _volumes(measurement: Measurement) -> Iterator[Row]:
    incoming = measurement.incoming
    yield Row(("GB in a month, of days such as these", quantity(measurement.gb_a_month)))
    yield Row(("Days with a sum", f"{len(incoming.bytes_by_day)} of {measurement.window.days}"))
    yield Row(("GB that came in", quantity(incoming.bytes / BYTES_PER_GB)))
    yield Row(("Log events", quantity(incoming.events)))
    if each := incoming.bytes_an_event:
        yield Row(("Bytes an event, by day", f"{min(each.values()):,.0f} to {max(each.values()):,.0f}"))
    if measurement.sessions is not None:
        yield Row(("Sessions in a month", quantity(measurement.sessions.a_month)))
    if measurement.split is not None:
        yield Row(("Share of spans", percentage(measurement.split.span_share, Decimal(1))))
    if measurement.default is not None:
        yield Row(("DEFAULT endpoint's group, GB", _default(measurement.default)))
    for namespace, count in measurement.inventory.metrics:
        yield Row((f"Custom metrics in {namespace}", _count(count)))
    yield Row(("Metric alarms of the account", _count(measurement.inventory.alarms)))
    yield Row(("Dashboards of the account", _count(measurement.inventory.dashboards)))


def _default(incoming: Incoming) -> str:
    return quantity(incoming.bytes / BYTES_PER_GB) if incoming.bytes else "nothing came in"


def _count(count: int | None) -> str:
    return _NONE if count is None else f"{count:,}"


def _how(measurement: Measurement) -> Iterator[str]:
    yield "IncomingBytes counts spans, event lines and all other output of the group together, uncompressed"
    if measurement.sessions is not None:
        yield f"sessions: {measurement.sessions.how}"
    if measurement.split is None:
        yield "spans and other lines apart as in the session measured of the agent image; --split asks the trail"
    if measurement.default is not None and measurement.default.bytes:
        yield "somebody calls the DEFAULT endpoint: what it logs is in no sum here, nor masked by the environment"


def _unknown(measurement: Measurement) -> Iterator[str]:
    if measurement.unknown_days:
        least = quantity(measurement.gb_a_month_at_least)
        yield (
            f"{measurement.unknown_days} days without a sum are left out, not counted as nothing; "
            f"if nothing came in on them, a month is {least} GB"
        )
    if measurement.sessions is None:
        yield "sessions: --sessions N names them, --count-sessions counts them by a query"
    yield from measurement.inventory.denied


def _queries(measurement: Measurement) -> Table:
    priced = {each.name: each for each in measurement.query_classes}
    rows = []
    for each in measurement.classes:
        query = priced.get(each.name)
        rows.append(
            Row(
                (
                    each.name,
                    "yes" if each.indexed else "no",
                    f"{each.runs:,}",
                    quantity(each.scanned / BYTES_PER_GB) if each.told else _NONE,
                    _NONE if each.skip_ratio is None else percentage(each.skip_ratio, Decimal(1)),
                    _NONE if query is None else quantity(query.window_days),
                )
            )
        )
    return Table(("Class", "Indexed", "Runs", "GB read", "Skipped", "Days"), tuple(rows), frozenset({0, 1}), (1,))


def _queries_how(measurement: Measurement) -> Iterator[str]:
    yield "days: the window in which a query reads as much; the history does not say how far back one looked"
    if not measurement.history.covers(measurement.window):
        yield "AWS lists recent queries alone, and none from before the window: there may have been more"
    if measurement.history.statistics_denied:
        yield "what was skipped is not told: access denied, this needs logs:GetQueryResults"
    kept = measurement.place.deployment.retention_days
    if kept is not None and any(each.window_days > kept for each in measurement.query_classes):
        yield f"a class read more than {kept:f} days such as these hold; it is priced at what the group keeps"
    if any(each.told < each.runs for each in measurement.classes):
        yield "queries whose bytes are not told, or read other groups, too, count as runs that read as the others did"


def _costs(comparison: Comparison) -> Section:
    rows = tuple(Row(_cost_cells(line, both=comparison.stated is not None)) for line in comparison.lines)
    measured = _total(tuple(line.monthly for line in comparison.measured.lines))
    if comparison.stated is None:
        table = Table(("Line", "Measured"), (*rows, Row(("Total, USD", measured), Kind.TOTAL)))
    else:
        stated = _total(tuple(line.monthly for line in comparison.stated.lines))
        both = Beside("total", "Total, USD", comparison.stated.total, comparison.measured.total)
        total = Row((both.label, stated, measured, _percent(both)), Kind.TOTAL)
        table = Table(("Line", "Estimated", "Measured", "Off by"), (*rows, total))
    return Section(
        "What a month costs, USD: estimated beside measured"
        if comparison.stated
        else "What a measured month costs, USD",
        table,
        (
            Remarks("Assumptions of the measured side", comparison.measured.assumptions),
            Remarks("Notes", comparison.measured.notes),
        ),
    )


def _cost_cells(line: Beside, *, both: bool) -> tuple[str, ...]:
    measured = UNKNOWN if line.measured is None else money(line.measured)
    if not both:
        return line.label, measured
    return line.label, UNKNOWN if line.estimated is None else money(line.estimated), measured, _percent(line)


def _percent(line: Beside) -> str:
    return "" if line.percent is None else signed_percentage(line.percent)


def _total(amounts: tuple[Decimal | None, ...]) -> str:
    known = known_sum(amounts)
    if known is None:
        return UNKNOWN
    return f"at least {money(known)}" if None in amounts else money(known)
