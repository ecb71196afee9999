"""Meter bytes that the trail's log group takes at the rate of logs, by its class; make such meters for each kind."""

from __future__ import annotations

from collections.abc import Callable

from cost_model.deployment import LogClass
from cost_model.meters.meter import Meter, Volume
from cost_model.scenario import Scenario

_PRICES = {
    LogClass.STANDARD: "log_ingestion",
    LogClass.INFREQUENT_ACCESS: "log_ingestion_infrequent_access",
}


def by_class(
    key: str,
    label: str,
    quantity: Volume,
    *,
    applies: Callable[[Scenario], bool] = lambda _: True,
    assumes: Callable[[Scenario], tuple[str, ...]] = lambda _: (),
) -> tuple[Meter, ...]:
    """Make one meter for each class of log group; of these one at most applies."""

    def of(log_class: LogClass) -> Callable[[Scenario], bool]:
        return lambda scenario: scenario.deployment.log_class is log_class and applies(scenario)

    return tuple(
        Meter(key=key, label=label, price=price, quantity=quantity, applies=of(log_class), assumes=assumes)
        for log_class, price in _PRICES.items()
    )
