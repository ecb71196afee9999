"""Join what is deployed with its traffic, and derive the volumes that meters share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from agent_image.contract import Regime
from cost_model.deployment import Deployment
from cost_model.money import gigabytes, product
from cost_model.workload import Workload


@dataclass(frozen=True, slots=True)
class Scenario:
    """Hold one deployment under one workload; a volume is for a month, and None where something is unknown."""

    deployment: Deployment
    workload: Workload

    @property
    def span_gb(self) -> Decimal | None:
        """Count the GB of spans that all sessions leave."""
        return self._gigabytes(self.workload.kb_per_session)

    @property
    def event_gb(self) -> Decimal | None:
        """Count the GB of event lines that all sessions leave on standard output."""
        return self._gigabytes(self.workload.event_kb_per_session)

    @property
    def trail_gb(self) -> Decimal | None:
        """Count the GB that all sessions leave in the trail's log group: spans and event lines."""
        spans, events = self.span_gb, self.event_gb
        return None if spans is None or events is None else spans + events

    @property
    def span_regime(self) -> Regime | None:
        """Name the regime whose trail this is: that of archive holds what that of address holds, byte for byte."""
        return Regime.ADDRESS if self.archives else self.deployment.regime

    @property
    def spans(self) -> Decimal | None:
        """Count the spans that all sessions export."""
        return product(self.workload.sessions, self.workload.spans_per_session)

    @property
    def passages(self) -> Decimal | None:
        """Count the passages that all retrievals return, repeats included."""
        return product(self.workload.sessions, self.workload.passages_per_session)

    @property
    def new_passages(self) -> Decimal | None:
        """Count the passages seen for the first time: never more than were returned."""
        stated, returned = self.workload.distinct_passages, self.passages
        return stated if stated is None or returned is None else min(stated, returned)

    @property
    def archives(self) -> bool:
        """Tell whether passages are stored by fingerprint."""
        return self.deployment.regime is Regime.ARCHIVE

    def _gigabytes(self, kb_per_session: Mapping[Regime, Decimal]) -> Decimal | None:
        kilobytes = None if self.span_regime is None else kb_per_session.get(self.span_regime)
        return gigabytes(product(self.workload.sessions, kilobytes))
