"""Build the runtime and its live endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_image.contract import LIVE_ENDPOINT
from stacks.bindings import json_number
from stacks.framework import TerraformElement, TerraformStack, aws
from stacks.runtime.artifact import Code, Image, artifact_of
from stacks.settings.load import EnvironmentSettings
from stacks.settings.model import IamAuth, JwtAuth, PublicNetwork, VpcNetwork


def build(
    stack: TerraformStack,
    environment: EnvironmentSettings,
    *,
    role_arn: str,
    variables: dict[str, str],
    after: Sequence[TerraformElement],
) -> Any:
    """Declare the runtime; it waits for the role's policy, without which an image cannot be pulled."""
    agent = environment.declared.agent
    lifecycle = _part(
        "LifecycleConfiguration",
        idle_runtime_session_timeout=json_number(agent.session.idle_timeout_seconds),
        max_lifetime=json_number(agent.session.max_lifetime_seconds),
    )
    return aws.bedrockagentcore_agent_runtime.BedrockagentcoreAgentRuntime(
        stack,
        "runtime",
        agent_runtime_name=agent.name,
        role_arn=role_arn,
        agent_runtime_artifact=[_artifact(artifact_of(environment))],
        network_configuration=[_network(environment.declared.network)],
        authorizer_configuration=_authorizer(environment.declared.auth),
        protocol_configuration=[_part("ProtocolConfiguration", server_protocol="HTTP")],
        lifecycle_configuration=[lifecycle],
        environment_variables=variables,
        depends_on=list(after) or None,
    )


def _part(block: str, **arguments: Any) -> Any:
    """Build one nested block of the runtime; the bindings take no plain mapping within a list."""
    name = f"BedrockagentcoreAgentRuntime{block}"
    return getattr(aws.bedrockagentcore_agent_runtime, name)(**arguments)


def _artifact(artifact: Image | Code) -> Any:
    if isinstance(artifact, Image):
        container = _part("AgentRuntimeArtifactContainerConfiguration", container_uri=artifact.uri)
        return _part("AgentRuntimeArtifact", container_configuration=[container])
    inside = "AgentRuntimeArtifactCodeConfiguration"
    # Without the version, another bundle under the same key would be no change that Terraform sees.
    stored = _part(f"{inside}CodeS3", bucket=artifact.bucket, prefix=artifact.key, version_id=artifact.version)
    code = _part(
        inside,
        entry_point=list(artifact.entry_point),
        runtime=artifact.runtime,
        code=[_part(f"{inside}Code", s3=[stored])],
    )
    return _part("AgentRuntimeArtifact", code_configuration=[code])


def _network(network: PublicNetwork | VpcNetwork) -> Any:
    if isinstance(network, PublicNetwork):
        return _part("NetworkConfiguration", network_mode=network.mode)
    inside = _part(
        "NetworkConfigurationNetworkModeConfig", subnets=network.subnets, security_groups=network.security_groups
    )
    return _part("NetworkConfiguration", network_mode=network.mode, network_mode_config=[inside])


def _authorizer(auth: IamAuth | JwtAuth) -> list[Any] | None:
    if isinstance(auth, IamAuth):
        return None
    authorizer = _part(
        "AuthorizerConfigurationCustomJwtAuthorizer",
        discovery_url=auth.discovery_url,
        allowed_audience=auth.audiences or None,
        allowed_clients=auth.clients or None,
    )
    return [_part("AuthorizerConfiguration", custom_jwt_authorizer=[authorizer])]


def build_live_endpoint(
    stack: TerraformStack,
    environment: EnvironmentSettings,
    *,
    runtime: Any,
    after: Sequence[TerraformElement],
) -> Any:
    """Declare the endpoint that callers use.

    Nothing in the graph links an endpoint to its log group, so the endpoint waits for group, masking and index: no
    event can come before them.
    """
    version = environment.declared.agent.live_version
    return aws.bedrockagentcore_agent_runtime_endpoint.BedrockagentcoreAgentRuntimeEndpoint(
        stack,
        LIVE_ENDPOINT,
        agent_runtime_id=runtime.agent_runtime_id,
        name=LIVE_ENDPOINT,
        agent_runtime_version=runtime.agent_runtime_version if version == "newest" else str(version),
        description="The endpoint that callers use; its log group is masked, kept and indexed as declared.",
        depends_on=list(after),
    )
