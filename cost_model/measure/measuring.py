"""Measure a trail: ask CloudWatch for free first, and the trail itself only after somebody agreed to the cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from cost_model.aws import client_of
from cost_model.errors import CostError, MeasureError
from cost_model.measure.history import read_history
from cost_model.measure.incoming import Incoming, Window, read_incoming, window_before
from cost_model.measure.inventory import read_inventory
from cost_model.measure.measurement import Measurement, Sessions
from cost_model.measure.place import Place
from cost_model.measure.sample import Sampler
from cost_model.money import BYTES_PER_GB, DAYS_PER_MONTH
from cost_model.prices import PriceBook

SCAN = "logs_insights_scan"


@dataclass(frozen=True, slots=True)
class Scan:
    """Say what a query will read and cost, before it runs; None is not known."""

    what: str
    gb: Decimal
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Asked:
    """Say what to measure.

    Attributes:
        days: whole days, up to yesterday.
        sessions: sessions of a month; None leaves them to be counted, or unknown.
        split: tell spans from other lines, by a query over one day.
        count_sessions: count them, by a query over all days.
        namespaces: whose custom metrics are counted.
        confirm: asked before queries run; what it refuses is not run.
    """

    days: int
    confirm: Callable[[tuple[Scan, ...]], bool]
    sessions: Decimal | None = None
    split: bool = False
    count_sessions: bool = False
    namespaces: tuple[str, ...] = ()


def measure(place: Place, asked: Asked, prices: PriceBook, today: date) -> Measurement:
    """Measure a place.

    Raises:
        AwsError: AWS does not answer.
        MeasureError: nothing came in, or a query was not agreed to.
    """
    window = window_before(today, asked.days)
    metrics, logs = client_of("cloudwatch", place.region), client_of("logs", place.region)
    groups = [place.group, *([place.default_group] if place.default_group else [])]
    incoming = read_incoming(metrics, groups, window)
    own = incoming[place.group]
    if not own.bytes:
        message = (
            f"nothing came in: {place.group} has no IncomingBytes in {place.region} from {window.first} to "
            f"{window.last}; is the name right, and was the agent called?"
        )
        raise MeasureError(message)
    measurement = Measurement(
        place,
        window,
        today,
        own,
        incoming[place.default_group] if place.default_group else None,
        read_history(logs, place.group, window),
        read_inventory(metrics, asked.namespaces),
        None if asked.sessions is None else Sessions(asked.sessions, "as --sessions states them; not measured"),
    )
    return _sampled(measurement, asked, Sampler(logs, place.group), prices)


def _sampled(measurement: Measurement, asked: Asked, sampler: Sampler, prices: PriceBook) -> Measurement:
    own = measurement.incoming
    day = max(own.bytes_by_day)
    # The day on which a group began is not among those whose bytes are known: nor are its sessions.
    window = Window(min(own.bytes_by_day), measurement.window.last)
    scans = []
    if asked.split:
        scans.append(_scan(f"telling spans from other lines on {day}", own.bytes_by_day[day], measurement, prices))
    if asked.count_sessions:
        scans.append(_scan(f"counting sessions from {window.first} to {window.last}", own.bytes, measurement, prices))
    if not scans:
        return measurement
    if not asked.confirm(tuple(scans)):
        message = "not measured: the queries were not agreed to"
        raise MeasureError(message)
    if asked.split:
        measurement = replace(measurement, split=sampler.split(Window(day, day)))
    if asked.count_sessions:
        counted = sampler.sessions(window)
        measurement = replace(measurement, sessions=_counted(counted, own, window))
    return measurement


def _counted(counted: Decimal, own: Incoming, window: Window) -> Sessions:
    """Say sessions for a month of days such as those whose bytes are known, so that both are of the same days."""
    known = len(own.bytes_by_day)
    how = f"{counted:,f} counted by a query from {window.first} to {window.last}, in {known} days with traffic"
    return Sessions(counted * DAYS_PER_MONTH / known, how)


def _scan(what: str, scanned: Decimal, measurement: Measurement, prices: PriceBook) -> Scan:
    gb = scanned / BYTES_PER_GB
    try:
        return Scan(what, gb, prices.row(measurement.place.region, SCAN).charge(gb))
    except CostError:
        return Scan(what, gb, None)
