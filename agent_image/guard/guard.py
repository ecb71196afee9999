"""Hold what the guard of a process is made of: its rules, and where it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_image.digest import Digest
from agent_image.guard.audit import Slim
from agent_image.guard.moments import Clock
from agent_image.guard.outbox import Outbox
from agent_image.guard.outlet import Outlet
from agent_image.guard.policy import Policy
from agent_image.guard.prices import Prices
from agent_image.guard.settings import GuardSettings
from agent_image.guard.store import GuardStore
from agent_image.guard.verdict import Stages
from agent_image.guard.watch import WatchRules


@dataclass(frozen=True, slots=True)
class Guard:
    """Hold the parts that every run of a process shares.

    Attributes:
        store: what the agent may read and write of sessions and checkpoints.
        schemas: each tool's JSON schema, which an edit must fit.
        fences: what tells a tool to refuse tokens below a new owner's; only of tools that honour them.
        redact: takes out of a value what must not be kept.
        stages: who has a say beside the policy.
        new_id: makes an id that nobody has.
        agent: the agent's name, in events.
        watch: the detectors' thresholds.
    """

    store: GuardStore
    settings: GuardSettings
    policy: Policy
    prices: Prices
    outlet: Outlet
    slim: Slim
    outbox: Outbox
    redact: Callable[[Any], Any]
    digest: Digest
    clock: Clock
    new_id: Callable[[], str]
    agent: str
    watch: WatchRules = field(default_factory=WatchRules)
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fences: Mapping[str, Callable[[str, int], object]] = field(default_factory=dict)
    stages: Stages = field(default_factory=Stages)
