"""Derive the discovery document: where the parts of an environment are, for people's tools."""

from __future__ import annotations

import json
from dataclasses import dataclass

from agent_image.contract import LIVE_ENDPOINT, Discovery
from stacks.names import names_of
from stacks.settings.load import EnvironmentSettings


@dataclass(frozen=True, slots=True)
class Deployed:
    """Name what only the deployment knows; each may be a reference to a resource."""

    runtime_id: str
    runtime_arn: str
    log_group: str


def document(environment: EnvironmentSettings, deployed: Deployed) -> str:
    """Build the document as compact JSON; it holds names, no secrets."""
    declared, names = environment.declared, names_of(environment)
    found = {
        Discovery.ENVIRONMENT: environment.name,
        Discovery.ACCOUNT_ID: names.place.account_id,
        Discovery.REGION: names.place.region,
        Discovery.CAPTURE: declared.observability.capture,
        Discovery.RUNTIME_ID: deployed.runtime_id,
        Discovery.RUNTIME_ARN: deployed.runtime_arn,
        Discovery.ENDPOINT: LIVE_ENDPOINT,
        Discovery.LOG_GROUP: deployed.log_group,
        Discovery.RETENTION_DAYS: declared.observability.retention_days,
        Discovery.INDEXED_FIELDS: declared.observability.indexed_fields,
        Discovery.KNOWLEDGE_BASE: declared.agent.knowledge_base_id,
        Discovery.TABLE: names.table,
        Discovery.ARCHIVE: names.archive,
        Discovery.AUDIT: names.audit,
        Discovery.ALERTS: names.alerts_arn,
    }
    return json.dumps({str(key): value for key, value in found.items()}, separators=(",", ":"))
