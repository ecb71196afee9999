"""Define what a meter is, and turn one into a priced line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from cost_model.money import product
from cost_model.prices import PriceBook, PriceRow
from cost_model.scenario import Scenario

Volume: TypeAlias = Callable[[Scenario], Decimal | None]


@dataclass(frozen=True, slots=True)
class Part:
    """Hold one share of a line that deserves a name, such as a query class; None is unknown."""

    name: str
    quantity: Decimal | None
    first_quantity: Decimal | None


@dataclass(frozen=True, slots=True)
class Meter:
    """State what is metered, by which price row, and in which deployments.

    `first_month` differs from `quantity` where a store starts empty. `share` is the part of the quantity that is
    metered; the row's free share comes off it. `parts` splits the quantity by name. `assumes` says what the meter
    takes for granted in a scenario.
    """

    key: str
    label: str
    price: str
    quantity: Volume
    first_month: Volume | None = None
    share: Volume | None = None
    applies: Callable[[Scenario], bool] = lambda _: True
    parts: Callable[[Scenario], tuple[Part, ...]] = lambda _: ()
    assumes: Callable[[Scenario], tuple[str, ...]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one priced line: quantities in the row's unit, amounts in USD, unrounded; None depends on usage."""

    key: str
    label: str
    row: PriceRow
    quantity: Decimal | None
    monthly: Decimal | None
    first_month: Decimal | None
    parts: tuple[Line, ...] = ()


def price(meter: Meter, scenario: Scenario, prices: PriceBook) -> Line | None:
    """Price a meter; None where the deployment has it switched off."""
    if not meter.applies(scenario):
        return None
    row = prices.row(scenario.deployment.region, meter.price)
    return _line(
        meter.key,
        meter.label,
        row,
        quantity=_charged(meter, scenario, row, meter.quantity),
        first_quantity=_charged(meter, scenario, row, meter.first_month or meter.quantity),
        parts=tuple(_part_line(meter, row, part) for part in meter.parts(scenario)),
    )


def _part_line(meter: Meter, row: PriceRow, part: Part) -> Line:
    return _line(meter.key, part.name, row, quantity=part.quantity, first_quantity=part.first_quantity)


def _charged(meter: Meter, scenario: Scenario, row: PriceRow, volume: Volume) -> Decimal | None:
    if meter.share is None:
        return volume(scenario)
    share = meter.share(scenario)
    return product(volume(scenario), None if share is None else max(share - row.free_share, Decimal(0)))


def _line(
    key: str,
    label: str,
    row: PriceRow,
    *,
    quantity: Decimal | None,
    first_quantity: Decimal | None,
    parts: tuple[Line, ...] = (),
) -> Line:
    return Line(
        key=key,
        label=label,
        row=row,
        quantity=quantity,
        monthly=None if quantity is None else row.charge(quantity),
        first_month=None if first_quantity is None else row.charge(first_quantity),
        parts=parts,
    )
