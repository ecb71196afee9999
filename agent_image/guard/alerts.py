"""Say what people should hear of, in codes, numbers and ids: what an alert tells leaves the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Protocol

from agent_image.guard.canonical import digest
from agent_image.guard.findings import Anomaly, Severity
from agent_image.guard.moments import written

CHECKPOINT_ID: Final = "checkpoint_id"
"""The evidence that names what waits for a person."""
REPEATS: Final = "repeats"
"""The evidence that counts the equal alerts that were held back before this one."""
_CODE: Final = re.compile(r"[A-Za-z0-9_.:/+=-]{1,128}")
_SUBJECTS: Final = (CHECKPOINT_ID, "tool", "model", "limit")
_PAGED: Final = frozenset({Anomaly.COST, Anomaly.COST_RATE, Anomaly.BLOCKED_STREAK})
# What Slack's and Mattermost's texts read as a link or a mention.
_ESCAPES: Final = MappingProxyType(str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Hold one alert.

    Attributes:
        id: the same in every attempt to deliver it, so that a receiver can tell a repetition.
        kind: a code, such as those of Anomaly.
        evidence: codes, numbers and ids.
    """

    id: str
    kind: str
    severity: Severity
    session_id: str
    run: str
    step: int
    at: datetime
    evidence: Mapping[str, str | int]

    @property
    def key(self) -> str:
        """Give what equal alerts share: what is wrong, how much it matters, where, and about what."""
        about = [str(self.evidence[name]) for name in _SUBJECTS if name in self.evidence]
        return digest(self.kind, self.severity, self.session_id, *about)

    @property
    def pages(self) -> bool:
        """Tell whether it cannot wait until somebody looks: money and intent."""
        return self.severity is Severity.CRITICAL or (self.severity is Severity.WARNING and self.kind in _PAGED)


class Channel(Protocol):
    """Bring alerts to people."""

    @property
    def name(self) -> str:
        """Name the channel: no two of an agent share one."""
        ...

    def send(self, alert: Alert) -> None:
        """Deliver an alert, or raise; whatever it raises, the alert is tried again."""
        ...


def document(alert: Alert, environment: str) -> dict[str, Any]:
    """Render an alert for a machine; a text that is no code is left out, and its length stands for it."""
    return {
        "alert": _code(alert.kind),
        "id": alert.id,
        "severity": alert.severity.value,
        "page": alert.pages,
        "environment": environment,
        "session_id": alert.session_id,
        "run": alert.run,
        "step": alert.step,
        "at": written(alert.at),
        "evidence": {_code(name): _code(value) for name, value in alert.evidence.items()},
    }


def sentence(alert: Alert, environment: str) -> str:
    """Render an alert for people, with the command that shows more."""
    shown = document(alert, environment)
    evidence = ", ".join(f"{name} {value}" for name, value in shown["evidence"].items())
    lines = [
        f"[{shown['severity']}] {shown['alert']} in {environment}: {evidence or 'no details'}",
        f"session {alert.session_id}, run {alert.run}, step {alert.step}, {shown['at']}",
    ]
    if CHECKPOINT_ID in shown["evidence"]:
        lines.append(f"rastro approvals show {shown['evidence'][CHECKPOINT_ID]} --environment {environment}")
    return "\n".join(lines).translate(_ESCAPES)


def _code(value: str | int) -> str | int:
    if isinstance(value, int) or _CODE.fullmatch(value):
        return value
    return f"{len(value)}_characters"
