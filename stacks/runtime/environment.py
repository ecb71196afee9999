"""Derive the runtime's variables from the settings: pure, by the names of the contract."""

from __future__ import annotations

import json
from typing import Any

from agent_image import contract
from agent_image.contract import Setting
from stacks.bindings import json_number
from stacks.names import names_of
from stacks.settings.load import EnvironmentSettings
from stacks.settings.model import Guard


def variables(environment: EnvironmentSettings, settings: str) -> dict[str, str]:
    """Derive the variables of one environment: at most 50, none empty.

    `settings` is the settings document, or the URI of the object that holds it.
    """
    declared = environment.declared
    return {
        **contract.TELEMETRY_SWITCHES[declared.observability.regime],
        # An image holds these itself.
        **(contract.LAUNCH if declared.agent.artifact == "code" else {}),
        **_destination(declared.observability.destination),
        contract.SETTINGS_VARIABLE: settings,
    }


def _destination(destination: str) -> dict[str, str]:
    """Keep the runtime and ADOT from naming AWS's endpoints where spans go elsewhere: the first lock of that door."""
    if destination == contract.CLOUDWATCH:
        return {}
    return {contract.PLATFORM_DEFAULTS_OFF: "true", contract.OTLP_ENDPOINT: destination}


def settings_body(environment: EnvironmentSettings) -> str:
    """Render the settings document as compact JSON."""
    return json.dumps(settings_document(environment), separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def fits_variable(body: str) -> bool:
    """Tell whether a settings document stands in the variable itself."""
    return len(body) <= contract.SETTINGS_INLINE_LIMIT


def settings_document(environment: EnvironmentSettings) -> dict[str, Any]:
    """Build the document that the image reads; a part that is not there has no key."""
    declared, names = environment.declared, names_of(environment)
    knowledge_base = declared.agent.knowledge_base_id
    document: dict[str, Any] = {
        Setting.ENVIRONMENT: environment.name,
        Setting.REGION: names.place.region,
        Setting.MODELS: declared.agent.models,
        Setting.KNOWLEDGE_BASE: knowledge_base and f"bedrock://{knowledge_base}",
        Setting.TOP_K: json_number(declared.agent.top_k),
        Setting.INDEX_VERSION: declared.agent.index_version,
        Setting.DESTINATION: declared.observability.destination,
        Setting.DESTINATION_HEADERS: declared.observability.destination_headers_secret_arn,
        Setting.PRUNE_EVENT_LOOP: declared.observability.prune_event_loop,
        Setting.KEPT_SESSIONS: json_number(declared.observability.kept_sessions),
        Setting.STORE: f"dynamodb://{names.table}",
        Setting.ARCHIVE: f"s3://{names.archive}/{contract.PASSAGE_OBJECT_PREFIX}",
        Setting.AUDIT: f"s3://{names.audit}/{contract.AUDIT_OBJECT_PREFIX}",
        Setting.ALERTS: names.alerts_arn,
        Setting.GUARD: _guard(declared.guard),
    }
    return {str(key): value for key, value in document.items() if value is not None}


def _guard(guard: Guard) -> dict[str, Any]:
    return {
        # Money is text: a JSON number would come back as a float.
        "budget_usd": str(guard.budget_usd),
        "budget_tokens": json_number(guard.budget_tokens),
        "budget_steps": json_number(guard.budget_steps),
        "approval_minutes": json_number(guard.approval_minutes),
    }
