"""Build the guard that the settings ask for, around the tools that a plan has."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Final

from agent_image.agent import NAME, AgentPlan
from agent_image.contract import Regime
from agent_image.digest import Digest
from agent_image.guard.audit import AuditText
from agent_image.guard.budget import nano
from agent_image.guard.guard import Guard
from agent_image.guard.outbox import Outbox
from agent_image.guard.policy import Policy
from agent_image.guard.prices import Prices
from agent_image.guard.records import Records
from agent_image.guard.redaction import Redactor
from agent_image.guard.settings import GuardSettings, parse_guard
from agent_image.guard.slim import SlimLine
from agent_image.guard.store import GuardStore
from agent_image.guard.verdict import Stages
from agent_image.guard.watch import PollRule, WatchRules
from agent_image.places import audit_outlet_at, records_at
from agent_image.settings import Settings

_MILLISECOND: Final = 1_000


def now() -> datetime:
    """Tell the time, to the millisecond: what is written is what was compared."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // _MILLISECOND * _MILLISECOND)


def guard_of(settings: Settings, plan: AgentPlan, digest: Digest, stages: Stages) -> Guard:
    """Build the guard of a process, with who has a say beside the policy.

    Raises:
        SettingsError: with what is wrong in the guard's settings, the policy or the places.
    """
    guarding = parse_guard(settings.guard)
    policy = Policy.of(plan.tools, guarding)
    records = records_at(settings)
    redact = Redactor(digest).redact
    whole = AuditText(redact, digest) if settings.capture is Regime.CONTENT else None
    return Guard(
        store=GuardStore(records),
        settings=guarding,
        policy=policy,
        prices=Prices(guarding.prices, now),
        outlet=audit_outlet_at(settings),
        slim=SlimLine(digest, whole=whole),
        outbox=_outbox(records, guarding),
        redact=redact,
        digest=digest,
        clock=now,
        new_id=_new_id,
        agent=NAME,
        watch=_watch_rules(guarding, policy),
        schemas={zoned.name: zoned.schema for zoned in plan.tools},
        fences={zoned.name: zoned.fence for zoned in plan.tools if zoned.fence is not None},
        stages=stages,
    )


def _outbox(records: Records, guarding: GuardSettings) -> Outbox:
    return Outbox(records, now, timedelta(minutes=guarding.alert_cooldown_minutes))


def _watch_rules(guarding: GuardSettings, policy: Policy) -> WatchRules:
    per_minute = guarding.cost_per_minute_usd
    return WatchRules(
        polls={
            name: PollRule(min_interval_seconds=rule.min_interval_seconds)
            for name, rule in policy.rules.items()
            if rule.poll
        },
        limits=guarding.limits,
        cost_per_minute_nano=nano(per_minute) if per_minute else None,
        blocked_streak=guarding.blocked_streak,
        error_streak=guarding.error_streak,
    )


def _new_id() -> str:
    return uuid.uuid4().hex
