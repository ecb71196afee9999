"""Write what was measured as JSON: exact numbers as decimal strings; null is not known."""

from __future__ import annotations

import json
from decimal import Decimal

from cost_model.measure.comparing import Comparison
from cost_model.measure.incoming import Incoming
from cost_model.measure.measurement import Measurement
from cost_model.render.figures import plain
from cost_model.session_sizes import SessionSizes


def measured_json(measurement: Measurement, comparison: Comparison | None, sizes: SessionSizes) -> str:
    """Return the measurement, its `[usage]`, and both estimates by line."""
    sizes_of_session = measurement.kb_per_session(sizes)
    document = {
        "log_group": measurement.place.group,
        "region": measurement.place.region,
        "environment": measurement.place.deployment.environment,
        "first_day": measurement.window.first.isoformat(),
        "last_day": measurement.window.last.isoformat(),
        "incoming": _incoming(measurement.incoming),
        "default_endpoint": None if measurement.default is None else _incoming(measurement.default),
        "unknown_days": measurement.unknown_days,
        "gb_per_month": plain(measurement.gb_a_month),
        "gb_per_month_at_least": plain(measurement.gb_a_month_at_least),
        "sessions_per_month": None if measurement.sessions is None else plain(measurement.sessions.a_month),
        "sessions_from": None if measurement.sessions is None else measurement.sessions.how,
        "kb_per_session": None if sizes_of_session is None else plain(sizes_of_session[0]),
        "event_kb_per_session": None if sizes_of_session is None else plain(sizes_of_session[1]),
        "span_share_measured": None if measurement.split is None else plain(measurement.split.span_share),
        "queries": _queries(measurement),
        "history_complete": measurement.history.covers(measurement.window),
        "metrics": dict(measurement.inventory.metrics),
        "alarms": measurement.inventory.alarms,
        "dashboards": measurement.inventory.dashboards,
        "denied": list(measurement.inventory.denied),
        "costs": None if comparison is None else _costs(comparison),
    }
    return json.dumps(document, indent=2) + "\n"


def _incoming(incoming: Incoming) -> dict[str, object]:
    return {
        "bytes": plain(incoming.bytes),
        "events": plain(incoming.events),
        "bytes_by_day": {day.isoformat(): plain(amount) for day, amount in sorted(incoming.bytes_by_day.items())},
    }


def _queries(measurement: Measurement) -> list[dict[str, object]]:
    priced = {each.name: each for each in measurement.query_classes}
    return [
        {
            "name": each.name,
            "indexed": each.indexed,
            "runs": each.runs,
            "runs_told": each.told,
            "bytes_scanned": plain(each.scanned) if each.told else None,
            "skip_ratio": _plain(each.skip_ratio),
            "runs_per_month": _plain(priced[each.name].runs_per_month) if each.name in priced else None,
            "window_days": _plain(priced[each.name].window_days) if each.name in priced else None,
        }
        for each in measurement.classes
    ]


def _costs(comparison: Comparison) -> dict[str, object]:
    return {
        "currency": "USD",
        "estimated": None if comparison.stated is None else _plain(comparison.stated.total),
        "measured": _plain(comparison.measured.total),
        "lines": {
            line.key: {
                "estimated": _plain(line.estimated),
                "measured": _plain(line.measured),
                "percent": _plain(line.percent),
            }
            for line in comparison.lines
        },
    }


def _plain(number: Decimal | None) -> str | None:
    return None if number is None else plain(number)
