"""Write estimates as JSON: amounts in cents beside the exact ones, all as decimal strings; null depends on usage."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from cost_model.estimate import NOT_PRICED, Estimate
from cost_model.meters.meter import Line
from cost_model.prices import PriceRow
from cost_model.regimes import Comparison
from cost_model.render.figures import cents, plain, unit_price

CURRENCY: Final = "USD"


def comparison_json(comparison: Comparison) -> str:
    """Return `{"currency", "region", "regimes": {regime: estimate}, "prices", "not_priced"}`."""
    document = {
        "currency": CURRENCY,
        "region": comparison.region,
        "regimes": {regime.value: _estimate(each) for regime, each in comparison.estimates.items()},
        "prices": _prices(comparison.estimates.values()),
        "not_priced": list(NOT_PRICED),
    }
    return _dumped(document)


def estimates_json(estimates: Sequence[Estimate]) -> str:
    """Return `{"currency", "environments": {name: deployment and estimate}, "prices", "not_priced"}`."""
    document = {
        "currency": CURRENCY,
        "environments": {
            each.scenario.deployment.environment or "": {**_deployment(each), **_estimate(each)} for each in estimates
        },
        "prices": _prices(estimates),
        "not_priced": list(NOT_PRICED),
    }
    return _dumped(document)


def _estimate(estimate: Estimate) -> dict[str, object]:
    return {
        "total": _cents(estimate.total),
        "exact": _plain(estimate.total),
        "first_month": _cents(estimate.first_month),
        "lines": {line.key: _cents(line.monthly) for line in estimate.lines},
        "details": {line.key: _line(line) for line in estimate.lines},
        "depends_on_usage": {line.key: unit_price(line.row) for line in estimate.unknown},
        "assumptions": list(estimate.assumptions),
        "notes": list(estimate.notes),
    }


def _deployment(estimate: Estimate) -> dict[str, object]:
    deployment = estimate.scenario.deployment
    return {
        "region": deployment.region,
        "regime": deployment.regime,
        "indexing_percentage": _plain(deployment.indexing_percentage),
        "retention_days": _plain(deployment.retention_days),
        "masking": deployment.masking,
        "log_class": deployment.log_class,
    }


def _line(line: Line) -> dict[str, object]:
    detail: dict[str, object] = {
        "label": line.label,
        "quantity": _plain(line.quantity),
        "unit": line.row.unit,
        "unit_price": unit_price(line.row, line.quantity),
        "exact": _plain(line.monthly),
        "first_month": _plain(line.first_month),
        "price": line.row.id,
    }
    if line.parts:
        detail["parts"] = [
            {"name": part.label, "quantity": _plain(part.quantity), "exact": _plain(part.monthly)}
            for part in line.parts
        ]
    return detail


def _prices(estimates: Iterable[Estimate]) -> list[dict[str, object]]:
    rows = dict.fromkeys(line.row for each in estimates for line in each.lines)
    return [_price_row(row) for row in rows]


def _price_row(row: PriceRow) -> dict[str, object]:
    return {
        "id": row.id,
        "region": row.region,
        "service_code": row.service_code,
        "usage_type": row.usage_type,
        "unit": row.unit,
        "as_of": row.as_of.isoformat(),
        "source": row.source,
        "tiers": [{"usd": plain(tier.usd), "up_to": _plain(tier.up_to)} for tier in row.tiers],
        "free_share": plain(row.free_share),
    }


def _dumped(document: object) -> str:
    # ASCII only: escapes keep control characters in names from a terminal.
    return json.dumps(document, indent=2) + "\n"


def _cents(amount: Decimal | None) -> str | None:
    return None if amount is None else cents(amount)


def _plain(amount: Decimal | None) -> str | None:
    return None if amount is None else plain(amount)
