"""Write what a refresh came to, and what the price book holds, as JSON; prices are decimal strings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date

from cost_model.price_list.refreshing import Refreshed
from cost_model.prices import PriceRow
from cost_model.render.figures import plain


def refreshed_json(refreshed: Refreshed) -> str:
    """Return `{"region", "source", "changes": [{"id", "verdict", "share", "old", "new"}], ...}`."""
    changes = [
        {
            "id": change.row.id,
            "verdict": change.verdict.value,
            "share": None if change.share is None else f"{change.share:f}",
            "old": None if change.old is None else _row(change.old),
            "new": _row(change.row),
        }
        for change in refreshed.changes
    ]
    document = {
        "region": refreshed.wish.region,
        "source": refreshed.source,
        "changes": changes,
        "free_tiers": list(refreshed.aside),
        "not_asked_for": list(refreshed.left_out),
        "written": None if refreshed.path is None else str(refreshed.path),
    }
    return json.dumps(document, indent=2) + "\n"


def book_json(rows: Sequence[PriceRow], today: date) -> str:
    """Return `{"prices": [row, with its age and whether that is stale]}`."""
    listed = [{**_row(row), "age_days": (today - row.as_of).days, "stale": row.is_stale(today)} for row in rows]
    return json.dumps({"prices": listed}, indent=2) + "\n"


def _row(row: PriceRow) -> dict[str, object]:
    listing = row.listing
    return {
        "id": row.id,
        "region": row.region,
        "name": row.name,
        "service_code": row.service_code,
        "usage_type": row.usage_type,
        "unit": row.unit,
        "as_of": row.as_of.isoformat(),
        "source": row.source,
        "sku": None if listing is None else listing.sku,
        "rate_code": None if listing is None else listing.rate_code,
        "effective": None if listing is None else listing.effective.isoformat(),
        "published": None if listing is None or listing.published is None else listing.published.isoformat(),
        "tiers": [
            {"usd": plain(tier.usd), "up_to": None if tier.up_to is None else plain(tier.up_to)} for tier in row.tiers
        ],
        "free_share": plain(row.free_share),
    }
