"""Derive the runtime's variables from the settings: pure, by the names of the contract."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final

from agent_image import contract
from agent_image.contract import GUARD_NUMBERS, PRICE_NUMBERS, RULE_NUMBERS, TOOL_NUMBERS, Setting
from stacks.bindings import json_number
from stacks.names import names_of
from stacks.settings.load import EnvironmentSettings
from stacks.settings.record import Record

_NUMBERS: Final = (*GUARD_NUMBERS, *TOOL_NUMBERS, *RULE_NUMBERS, *PRICE_NUMBERS)
_MONEY: Final = {str(number.key) for number in _NUMBERS if not number.whole}
"""What is no whole number is money, or an amount that a tool is asked for."""


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
        Setting.GUARD: _stated(declared.guard),
        Setting.HOOKS: _stated(declared.hooks) or None,
    }
    return {str(key): value for key, value in document.items() if value is not None}


def _stated(table: Record) -> dict[str, Any]:
    """Write a table as the image reads it: what is not set has no key."""
    found: dict[str, Any] = _plain(table.model_dump(exclude_none=True))
    return {key: value for key, value in found.items() if value != {}}


def _plain(value: Any, key: str = "") -> Any:
    match value:
        case dict():
            return {inner: _plain(held, inner) for inner, held in value.items() if held != []}
        case list():
            return [_plain(held) for held in value]
        # Money is text: a JSON number would come back as a float. The sum takes the sign off a negative zero.
        case Decimal():
            return f"{value + 0:f}" if key in _MONEY else json_number(value)
        case _:
            return value
