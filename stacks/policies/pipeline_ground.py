"""Name what a pipeline works on: the kit's own names in one account and Region, and nothing beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent_image.contract import RUNTIME_LOG_GROUPS, SETTINGS_OBJECT_PREFIX
from stacks.names import REPOSITORY, Place, bundle_bucket, place_of
from stacks.policies.kms import via_services
from stacks.policies.statement import Condition
from stacks.remote_state.place import RemoteState, remote_state
from stacks.settings.load import AccountSettings, Settings


@dataclass(frozen=True, slots=True)
class PipelineGround:
    """Hold what the rights of a pipeline are written from.

    Attributes:
        alias: the account's.
        agents: names of the runtimes of the account's environments.
        brought_roles: ARNs of roles that environments bring.
        keys: ARNs of the keys that account and environments bring.
        state: the bucket of the state, or None where the state is a local file, which a pipeline does not have.
        sources: ARNs of other accounts' image repositories that images are promoted from.
        boundary_arn: what bounds every role that the pipeline makes or changes.
    """

    alias: str
    place: Place
    agents: tuple[str, ...]
    brought_roles: tuple[str, ...]
    keys: tuple[str, ...]
    state: RemoteState | None
    sources: tuple[str, ...]
    boundary_arn: str | None

    def arns(self, service: str, *resources: str) -> tuple[str, ...]:
        """Build ARNs of this account and Region."""
        return tuple(self.place.arn(service, resource) for resource in resources)

    def global_arns(self, service: str, *resources: str) -> tuple[str, ...]:
        """Build ARNs of a service without Regions."""
        place = self.place
        return tuple(f"arn:{place.partition}:{service}::{place.account_id}:{resource}" for resource in resources)

    def via(self, *services: str) -> Condition:
        """Limit a grant on keys to their use through services here, and through S3 where the state lies."""
        found = via_services(self.place, *services)
        if self.state is None or self.state.region == self.place.region:
            return found
        there = via_services(replace(self.place, region=self.state.region), "s3")
        return replace(found, values=(*found.values, *there.values))

    @property
    def buckets(self) -> tuple[str, ...]:
        """Give the buckets of stacks; the bucket of the state is not among them."""
        place, own = self.place, f"{self.place.account_id}-{self.place.region}"
        names = (f"rastro-*-archive-{own}", f"rastro-*-audit-{own}", bundle_bucket(place))
        return tuple(place.bucket_arn(name) for name in names)

    @property
    def settings_objects(self) -> tuple[str, ...]:
        """Give the settings documents, which lie beside the audit and are no part of it."""
        own = f"{self.place.account_id}-{self.place.region}"
        return (f"{self.place.bucket_arn(f'rastro-*-audit-{own}')}/{SETTINGS_OBJECT_PREFIX}*",)

    @property
    def log_groups(self) -> tuple[str, ...]:
        """Give the log groups of the account's agents, by the names of their runtimes."""
        return tuple(self.place.log_groups(f"{RUNTIME_LOG_GROUPS}{agent}-*") for agent in self.agents)

    @property
    def runtimes(self) -> tuple[str, ...]:
        """Give the runtimes, endpoints included."""
        return self.arns("bedrock-agentcore", *(f"runtime/{agent}-*" for agent in self.agents))

    @property
    def repository(self) -> tuple[str, ...]:
        """Give the account's image repository."""
        return self.arns("ecr", f"repository/{REPOSITORY}")


def ground_of(account: AccountSettings, settings: Settings) -> PipelineGround:
    """Take the ground from an account's settings, those of its environments, and what other accounts promote to it."""
    own = [environment for environment in settings.environments if environment.account == account]
    state, pipeline = account.declared.state, account.declared.pipeline
    brought = (
        account.declared.kms_key_arn,
        state.kms_key_arn if state.backend == "s3" else None,
        *(environment.declared.observability.kms_key_arn for environment in own),
    )
    roles = [arn for one in own for arn in (one.declared.role.arn, one.declared.sweep.role_arn)]
    return PipelineGround(
        alias=account.alias,
        place=place_of(account),
        agents=tuple(sorted(environment.declared.agent.name for environment in own)),
        brought_roles=tuple(sorted({arn for arn in roles if arn is not None})),
        keys=tuple(sorted({key for key in brought if key is not None})),
        state=remote_state(account),
        sources=tuple(
            place_of(other).arn("ecr", f"repository/{REPOSITORY}")
            for other in settings.accounts
            if account.alias in other.declared.promotes_to
        ),
        boundary_arn=None if pipeline is None else pipeline.permissions_boundary_arn,
    )
