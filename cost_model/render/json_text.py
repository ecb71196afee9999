"""Write estimates as JSON: amounts in cents beside the exact ones, all as decimal strings; null depends on usage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cost_model.advice import Advice, advice, comparison_advice
from cost_model.estimate import NOT_PRICED, Estimate
from cost_model.meters.meter import Line
from cost_model.money import known_sum
from cost_model.prices import PriceRow
from cost_model.regimes import Comparison
from cost_model.render.figures import plain, unit_price
from cost_model.render.json_values import CURRENCY, cents_or_none, dumped, plain_or_none


def comparison_json(comparison: Comparison) -> str:
    """Return `{"currency", "region", "regimes": {regime: estimate}, "advice", "prices", "not_priced"}`."""
    document = {
        "currency": CURRENCY,
        "region": comparison.region,
        "regimes": {regime.value: _estimate(each) for regime, each in comparison.estimates.items()},
        "advice": list(map(_advice, comparison_advice(comparison))),
        "prices": _prices(comparison.estimates.values()),
        "not_priced": list(NOT_PRICED),
    }
    return dumped(document)


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
    return dumped(document)


def _estimate(estimate: Estimate) -> dict[str, object]:
    return {
        "total": cents_or_none(estimate.total),
        "exact": plain_or_none(estimate.total),
        "trail": cents_or_none(known_sum(line.monthly for line in estimate.trail_lines)),
        "guard": cents_or_none(known_sum(line.monthly for line in estimate.guard_lines)),
        "first_month": cents_or_none(estimate.first_month),
        "lines": {line.key: cents_or_none(line.monthly) for line in estimate.lines},
        "details": {line.key: _line(line) for line in estimate.lines},
        "scale": {line.key: _line(line) for line in estimate.scale},
        "scale_total": cents_or_none(estimate.scale_total),
        "depends_on_usage": {line.key: unit_price(line.row) for line in estimate.unknown},
        "advice": list(map(_advice, advice(estimate))),
        "assumptions": list(estimate.assumptions),
        "notes": list(estimate.notes),
    }


def _advice(given: Advice) -> dict[str, str]:
    return {"code": given.code, "text": given.text, "threshold": given.threshold, "source": given.source}


def _deployment(estimate: Estimate) -> dict[str, object]:
    deployment = estimate.scenario.deployment
    return {
        "region": deployment.region,
        "regime": deployment.regime,
        "indexing_percentage": plain_or_none(deployment.indexing_percentage),
        "retention_days": plain_or_none(deployment.retention_days),
        "masking": deployment.masking,
        "log_class": deployment.log_class,
        "holds": {
            key: held if isinstance(held, bool) else plain(held) for key, held in deployment.pieces.there.items()
        },
    }


def _line(line: Line) -> dict[str, object]:
    detail: dict[str, object] = {
        "label": line.label,
        "quantity": plain_or_none(line.quantity),
        "unit": line.row.unit,
        "unit_price": unit_price(line.row, line.quantity),
        "exact": plain_or_none(line.monthly),
        "first_month": plain_or_none(line.first_month),
        "price": line.row.id,
    }
    if line.parts:
        detail["parts"] = [
            {"name": part.label, "quantity": plain_or_none(part.quantity), "exact": plain_or_none(part.monthly)}
            for part in line.parts
        ]
    return detail


def _prices(estimates: Iterable[Estimate]) -> list[dict[str, object]]:
    rows = dict.fromkeys(line.row for each in estimates for line in (*each.lines, *each.scale))
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
        "tiers": [{"usd": plain(tier.usd), "up_to": plain_or_none(tier.up_to)} for tier in row.tiers],
        "free_share": plain(row.free_share),
    }
