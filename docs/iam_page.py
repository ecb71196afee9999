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
from stacks.names import REPOSITORY, Does, names_of, pipeline_policy, pipeline_role, place_of, state_bucket
from stacks.policies import (
    alerts,
    execution_role,
    people,
    pipeline,
    pipeline_ground,
    pipeline_rights,
    pipeline_trust,
    promotion,
    sweep,
    xray,
)
from stacks.policies.ground import Ground
from stacks.policies.statement import Statement
from stacks.remote_state.place import RemoteState
from stacks.runtime.environment import settings_body
from stacks.settings.load import AccountSettings, EnvironmentSettings, load
from stacks.settings.pipeline import Pipeline

ENVIRONMENTS: Final = Path(__file__).parent.parent / "environments"
EXAMPLE: Final = "prod"
RUNTIME_ID: Final = "handbook_prod-AbCdEfGhIj"
KEY: Final = "arn:aws:kms:us-east-1:444455556666:key/00000000-0000-0000-0000-000000000000"
SECRET: Final = "arn:aws:secretsmanager:us-east-1:444455556666:secret:example-AbCdEf"  # noqa: S105 - where one would be
BOUNDARY: Final = "arn:aws:iam::444455556666:policy/boundary"
SOURCES: Final = ("arn:aws:ecr:us-east-1:111122223333:repository/rastro-agent",)
Policy = tuple[str, str, tuple[Statement, ...]]
"""A title, what the policy is on, and its statements."""


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


def policies() -> Iterator[Policy]:
    """Give every policy of the example: its title, what it is on, its statements in their longest form."""
    yield from _of_the_environment(example())
    yield from _of_the_account(example().account)


def _of_the_environment(environment: EnvironmentSettings) -> Iterator[Policy]:
    called, place = names_of(environment), names_of(environment).place
    reach = replace(
        execution_role.reach_of(environment),
        kms_key_arn=KEY,
        callers_have_tokens=True,
        reads_settings_object=True,
        headers_secret_arn=SECRET,
        webhook_secret_arn=SECRET,
        topic_has_key=True,
    )
    ground, publishers = _ground(environment, KEY), alerts.Publishers(alarms=("loop_rate",), budget=True)
    yield "Trust of the agent's role", f"role `{called.role}`", execution_role.trust(place)
    yield "Permissions of the agent's role", f"role `{called.role}`", execution_role.permissions(reach)
    for one in people.policies(ground):
        yield f"People: {one.person}", f"policy `{called.policy(one.person)}`. {one.description}", one.statements
    yield "Trust of the sweep's role", f"role `{called.sweep}`", sweep.trust(called)
    yield "Permissions of the sweep's role", f"role `{called.sweep}`", sweep.permissions(ground.runtime_arn)
    yield "The alerts topic", f"topic `{called.alerts}`", alerts.topic(called, publishers)
    yield "The key of the alerts topic", "where alarms publish, and no key was brought", alerts.key(called, publishers)
    yield "Whoever deploys a bundle", "printed by `make needs`", pipeline.statements(place, KEY)


def _of_the_account(account: AccountSettings) -> Iterator[Policy]:
    place, jobs = place_of(account), Pipeline(repository="your-org/your-repository", environments=[EXAMPLE])
    state = RemoteState(state_bucket(place), place.region, KEY, place.account_id)
    ground = replace(
        pipeline_ground.ground_of(account, load(ENVIRONMENTS)),
        keys=(KEY,),
        state=state,
        sources=SOURCES,
        boundary_arn=BOUNDARY,
    )
    yield "X-Ray", f"resource policy `{xray.POLICY_NAME}` of the account", xray.statements(place)
    readers = [promotion.Reader("staging", "111122223333", place.partition)]
    yield "The image repository", f"repository `{REPOSITORY}`, with `promotes_to`", promotion.repository(readers)
    trusted: tuple[tuple[Does, tuple[str, ...]], ...] = (
        ("deploy", pipeline_trust.deployers(jobs)),
        ("plan", pipeline_trust.planners(jobs)),
    )
    for does, subjects in trusted:
        why = f"Jobs with these subjects {does}; the token of any other job has another one."
        role = f"role `{pipeline_role(account.alias, does)}`"
        yield f"Trust of the pipeline's role to {does}", role, pipeline_trust.trust(place, subjects, why)
        yield f"State, for the pipeline's role to {does}", role, pipeline_rights.state_rights(ground, does)
    for part, statements in pipeline_rights.parts(ground, "deploy").items():
        roles = "both roles" if part in pipeline_rights.parts(ground, "plan") else "the role to deploy"
        yield f"Pipeline: {part}", f"policy `{pipeline_policy(account.alias, part)}`, on {roles}", statements


def iam() -> str:
    """Tabulate every statement: effect, actions, resources, conditions, reason."""
    parts = []
    for title, where, statements in policies():
        rows = (_statement(one) for one in statements)
        head = ("statement", "actions", "on", "if", "why")
        parts.append(f"## {title}\n\nOn: {where}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def _statement(one: Statement) -> tuple[str, ...]:
    principal = one.service or one.account or one.federated
    name = f"`{one.sid}`{' **Deny**' if one.effect == 'Deny' else ''}{f'<br>for `{principal}`' if principal else ''}"
    conditions = (f"`{c.operator}` `{c.key}`: {code(c.values)}" for c in one.conditions)
    why = f"{one.why} On any resource: {one.any_resource}" if one.any_resource else one.why
    return name, lines(one.actions), lines(one.resources), "<br>".join(conditions), why
