"""Lay out which inputs move the bill, and where one cost overtakes another; write both as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from cost_model.break_even import BreakEven, Outcome
from cost_model.estimate import Estimate
from cost_model.render.document import Remarks, Row, Section, Table
from cost_model.render.figures import UNKNOWN, joined, money, percentage, plain, quantity, unit_price
from cost_model.render.json_values import CURRENCY, cents_or_none, dumped, plain_or_none
from cost_model.sensitivity import Lever, movers


@dataclass(frozen=True, slots=True)
class Judged:
    """Hold one environment's estimate, its levers and its break-evens."""

    estimate: Estimate
    levers: tuple[Lever, ...]
    break_evens: tuple[BreakEven, ...]


def sensitivity_sections(judged: Sequence[Judged]) -> Iterator[Section]:
    """Lay out one section an environment."""
    for each in judged:
        moving = movers(each.levers)
        still = joined(lever.name for lever in each.levers if not lever.swing)
        yield Section(
            _title(each.estimate),
            _table(moving) if moving else None,
            (
                Remarks("Break-even, a month", tuple(map(break_even_words, each.break_evens))),
                Remarks("Moves nothing here", (still,) if still else ()),
                Remarks("Not in the total, so not varied", tuple(_unknown(each.estimate))),
            ),
        )


def sensitivity_json(judged: Sequence[Judged]) -> str:
    """Return `{"currency", "environments": {name: {"total", "levers", "break_evens", "depends_on_usage"}}}`."""
    environments = {
        each.estimate.scenario.deployment.environment or "": {
            "regime": each.estimate.scenario.deployment.regime,
            "total": cents_or_none(each.estimate.total),
            "levers": list(map(_lever, each.levers)),
            "break_evens": list(map(_break_even, each.break_evens)),
            "depends_on_usage": {line.key: unit_price(line.row) for line in each.estimate.unknown},
        }
        for each in judged
    }
    return dumped({"currency": CURRENCY, "environments": environments})


def break_even_words(found: BreakEven) -> str:
    """Say one answer in a sentence."""
    if found.outcome is Outcome.AT and found.at is not None:
        first = found.at.to_integral_value(ROUND_CEILING)
        return f"{found.name}: from {quantity(first)} {found.unit} on; {found.why}"
    return f"{found.name}: {found.outcome}; {found.why}"


def _title(estimate: Estimate) -> str:
    deployment, sessions = estimate.scenario.deployment, estimate.scenario.workload.sessions
    total = estimate.total
    known = UNKNOWN if total is None else f"{'at least ' if estimate.unknown else ''}{money(total)} USD"
    return joined(
        (
            f"What moves {deployment.environment or 'the bill'}: {known} a month",
            f"regime {deployment.regime}" if deployment.regime else "regime unknown",
            "" if sessions is None else f"{quantity(sessions)} sessions",
        )
    )


def _table(levers: Sequence[Lever]) -> Table:
    header = ("Input", "Unit", "Now", "From", "To", "USD from", "USD to", "Swing", "Of total")
    return Table(header, tuple(map(_row, levers)), frozenset({0, 1}), dispensable=(8, 1, 2))


def _row(lever: Lever) -> Row:
    return Row(
        (
            lever.name,
            lever.unit,
            _number(lever.value),
            _number(lever.low),
            _number(lever.high),
            money(lever.total_low),
            money(lever.total_high),
            money(lever.swing),
            percentage(lever.swing, lever.base),
        )
    )


def _number(value: Decimal) -> str:
    return f"{value.normalize():,f}"


def _unknown(estimate: Estimate) -> Iterator[str]:
    yield from (f"{line.label}: {UNKNOWN}: {unit_price(line.row)}" for line in estimate.unknown)


def _lever(lever: Lever) -> dict[str, object]:
    return {
        "name": lever.name,
        "unit": lever.unit,
        "now": plain(lever.value),
        "points": [{"value": plain(point.value), "total": plain(point.total)} for point in lever.points],
        "swing": plain(lever.swing),
    }


def _break_even(found: BreakEven) -> dict[str, object]:
    return {
        "name": found.name,
        "unit": found.unit,
        "outcome": found.outcome,
        "at": plain_or_none(found.at),
        "why": found.why,
    }
