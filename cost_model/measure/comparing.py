"""Set the estimate beside what the measured usage costs, line by line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from cost_model.estimate import Estimate, estimate
from cost_model.measure.measurement import Measurement, Sessions
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes
from cost_model.workload import Workload


@dataclass(frozen=True, slots=True)
class Beside:
    """Hold one line of both sides, in USD a month; None depends on usage, or is not on that side."""

    key: str
    label: str
    estimated: Decimal | None
    measured: Decimal | None

    @property
    def percent(self) -> Decimal | None:
        """Say by how many per cent the measured one is above the estimated one; None where one is not known."""
        if self.estimated is None or self.measured is None or not self.estimated:
            return None
        return (self.measured - self.estimated) / self.estimated * 100


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hold both estimates; `stated` is None where no stacks were named."""

    measured: Estimate
    stated: Estimate | None = None

    @property
    def lines(self) -> tuple[Beside, ...]:
        """Give the lines of both, in the order in which they are printed."""
        old = {} if self.stated is None else {line.key: line for line in self.stated.lines}
        new = {line.key: line for line in self.measured.lines}
        labels = {key: line.label for key, line in (*new.items(), *old.items())}
        return tuple(
            Beside(key, label, old[key].monthly if key in old else None, new[key].monthly if key in new else None)
            for key, label in labels.items()
        )


def compare(
    measurement: Measurement, stated: Scenario | None, prices: PriceBook, today: date, sizes: SessionSizes
) -> Comparison | None:
    """Price what was measured, on the stacks or on what the discovery document says; None where no regime is known.

    What was not measured stays as it was stated, on both sides.

    Raises:
        CostError: the Region has no prices.
    """
    scenario = stated or Scenario(measurement.place.deployment, Workload())
    if scenario.deployment.regime is None:
        return None
    measured = Scenario(scenario.deployment, measurement.over(scenario.workload, sizes))
    return Comparison(
        estimate(measured, prices, today, sizes), None if stated is None else estimate(stated, prices, today, sizes)
    )


def with_stated_sessions(measurement: Measurement, stated: Scenario | None) -> Measurement:
    """Divide by the stated sessions where nobody counted or named others: the bytes are measured all the same."""
    if measurement.sessions is not None or stated is None or not stated.workload.sessions:
        return measurement
    how = "as [usage] states them; not measured"
    return replace(measurement, sessions=Sessions(stated.workload.sessions, how))
