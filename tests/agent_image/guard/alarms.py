"""Alerts, a clock that can be turned, and channels that keep what they are given."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from agent_image.guard.alerts import Alert
from agent_image.guard.findings import Severity
from tests.agent_image.guard.steps import NOON

SESSION = "session-0123456789-0123456789-0123456789"


def alert(number: int = 1, **about: Any) -> Alert:
    given: dict[str, Any] = {
        "id": f"{number:032x}",
        "kind": "loop",
        "severity": Severity.CRITICAL,
        "session_id": SESSION,
        "run": "run-1",
        "step": 7,
        "at": NOON,
        "evidence": {"period": 2, "rounds": 3},
    }
    return Alert(**{**given, **about})


@dataclass
class TurnedClock:
    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **time: float) -> None:
        self.now += timedelta(**time)


@dataclass
class KeepingChannel:
    """Keep alerts; raise while it is told to."""

    name: str = "keeping"
    sent: list[Alert] = field(default_factory=list)
    tried: int = 0
    down: Exception | None = None

    def send(self, alert: Alert) -> None:
        self.tried += 1
        if self.down is not None:
            raise self.down
        self.sent.append(alert)
