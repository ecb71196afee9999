"""Derive the runtime's variables from the settings: pure, by the names of the contract."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from agent_image import contract
from agent_image.contract import Setting
from stacks.bindings import json_number
from stacks.names import EnvironmentNames, names_of
from stacks.settings.load import EnvironmentSettings
from stacks.settings.model import Guard


@dataclass(frozen=True, slots=True)
class SettingsObject:
    """Hold a settings document that is too long for a variable, and the key it is stored under."""

    key: str
    body: str


@dataclass(frozen=True, slots=True)
class RuntimeEnvironment:
    """Hold the variables of the runtime, and the object that one of them may point to."""

    variables: dict[str, str]
    settings_object: SettingsObject | None


def derive(environment: EnvironmentSettings) -> RuntimeEnvironment:
    """Derive the variables of one environment: at most 50, none empty."""
    body = json.dumps(settings_document(environment), separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    stored = _stored(body)
    names = names_of(environment)
    pointer = body if stored is None else f"s3://{names.archive}/{stored.key}"
    switches = contract.TELEMETRY_SWITCHES[environment.declared.observability.regime]
    return RuntimeEnvironment({**switches, contract.SETTINGS_VARIABLE: pointer}, stored)


def _stored(body: str) -> SettingsObject | None:
    if len(body) <= contract.SETTINGS_INLINE_LIMIT:
        return None
    # The key carries the digest: new settings are a new object, so the runtime sees a change.
    digest = sha256(body.encode()).hexdigest()
    return SettingsObject(f"{contract.SETTINGS_OBJECT_PREFIX}{digest}.json", body)


def settings_document(environment: EnvironmentSettings) -> dict[str, Any]:
    """Build the document that the image reads; a part that is not there has no key."""
    declared, names = environment.declared, names_of(environment)
    knowledge_base = declared.agent.knowledge_base_id
    document: dict[str, Any] = {
        Setting.ENVIRONMENT: environment.name,
        Setting.REGION: names.place.region,
        Setting.MODELS: declared.agent.models,
        Setting.KNOWLEDGE_BASE: knowledge_base and f"bedrock://{knowledge_base}",
        Setting.INDEX_VERSION: declared.agent.index_version,
        Setting.STORE: f"dynamodb://{names.table}",
        Setting.ARCHIVE: f"s3://{names.archive}/{contract.PASSAGE_OBJECT_PREFIX}",
        Setting.AUDIT: f"s3://{names.audit}/{contract.AUDIT_OBJECT_PREFIX}",
        Setting.ALERTS: _topic_arn(names),
        Setting.GUARD: _guard(declared.guard),
    }
    return {str(key): value for key, value in document.items() if value is not None}


def _topic_arn(names: EnvironmentNames) -> str:
    return names.place.arn("sns", names.alerts)


def _guard(guard: Guard) -> dict[str, Any]:
    return {
        # Money is text: a JSON number would come back as a float.
        "budget_usd": str(guard.budget_usd),
        "budget_tokens": json_number(guard.budget_tokens),
        "budget_steps": json_number(guard.budget_steps),
        "approval_minutes": json_number(guard.approval_minutes),
    }
