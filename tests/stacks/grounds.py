"""Name what permissions are tried on: one environment, written out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stacks.names import EnvironmentNames, Place
from stacks.policies import alerts, execution_role, people, pipeline, sweep
from stacks.policies.alerts import Publishers
from stacks.policies.ground import Ground
from stacks.policies.pipeline_ground import PipelineGround
from stacks.policies.pipeline_rights import parts, state_rights
from stacks.policies.statement import Statement
from stacks.remote_state.place import RemoteState

PLACE = Place("111122223333", "us-east-1")
NAMES = EnvironmentNames("prod", "handbook", PLACE)
KEY = PLACE.arn("kms", "key/1")
SECRET = PLACE.arn("secretsmanager", "secret:otel/headers-a1B2c3")
WEBHOOK = PLACE.arn("secretsmanager", "secret:chat/alerts-d4E5f6")
REACH = execution_role.Reach(
    names=NAMES,
    models=("arn:aws:bedrock:us-east-1::foundation-model/a",),
    knowledge_base_id="KB00000001",
    kms_key_arn=KEY,
    put_resource_policy="any",
    callers_have_tokens=False,
    reads_settings_object=True,
    runs_image=True,
    headers_secret_arn=SECRET,
    webhook_secret_arn=WEBHOOK,
    topic_has_key=False,
)
ALERTS = Publishers(alarms=("loop_rate", "dead_trail"), budget=True)
CODE_REACH = replace(REACH, runs_image=False)
KEY_OF_TOPIC = replace(REACH, kms_key_arn=None, topic_has_key=True)
REACHES = (REACH, CODE_REACH, KEY_OF_TOPIC, replace(REACH, put_resource_policy="own", callers_have_tokens=True))
RUNTIME_ARN = PLACE.arn("bedrock-agentcore", "runtime/handbook-a1B2c3D4e5")
ROLE_ARN = "arn:aws:iam::111122223333:role/rastro-prod-agent"
GROUND = Ground(NAMES, RUNTIME_ARN, ROLE_ARN, KEY, "KB00000001")

PIPELINE = PipelineGround(
    alias="production",
    place=PLACE,
    agents=("handbook_prod", "handbook_staging"),
    brought_roles=("arn:aws:iam::111122223333:role/brought-along",),
    keys=(KEY,),
    state=RemoteState("rastro-tfstate-111122223333-us-east-1", "us-east-1", KEY, "111122223333"),
    sources=("arn:aws:ecr:us-east-1:444455556666:repository/rastro-agent",),
    boundary_arn="arn:aws:iam::111122223333:policy/edge",
)


def every_statement() -> Iterator[tuple[str, Statement]]:
    for reach in REACHES:
        for statement in execution_role.permissions(reach):
            yield "execution role", statement
    for person in people.policies(GROUND):
        for statement in person.statements:
            yield person.person, statement
    for statement in pipeline.statements(PLACE, KEY):
        yield "pipeline", statement
    for statements in (state_rights(PIPELINE, "deploy"), *parts(PIPELINE, "deploy").values()):
        for statement in statements:
            yield "pipeline role", statement
    for statement in sweep.permissions(RUNTIME_ARN):
        yield "sweep", statement
    for statement in alerts.topic(NAMES, ALERTS):
        yield "topic", statement
