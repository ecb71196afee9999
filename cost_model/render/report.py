"""Lay estimates out as sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from cost_model.advice import Advice, advice, comparison_advice
from cost_model.estimate import METERS, NOT_PRICED, Estimate
from cost_model.meters.meter import Line
from cost_model.money import known_sum
from cost_model.prices import PriceRow
from cost_model.regimes import Comparison
from cost_model.render.document import Kind, Remarks, Row, Section, Table
from cost_model.render.figures import EVERY_TIER, UNKNOWN, joined, money, percentage, quantity, unit_price

_SWITCHED_OFF = "-"
_TRAIL = "The trail"
_GUARD = "The guard's records"
_SCALE = "for scale, what the agent costs beside its trail; in no total"
_NOT_PRICED = Remarks("Not priced", NOT_PRICED)


def estimate_sections(estimates: Sequence[Estimate]) -> Iterator[Section]:
    """Lay out one section an environment, then what they share."""
    common = tuple(text for text in estimates[0].assumptions if all(text in each.assumptions for each in estimates))
    for each in estimates:
        own = tuple(text for text in each.assumptions if text not in common)
        yield Section(
            _title(each), _estimate_table(each), (_unknown(each), _advice(advice(each)), Remarks("Assumptions", own))
        )
        if each.scale:
            yield Section(f"{each.scenario.deployment.environment}: {_SCALE}", _scale_table(each))
    if len(estimates) > 1:
        yield Section("All environments, USD", _summary_table(estimates))
    assumptions = Remarks("Assumptions of every environment" if len(estimates) > 1 else "Assumptions", common)
    yield Section("What this rests on", None, (assumptions, _NOT_PRICED, _prices(estimates), _notes(estimates)))


def comparison_sections(comparison: Comparison) -> Iterator[Section]:
    """Lay out one column a regime."""
    estimates = tuple(comparison.estimates.values())
    deployment = estimates[0].scenario.deployment
    sessions = estimates[0].scenario.workload.sessions
    yield Section(
        joined(
            (
                f"Capture regimes in {comparison.region}, USD a month",
                f"{quantity(sessions)} sessions" if sessions is not None else "",
                _indexing_words(deployment.indexing_percentage),
                _retention_words(deployment.retention_days),
            )
        ),
        _comparison_table(comparison),
        (
            _unknown(*estimates),
            _advice(comparison_advice(comparison)),
            Remarks("Assumptions", _union(each.assumptions for each in estimates)),
            _NOT_PRICED,
            _prices(estimates),
            _notes(estimates),
        ),
    )


def _advice(given: Iterable[Advice]) -> Remarks:
    return Remarks("Advice", tuple(each.text for each in given))


def _estimate_table(estimate: Estimate) -> Table:
    header = ("Line", "Quantity", "Unit price", "Month", "First month", "Share")
    rows = [row for line in estimate.lines for row in _line_rows(line, estimate.total)]
    total = Row(("Total, USD", "", "", _month(estimate), _first_month(estimate), ""), Kind.TOTAL)
    return Table(header, (*rows, *_parts(estimate), total), frozenset({0, 2}), dispensable=(5, 2, 4))


def _parts(estimate: Estimate) -> Iterator[Row]:
    """Add up the trail and the guard's records apart, where there are both."""
    if estimate.guard_lines:
        for label, lines in ((_TRAIL, estimate.trail_lines), (_GUARD, estimate.guard_lines)):
            known = known_sum(line.monthly for line in lines)
            share = "" if known is None or estimate.total is None else percentage(known, estimate.total)
            sums = (_sum(lines), _at_least([line.first_month for line in lines]))
            yield Row((label, "", "", *sums, share), Kind.TOTAL)


def _sum(lines: Sequence[Line]) -> str:
    return _at_least([line.monthly for line in lines])


def _scale_table(estimate: Estimate) -> Table:
    rows = [Row(_line_cells(line, None)[:4]) for line in estimate.scale]
    total = ("The trail is of that", "", "", _trail_share(estimate))
    return Table(("Line", "Quantity", "Unit price", "Month"), (*rows, Row(total, Kind.TOTAL)), frozenset({0, 2}), (2,))


def _trail_share(estimate: Estimate) -> str:
    """Compare the trail with what the agent costs, where the amounts of both are whole."""
    amounts = [line.monthly for line in (*estimate.trail_lines, *estimate.scale)]
    trail, agent = known_sum(line.monthly for line in estimate.trail_lines), estimate.scale_total
    return percentage(trail, agent) if None not in amounts and trail is not None and agent else UNKNOWN


def _line_rows(line: Line, total: Decimal | None) -> Iterator[Row]:
    yield Row(_line_cells(line, total))
    for part in line.parts:
        yield Row(_line_cells(part, total), Kind.PART)


def _line_cells(line: Line, total: Decimal | None) -> tuple[str, ...]:
    return (
        line.label,
        "" if line.quantity is None else f"{quantity(line.quantity)} {_plural(line)}",
        unit_price(line.row, line.quantity),
        _amount(line.monthly),
        _amount(line.first_month),
        "" if line.monthly is None or total is None else percentage(line.monthly, total),
    )


def _plural(line: Line) -> str:
    unit = line.row.unit
    return unit if unit.startswith("GB") or line.quantity == 1 else f"{unit}s"


def _summary_table(estimates: Sequence[Estimate]) -> Table:
    rows = [Row((each.scenario.deployment.environment or "", _month(each), _first_month(each))) for each in estimates]
    lines = [line for each in estimates for line in each.lines]
    month, first_month = (_at_least([line.monthly for line in lines]), _at_least([line.first_month for line in lines]))
    total = Row(("Total, USD", month, first_month), Kind.TOTAL)
    return Table(("Environment", "Month", "First month"), (*rows, total))


def _comparison_table(comparison: Comparison) -> Table:
    estimates = tuple(comparison.estimates.values())
    columns = [{line.key: line for line in each.lines} for each in estimates]
    # A column that lacks a line must not move it behind the lines of others.
    found = {line.key: line.label for each in estimates for line in each.lines}
    labels = {meter.key: found[meter.key] for meter in METERS if meter.key in found}
    rows = [Row((label, *(_cell(column.get(key)) for column in columns))) for key, label in labels.items()]
    parts = [
        Row((_TRAIL, *(_sum(each.trail_lines) for each in estimates)), Kind.TOTAL),
        Row((_GUARD, *(_sum(each.guard_lines) for each in estimates)), Kind.TOTAL),
    ]
    totals = [
        *(parts if any(each.guard_lines for each in estimates) else ()),
        Row(("Total", *map(_month, estimates)), Kind.TOTAL),
        Row(("First month", *map(_first_month, estimates)), Kind.TOTAL),
    ]
    if any(each.scale for each in estimates):
        totals.append(Row(("Agent, for scale", *(_amount(each.scale_total) for each in estimates)), Kind.TOTAL))
        totals.append(Row(("The trail is of that", *map(_trail_share, estimates)), Kind.TOTAL))
    return Table(("Line", *(regime.value for regime in comparison.estimates)), (*rows, *totals))


def _cell(line: Line | None) -> str:
    return _SWITCHED_OFF if line is None else _amount(line.monthly)


def _title(estimate: Estimate) -> str:
    deployment = estimate.scenario.deployment
    return f"{deployment.environment}: " + joined(
        (
            deployment.region,
            f"regime {deployment.regime}" if deployment.regime else "regime unknown",
            _indexing_words(deployment.indexing_percentage),
            _retention_words(deployment.retention_days),
            "masked" if deployment.masking else "not masked",
        )
    )


def _indexing_words(indexed: Decimal | None) -> str:
    return "indexing unknown" if indexed is None else f"{indexed.normalize():f} % indexed"


def _retention_words(days: Decimal | None) -> str:
    return "kept for ever" if days is None else f"kept {days:f} days"


def _unknown(*estimates: Estimate) -> Remarks:
    lines = {line.key: line for each in estimates for line in each.unknown}
    items = tuple(f"{line.label}: {UNKNOWN}: {unit_price(line.row)}" for line in lines.values())
    return Remarks("Not in the total", items)


def _prices(estimates: Iterable[Estimate]) -> Remarks:
    rows = dict.fromkeys(line.row for each in estimates for line in (*each.lines, *each.scale))
    return Remarks("Prices, with the day each was last seen (sources: --format json)", tuple(map(_price_words, rows)))


def _price_words(row: PriceRow) -> str:
    free = f", {percentage(row.free_share, Decimal(1))} free" if row.free_share else ""
    return f"{row.as_of}  {row.region}  {row.name}: {unit_price(row, EVERY_TIER)}{free}"


def _notes(estimates: Iterable[Estimate]) -> Remarks:
    return Remarks("Notes", _union(each.notes for each in estimates))


def _amount(amount: Decimal | None) -> str:
    return UNKNOWN if amount is None else money(amount)


def _month(estimate: Estimate) -> str:
    return _sum(estimate.lines)


def _first_month(estimate: Estimate) -> str:
    return _at_least([line.first_month for line in estimate.lines])


def _at_least(amounts: Sequence[Decimal | None]) -> str:
    """Show a sum, and say so where it lacks what is not known."""
    total = _amount(known_sum(amounts))
    return f"at least {total}" if None in amounts and total != UNKNOWN else total


def _union(texts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for group in texts for text in group))
