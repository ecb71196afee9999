"""Lay a difference out as a section, its summary first, and write it as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Final

from cost_model.ceilings import MAX_MONTHLY, Breach, Ceilings
from cost_model.diff import Change, Difference, Fact, Origin, Row, Standing
from cost_model.render.document import Kind, Remarks, Section, Table
from cost_model.render.document import Row as Cells
from cost_model.render.figures import UNKNOWN, clean, joined, money, plain, signed, signed_percentage
from cost_model.render.json_values import CURRENCY, cents_or_none, dumped, plain_or_none

_NOT_THERE: Final = "-"
_NAMED: Final = 5
"""Lines of a broken ceiling that are named; the rest are counted."""


def summary(difference: Difference) -> str:
    """Say in one line what a change costs."""
    if not difference.rows:
        return f"No difference in monthly cost: {_total(difference.total_new, difference.new)} on both sides"
    old, new = _total(difference.total_old, difference.old), _total(difference.total_new, difference.new)
    return f"Monthly cost: {old} before, {new} after: {_change(difference.delta, difference.percent)}"


def difference_sections(difference: Difference, ceilings: Ceilings, broken: Sequence[Breach]) -> Iterator[Section]:
    """Lay out one table of all environments."""
    facts = difference.facts
    yield Section(
        summary(difference),
        _table(difference) if difference.rows else None,
        (
            Remarks("Over the ceiling", tuple(map(breach_words, broken))),
            Remarks("Environments", tuple(_environments(difference))),
            Remarks("What is deployed differs", tuple(_facts(facts, Origin.DEPLOYED))),
            Remarks("[usage] differs", (*_usage_share(difference), *_facts(facts, Origin.USAGE))),
            _unknown(difference, ceilings),
            Remarks("Assumed on one side only", difference.assumed),
            Remarks("Notes", difference.notes),
        ),
    )


def breach_words(breach: Breach) -> str:
    """Say which ceiling is broken, and by which lines."""
    words = (
        "the cost rises from nothing"
        if breach.found is None
        else f"the cost rises by {signed_percentage(breach.found)}"
    )
    if breach.ceiling is MAX_MONTHLY:
        words = f"the cost is {money(breach.found or Decimal(0))} USD a month"
    rest = len(breach.lines) - _NAMED
    named = [_line_words(line, grew=breach.grew) for line in breach.lines[:_NAMED]]
    lines = joined((*named, f"and {rest} more" if rest > 0 else ""))
    because = "what grew" if breach.grew else "it did not grow; what it is made of"
    return f"--{breach.ceiling.key} {plain(breach.limit)}: {words}; {because}: {lines}"


def ceiling_lines(difference: Difference, ceilings: Ceilings, broken: Sequence[Breach]) -> Iterator[str]:
    """Say what a person has to see even where the report goes into a file."""
    yield from map(breach_words, broken)
    if ceilings.any and difference.unknown:
        yield unknown_words(difference)


def unknown_words(difference: Difference) -> str:
    """Say for which lines no ceiling can speak."""
    return f"the ceilings hold for what is known; {UNKNOWN}: {joined(_grouped(difference.unknown))}"


def difference_json(difference: Difference, ceilings: Ceilings, broken: Sequence[Breach]) -> str:
    """Return `{"currency", "summary", "total", "rows", "facts", ..., "ceilings"}`; null depends on usage."""
    document = {
        "currency": CURRENCY,
        "summary": summary(difference),
        "total": {
            "old": cents_or_none(difference.total_old),
            "new": cents_or_none(difference.total_new),
            "delta": cents_or_none(difference.delta),
            "percent": cents_or_none(difference.percent),
            "exact_delta": plain(difference.delta),
            "of_which_usage": plain(difference.usage),
        },
        "rows": list(map(_row_document, difference.rows)),
        "facts": [
            {"environment": fact.environment, "of": fact.origin, "change": words}
            for fact in difference.facts
            for words in _fact_words(fact.key, fact.old, fact.new)
        ],
        "appeared": list(difference.appeared),
        "vanished": list(difference.vanished),
        "depends_on_usage": [{"environment": each.environment, "line": each.label} for each in difference.unknown],
        "ceilings": {
            "max_monthly": plain_or_none(ceilings.max_monthly),
            "max_increase": plain_or_none(ceilings.max_increase),
            "broken": list(map(_breach_document, broken)),
        },
        "assumed_on_one_side": list(difference.assumed),
        "notes": list(difference.notes),
    }
    return dumped(document)


def _table(difference: Difference) -> Table:
    shows_usage = any(row.usage for row in difference.rows)
    header = ("Environment", "Line", "Before", "After", "Difference", "Per cent", *(("Usage",) if shows_usage else ()))
    rows = [Cells(_cells(row)[: len(header)]) for row in difference.rows]
    total = (
        "Total, USD",
        "",
        _total(difference.total_old, difference.old, unit=""),
        _total(difference.total_new, difference.new, unit=""),
        signed(difference.delta),
        _percent(difference.percent),
        signed(difference.usage),
    )
    table = (*rows, Cells(total[: len(header)], Kind.TOTAL))
    return Table(header, table, frozenset({0, 1}), dispensable=(6, 5)[0 if shows_usage else 1 :])


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.environment,
        row.label,
        _NOT_THERE if row.change is Change.ADDED else _amount(row.old),
        _NOT_THERE if row.change is Change.REMOVED else _amount(row.new),
        "unknown" if row.delta is None else signed(row.delta),
        _percent(row.percent),
        "unknown" if row.usage is None else signed(row.usage),
    )


def _environments(difference: Difference) -> Iterator[str]:
    yield from (f"{name} appears" for name in difference.appeared)
    yield from (f"{name} vanishes" for name in difference.vanished)


def _facts(facts: Iterable[Fact], origin: Origin) -> Iterator[str]:
    for fact in facts:
        if fact.origin is origin:
            yield from (f"{fact.environment}: {words}" for words in _fact_words(fact.key, fact.old, fact.new))


def _fact_words(key: str, old: object, new: object) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            if old.get(name) != new.get(name):
                yield from _fact_words(f"{key}.{name}", old.get(name), new.get(name))
    elif is_dataclass(old) and type(old) is type(new):
        for each in fields(old):
            if getattr(old, each.name) != getattr(new, each.name):
                yield from _fact_words(f"{key}.{each.name}", getattr(old, each.name), getattr(new, each.name))
    elif isinstance(old, tuple) or isinstance(new, tuple):
        yield f"{key}: {joined(_changed_items(old, new)) or 'in another order'}"
    else:
        yield f"{key}: {_value(old) or 'not stated'} -> {_value(new) or 'not stated'}"


def _changed_items(old: object, new: object) -> Iterator[str]:
    """Name the items that only one side has, or that differ."""
    before, after = _named_items(old), _named_items(new)
    for name in dict.fromkeys((*before, *after)):
        if name not in before:
            yield f"{name} (new)"
        elif name not in after:
            yield f"{name} (gone)"
        elif before[name] != after[name]:
            yield f"{name} (changed)"


def _named_items(items: object) -> dict[str, object]:
    return {str(getattr(item, "name", item)): item for item in items} if isinstance(items, tuple) else {}


def _usage_share(difference: Difference) -> Iterator[str]:
    if any(row.usage for row in difference.rows):
        deployed = difference.delta - difference.usage
        parts = f"{signed(difference.usage)} is usage, {signed(deployed)} what is deployed"
        yield f"of {signed(difference.delta)} USD, {parts}"


def _unknown(difference: Difference, ceilings: Ceilings) -> Remarks:
    if not difference.unknown:
        return Remarks("", ())
    if ceilings.any:
        return Remarks("Not in the totals, and under no ceiling", (unknown_words(difference),))
    return Remarks("Not in the totals", tuple(f"{words}: {UNKNOWN}" for words in _grouped(difference.unknown)))


def _grouped(lines: Iterable[Standing]) -> Iterator[str]:
    """Say each line once, and in which environments."""
    environments: dict[str, list[str]] = {}
    for line in lines:
        environments.setdefault(line.label, []).append(line.environment)
    for label, names in environments.items():
        where = joined(names)
        yield f"{label} ({where})" if where else label


def _name(line: Standing) -> str:
    return f"{line.environment}: {line.label}" if line.environment else line.label


def _line_words(line: Standing, *, grew: bool) -> str:
    amount = line.monthly or Decimal(0)
    return f"{_name(line)} {signed(amount) if grew else money(amount)}"


def _change(delta: Decimal, percent: Decimal | None) -> str:
    return f"{signed(delta)} USD" + (f" ({signed_percentage(percent)})" if percent is not None else "")


def _percent(percent: Decimal | None) -> str:
    return "" if percent is None else signed_percentage(percent)


def _amount(amount: Decimal | None) -> str:
    return UNKNOWN if amount is None else money(amount)


def _total(total: Decimal | None, lines: Iterable[Standing], unit: str = " USD") -> str:
    if total is None:
        # A side without a line costs nothing; one whose lines all depend on usage is unknown.
        return UNKNOWN if any(lines) else f"0.00{unit}"
    known = f"{money(total)}{unit}"
    return f"at least {known}" if any(each.monthly is None for each in lines) else known


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Decimal):
        return f"{value.normalize():,f}"
    return "" if value is None else clean(str(value))


def _row_document(row: Row) -> dict[str, object]:
    return {
        "environment": row.environment,
        "key": row.key,
        "label": row.label,
        "change": row.change,
        "old": cents_or_none(row.old),
        "new": cents_or_none(row.new),
        "delta": cents_or_none(row.delta),
        "percent": cents_or_none(row.percent),
        "exact_delta": plain_or_none(row.delta),
        "of_which_usage": plain_or_none(row.usage),
    }


def _breach_document(breach: Breach) -> dict[str, object]:
    return {
        "ceiling": breach.ceiling.key,
        "limit": plain(breach.limit),
        "found": plain_or_none(breach.found),
        "grew": breach.grew,
        "lines": [
            {"environment": each.environment, "line": each.label, "usd": plain_or_none(each.monthly)}
            for each in breach.lines
        ],
    }
