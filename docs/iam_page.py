"""Write who may do what in AWS: every statement of every policy, and the documents that name what it is about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from agent_image.contract import LIVE_ENDPOINT, RUNTIME_LOG_GROUPS
from docs.markdown import code, lines, table
from stacks import discovery
from stacks.names import names_of
from stacks.policies import alerts, execution_role, people, pipeline, sweep, xray
from stacks.policies.ground import Ground
from stacks.policies.statement import Statement
from stacks.runtime.environment import settings_body
from stacks.settings.load import EnvironmentSettings, load

ENVIRONMENTS: Final = Path(__file__).parent.parent / "environments"
EXAMPLE: Final = "prod"
RUNTIME_ID: Final = "handbook_prod-AbCdEfGhIj"
KEY: Final = "arn:aws:kms:us-east-1:444455556666:key/00000000-0000-0000-0000-000000000000"
SECRET: Final = "arn:aws:secretsmanager:us-east-1:444455556666:secret:example-AbCdEf"  # noqa: S105 - where one would be


def example() -> EnvironmentSettings:
    """Give the shipped environment that the pages show."""
    return next(one for one in load(ENVIRONMENTS).environments if one.name == EXAMPLE)


def settings_document() -> str:
    """Show the settings document of the example."""
    return _json(settings_body(example()))


def discovery_document() -> str:
    """Show the discovery document of the example, as it stands in SSM once it is deployed."""
    environment = example()
    deployed = discovery.Deployed(
        runtime_id=RUNTIME_ID,
        runtime_arn=_ground(environment).runtime_arn,
        log_group=f"{RUNTIME_LOG_GROUPS}{RUNTIME_ID}-{LIVE_ENDPOINT}",
        role_arn=_ground(environment).role_arn,
    )
    return _json(discovery.document(environment, deployed))


def _json(text: str) -> str:
    return f"```json\n{json.dumps(json.loads(text), indent=2, ensure_ascii=False)}\n```"


def _ground(environment: EnvironmentSettings, key: str | None = None) -> Ground:
    place = names_of(environment).place
    return Ground(
        names=names_of(environment),
        runtime_arn=place.arn("bedrock-agentcore", f"runtime/{RUNTIME_ID}"),
        role_arn=f"arn:{place.partition}:iam::{place.account_id}:role/{names_of(environment).role}",
        kms_key_arn=key,
        knowledge_base_id=environment.declared.agent.knowledge_base_id,
    )


def policies() -> Iterator[tuple[str, str, tuple[Statement, ...]]]:
    """Give every policy of the example: its title, what it is attached to, its statements in their longest form."""
    environment = example()
    called, place = names_of(environment), names_of(environment).place
    plain = execution_role.reach_of(environment)
    full = replace(
        plain,
        kms_key_arn=KEY,
        callers_have_tokens=True,
        reads_settings_object=True,
        headers_secret_arn=SECRET,
        webhook_secret_arn=SECRET,
        topic_has_key=True,
    )
    publishers = alerts.Publishers(alarms=("loop_rate",), budget=True)
    yield "Trust of the agent's role", f"role `{called.role}`", execution_role.trust(place)
    yield "Permissions of the agent's role", f"role `{called.role}`", execution_role.permissions(full)
    for one in people.policies(_ground(environment, KEY)):
        yield f"People: {one.person}", f"policy `{called.policy(one.person)}`. {one.description}", one.statements
    yield "Trust of the sweep's role", f"role `{called.sweep}`", sweep.trust(called)
    yield (
        "Permissions of the sweep's role",
        f"role `{called.sweep}`",
        sweep.permissions(_ground(environment).runtime_arn),
    )
    yield "The alerts topic", f"topic `{called.alerts}`", alerts.topic(called, publishers)
    yield "The key of the alerts topic", "where alarms publish, and no key was brought", alerts.key(called, publishers)
    yield "Whoever deploys a bundle", "printed by `make needs`", pipeline.statements(place, KEY)
    yield "X-Ray", f"resource policy `{xray.POLICY_NAME}` of the account", xray.statements(place)


def iam() -> str:
    """Tabulate every statement: effect, actions, resources, conditions, reason."""
    parts = []
    for title, where, statements in policies():
        rows = (_statement(one) for one in statements)
        head = ("statement", "actions", "on", "if", "why")
        parts.append(f"## {title}\n\nOn: {where}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def _statement(one: Statement) -> tuple[str, ...]:
    principal = one.service or one.account
    name = f"`{one.sid}`{' **Deny**' if one.effect == 'Deny' else ''}{f'<br>for `{principal}`' if principal else ''}"
    conditions = (f"`{c.operator}` `{c.key}`: {code(c.values)}" for c in one.conditions)
    why = f"{one.why} On any resource: {one.any_resource}" if one.any_resource else one.why
    return name, lines(one.actions), lines(one.resources), "<br>".join(conditions), why
