"""Join what was measured, and say it as a month's usage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from types import MappingProxyType

from agent_image.contract import Regime
from cost_model.measure.classes import Measured, classes_of
from cost_model.measure.history import History
from cost_model.measure.incoming import Incoming, Window
from cost_model.measure.inventory import Inventory
from cost_model.measure.place import Place
from cost_model.measure.sample import Split
from cost_model.money import BYTES_PER_GB, BYTES_PER_KB, DAYS_PER_MONTH
from cost_model.query_classes import QueryClass
from cost_model.session_sizes import SessionSizes
from cost_model.workload import Workload


@dataclass(frozen=True, slots=True)
class Sessions:
    """Hold the sessions of a month, and how they are known."""

    a_month: Decimal
    how: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """Hold what was measured of a place in a window; what was not asked or not told is None."""

    place: Place
    window: Window
    today: date
    incoming: Incoming
    default: Incoming | None
    history: History
    inventory: Inventory
    sessions: Sessions | None = None
    split: Split | None = None

    @property
    def unknown_days(self) -> int:
        """Count the days of which CloudWatch has no sum."""
        return self.window.days - len(self.incoming.bytes_by_day)

    @property
    def gb_a_month(self) -> Decimal:
        """Say what comes in in 30 days such as those that are known."""
        return (self.incoming.bytes_a_day or Decimal(0)) * DAYS_PER_MONTH / BYTES_PER_GB

    @property
    def gb_a_month_at_least(self) -> Decimal:
        """Say the same if nothing came in on the days that are not known."""
        return self.incoming.bytes / self.window.days * DAYS_PER_MONTH / BYTES_PER_GB

    @property
    def classes(self) -> tuple[Measured, ...]:
        """Give the classes of queries that ran."""
        return classes_of(self.history.ran)

    @property
    def query_classes(self) -> tuple[QueryClass, ...]:
        """Give those that can be priced."""
        a_day = self.incoming.bytes_a_day or Decimal(0)
        found = (each.query_class(a_day, self.window.days, DAYS_PER_MONTH) for each in self.classes)
        return tuple(each for each in found if each is not None)

    @property
    def regime(self) -> Regime | None:
        """Name the regime under which sizes are written: archive leaves what address does."""
        capture = self.place.deployment.regime
        return Regime.ADDRESS if capture is Regime.ARCHIVE else capture

    def kb_per_session(self, sizes: SessionSizes) -> tuple[Decimal, Decimal] | None:
        """Divide a month's bytes by its sessions: KB of spans, and of all other lines.

        Without a split the parts are those of the session that was measured of the agent image. None where sessions or
        regime are not known.
        """
        if self.sessions is None or self.regime is None:
            return None
        each = self.gb_a_month * BYTES_PER_GB / BYTES_PER_KB / self.sessions.a_month
        share = self.span_share(sizes, self.regime)
        return each * share, each * (1 - share)

    def span_share(self, sizes: SessionSizes, regime: Regime) -> Decimal:
        """Give the part of the bytes that spans are."""
        if self.split is not None:
            return self.split.span_share
        spans, events = sizes.kb_per_session[regime], sizes.event_kb_per_session[regime]
        return spans / (spans + events)

    def over(self, stated: Workload, sizes: SessionSizes) -> Workload:
        """Put what was measured over what was stated; the rest stays stated."""
        workload = stated if self.sessions is None else replace(stated, sessions=self.sessions.a_month)
        if (measured := self.kb_per_session(sizes)) is not None and self.regime is not None:
            spans = MappingProxyType({**workload.kb_per_session, self.regime: measured[0]})
            events = MappingProxyType({**workload.event_kb_per_session, self.regime: measured[1]})
            # All lines beside spans were measured together: what was stated of some of them is among them.
            workload = replace(workload, kb_per_session=spans, event_kb_per_session=events, stdout_kb_per_session=None)
        if self.split is not None and self.split.spans_per_session is not None:
            workload = replace(workload, spans_per_session=self.split.spans_per_session)
        if queries := self.query_classes:
            workload = replace(workload, queries=queries, query_set=None)
        return workload
