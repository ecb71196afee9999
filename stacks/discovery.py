"""Derive the discovery document: where the parts of an environment are, for people's tools."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent_image.contract import CLOUDWATCH, LIVE_ENDPOINT, Discovery
from stacks.names import names_of
from stacks.settings.load import AccountSettings, EnvironmentSettings


@dataclass(frozen=True, slots=True)
class Deployed:
    """Name what only the deployment knows; each may be a reference to a resource."""

    runtime_id: str
    runtime_arn: str
    log_group: str
    role_arn: str


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
        Discovery.DESTINATION: _origin(declared.observability.destination),
        Discovery.RETENTION_DAYS: declared.observability.retention_days,
        Discovery.INDEXED_FIELDS: declared.observability.indexed_fields,
        Discovery.MASKING: [*declared.observability.masking.identifiers, *declared.observability.masking.patterns],
        Discovery.KMS_KEY: declared.observability.kms_key_arn,
        Discovery.LIVE_VERSION: str(declared.agent.live_version),
        Discovery.INDEXING_PERCENTAGE: _indexing_percentage(environment.account),
        Discovery.ROLE_ARN: deployed.role_arn,
        Discovery.PUT_RESOURCE_POLICY: declared.role.put_resource_policy,
        Discovery.KNOWLEDGE_BASE: declared.agent.knowledge_base_id,
        Discovery.TABLE: names.table,
        Discovery.ARCHIVE: names.archive,
        Discovery.AUDIT: names.audit,
        Discovery.ALERTS: names.alerts_arn,
    }
    return json.dumps({str(key): value for key, value in found.items()}, separators=(",", ":"))


def _indexing_percentage(account: AccountSettings) -> float | None:
    """Give what the account's stack declares; None where somebody else manages Transaction Search."""
    return float(account.declared.indexing_percentage) if account.declared.manage_transaction_search else None


def _origin(destination: str) -> str:
    """Give scheme and host alone: a path may hold what only the agent is to know."""
    if destination == CLOUDWATCH:
        return destination
    parts = urlsplit(destination)
    # Not `netloc`: nobody's password goes with it, should the settings ever let one through.
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"
