"""Compare what two sides of a change cost: line by line, environment by environment.

A line that a side does not have costs nothing there; a line that depends on usage nobody stated has no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from typing import Final

from cost_model.estimate import Estimate
from cost_model.meters.meter import Line
from cost_model.money import known_sum
from cost_model.scenario import Scenario

_ZERO: Final = Decimal(0)
_TOLD_OTHERWISE: Final = frozenset({"assumptions", "environment"})
"""Fields of a deployment that describe no resource."""


class Change(StrEnum):
    """Tell how a line of one side stands to that of the other."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Row:
    """Hold a line that differs; amounts are USD a month, unrounded, and None depends on usage.

    `usage` is the part of the difference that another [usage] alone explains.
    """

    environment: str
    key: str
    label: str
    change: Change
    old: Decimal | None
    new: Decimal | None
    usage: Decimal | None = _ZERO

    @property
    def delta(self) -> Decimal | None:
        """Return what the line costs more."""
        return None if self.old is None or self.new is None else self.new - self.old

    @property
    def percent(self) -> Decimal | None:
        """Return the difference in per cent of the old amount; None where there was none."""
        return None if self.delta is None or not self.old else self.delta / self.old * 100


class Origin(StrEnum):
    """Tell where a fact of an environment comes from."""

    DEPLOYED = "deployed"
    USAGE = "usage"


@dataclass(frozen=True, slots=True)
class Fact:
    """Hold one value of an environment that differs between the sides; None is not stated."""

    environment: str
    origin: Origin
    key: str
    old: object
    new: object


@dataclass(frozen=True, slots=True)
class Standing:
    """Hold one line as it stands on one side."""

    environment: str
    label: str
    monthly: Decimal | None


@dataclass(frozen=True, slots=True)
class Difference:
    """Hold what differs between two sides.

    `compared` is what the lines whose amounts are known on both sides cost on the old one. `assumed` holds what was
    taken for granted on one side only, and of which.
    """

    rows: tuple[Row, ...]
    facts: tuple[Fact, ...]
    appeared: tuple[str, ...]
    vanished: tuple[str, ...]
    old: tuple[Standing, ...]
    new: tuple[Standing, ...]
    compared: Decimal
    assumed: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def total_old(self) -> Decimal | None:
        """Add up the known lines of the old side; None where none is known."""
        return known_sum(each.monthly for each in self.old)

    @property
    def total_new(self) -> Decimal | None:
        """Add up the known lines of the new side; None where none is known."""
        return known_sum(each.monthly for each in self.new)

    @property
    def unknown(self) -> tuple[Standing, ...]:
        """Name the lines that depend on usage on either side, each once."""
        lines = (Standing(each.environment, each.label, None) for each in (*self.old, *self.new) if not _known(each))
        return tuple(dict.fromkeys(lines))

    @property
    def delta(self) -> Decimal:
        """Add up the differences that are known."""
        return sum((row.delta for row in self.rows if row.delta is not None), _ZERO)

    @property
    def usage(self) -> Decimal:
        """Add up the parts of these differences that another [usage] alone explains, as far as they are known."""
        return sum((row.usage for row in self.rows if row.delta is not None and row.usage is not None), _ZERO)

    @property
    def percent(self) -> Decimal | None:
        """Return the difference in per cent of what was compared; None where that cost nothing."""
        return self.delta / self.compared * 100 if self.compared else None


def facts_of(environment: str, base: Scenario, head: Scenario) -> Iterator[Fact]:
    """Tell in what an environment's deployment and usage differ."""
    sides = (
        (Origin.DEPLOYED, base.deployment, head.deployment),
        (Origin.USAGE, base.workload, head.workload),
    )
    for origin, before, after in sides:
        for each in fields(before):
            one, other = getattr(before, each.name), getattr(after, each.name)
            if one != other and each.name not in _TOLD_OTHERWISE:
                yield Fact(environment, origin, each.name, one, other)


def difference(
    base: Sequence[Estimate],
    head: Sequence[Estimate],
    between: Sequence[Estimate] = (),
    facts: Sequence[Fact] = (),
) -> Difference:
    """Compare two sides; `between` holds head's deployments under base's usage, where the usage differs."""
    old, new, middle = _by_name(base), _by_name(head), _by_name(between)
    names = tuple(dict.fromkeys((*old, *new)))
    pairs = [pair for name in names for pair in _pairs(name, old.get(name), new.get(name), middle.get(name))]
    return Difference(
        rows=tuple(row for row in pairs if _differs(row)),
        facts=tuple(facts),
        appeared=tuple(name for name in new if name not in old),
        vanished=tuple(name for name in old if name not in new),
        old=_standings(old),
        new=_standings(new),
        compared=sum((row.old for row in pairs if row.old is not None and row.new is not None), _ZERO),
        assumed=tuple(_one_sided(base, head)),
        notes=tuple(dict.fromkeys(note for each in (*base, *head) for note in each.notes)),
    )


def _by_name(estimates: Sequence[Estimate]) -> dict[str, Estimate]:
    return {each.scenario.deployment.environment or "": each for each in estimates}


def _pairs(name: str, old: Estimate | None, new: Estimate | None, middle: Estimate | None) -> Iterator[Row]:
    before, after, between = _lines(old), _lines(new), _lines(middle)
    for key in dict.fromkeys((*before, *after)):
        line = after.get(key) or before[key]
        change = Change.CHANGED
        if key not in before:
            change = Change.ADDED
        elif key not in after:
            change = Change.REMOVED
        amount, then = _amount(before.get(key)), _amount(after.get(key))
        usage = _usage(then, between.get(key)) if middle is not None else _ZERO
        yield Row(name, key, line.label, change, amount, then, usage)


def _lines(estimate: Estimate | None) -> dict[str, Line]:
    return {} if estimate is None else {line.key: line for line in estimate.lines}


def _amount(line: Line | None) -> Decimal | None:
    return _ZERO if line is None else line.monthly


def _usage(new: Decimal | None, between: Line | None) -> Decimal | None:
    under_base = _amount(between)
    return None if new is None or under_base is None else new - under_base


def _differs(row: Row) -> bool:
    if row.change is Change.CHANGED:
        return row.old != row.new
    # A line that comes or goes and costs nothing moves nothing: only what is known to be free is left out.
    return row.delta != 0


def _one_sided(base: Sequence[Estimate], head: Sequence[Estimate]) -> Iterator[str]:
    old, new = (dict.fromkeys(text for each in side for text in each.assumptions) for side in (base, head))
    yield from (f"before: {text}" for text in old if text not in new)
    yield from (f"after: {text}" for text in new if text not in old)


def _standings(estimates: dict[str, Estimate]) -> tuple[Standing, ...]:
    return tuple(
        Standing(name, line.label, line.monthly) for name, estimate in estimates.items() for line in estimate.lines
    )


def _known(standing: Standing) -> bool:
    return standing.monthly is not None
