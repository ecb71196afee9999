"""Steps for the detectors to look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from agent_image.guard.watch import Anomaly, Finding, Observed, Seen, Watch, WatchRules, fingerprint, observation

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
RULES = WatchRules()


def call(
    tool: str = "read",
    arguments: Mapping[str, Any] | None = None,
    result: object = "same",
    *,
    volatile: Iterable[str] = (),
    is_error: bool = False,
    refused: bool = False,
    held: bool = False,
) -> Seen:
    return Seen(
        tool=tool,
        fingerprint=fingerprint(tool, arguments or {}, tuple(volatile)),
        observation=observation(result, is_error=is_error),
        is_error=is_error or refused or held,
        refused=refused,
        held=held,
    )


def step(*calls: Seen, at: datetime = NOON, **about: Any) -> Observed:
    return Observed(at=at, calls=calls, **about)


def watched(
    steps: Iterable[Observed], rules: WatchRules = RULES, watch: Watch | None = None
) -> tuple[Watch, list[tuple[Finding, ...]]]:
    """Give the watch after some steps, and what each of them led to."""
    watch, found = watch or Watch(), []
    for one in steps:
        watch, findings = watch.observed(one, rules)
        found.append(findings)
    return watch, found


def kinds(found: Iterable[tuple[Finding, ...]]) -> set[Anomaly]:
    return {finding.kind for findings in found for finding in findings}
