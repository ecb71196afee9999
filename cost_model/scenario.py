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
        """Count the GB of spans that all sessions leave, without the content that split telemetry takes out of them."""
        whole = self._gigabytes(self.workload.kb_per_session)
        left = self._gigabytes_of(Regime.METADATA) if self.splits else whole
        return None if whole is None or left is None else min(whole, left)

    @property
    def split_gb(self) -> Decimal | None:
        """Count the GB of content that split telemetry turns into log records: what metadata does not hold."""
        if not self.splits:
            return Decimal(0)
        spans, whole = self.span_gb, self._gigabytes_of(Regime.CONTENT)
        return None if spans is None or whole is None else whole - spans

    @property
    def stdout_gb(self) -> Decimal | None:
        """Count the GB that all sessions write beside event lines; where nobody stated them, there are none."""
        stated = self.workload.stdout_kb_per_session
        return Decimal(0) if stated is None else gigabytes(product(self.workload.sessions, stated))

    @property
    def event_gb(self) -> Decimal | None:
        """Count the GB of event lines that all sessions leave on standard output."""
        return self._gigabytes(self.workload.event_kb_per_session)

    @property
    def trail_gb(self) -> Decimal | None:
        """Count the GB that all sessions leave in the trail's log group: spans, log records and standard output."""
        parts = (self.span_gb, self.split_gb, self.event_gb, self.stdout_gb)
        known = [part for part in parts if part is not None]
        return sum(known, Decimal(0)) if len(known) == len(parts) else None

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

    @property
    def splits(self) -> bool:
        """Tell whether content leaves the spans for log records; no other regime has any in them."""
        return self.workload.split_telemetry and self.deployment.regime is Regime.CONTENT

    def per_session(self, amount: Decimal | None) -> Decimal | None:
        """Multiply what one session takes by the sessions of a month."""
        return product(self.workload.sessions, amount)

    def _gigabytes_of(self, regime: Regime) -> Decimal | None:
        return gigabytes(product(self.workload.sessions, self.workload.kb_per_session.get(regime)))

    def _gigabytes(self, kb_per_session: Mapping[Regime, Decimal]) -> Decimal | None:
        kilobytes = None if self.span_regime is None else kb_per_session.get(self.span_regime)
        return gigabytes(product(self.workload.sessions, kilobytes))
