"""Derive every name and ARN from the settings, as text: policies can then be read and tested without a stack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agent_image import contract
from stacks.partition import partition_of
from stacks.settings.load import AccountSettings, EnvironmentSettings

Does: TypeAlias = Literal["deploy", "plan"]
"""What a role of a pipeline is for."""
REPOSITORY: Final = "rastro-agent"
"""The account's image repository: one, so that an image is promoted by its digest."""
BUNDLE_KEY: Final = "agent.zip"
"""The one object of the account's bundle bucket: a bundle is promoted by its version."""


def account_stack(alias: str) -> str:
    """Name the stack of an account."""
    return f"{contract.ACCOUNT_STACK_PREFIX}{alias}"


def bootstrap_stack(alias: str) -> str:
    """Name the stack of the bucket that holds an account's state."""
    return f"bootstrap-{alias}"


def pipeline_role(alias: str, does: Does) -> str:
    """Name a role that a pipeline takes over in an account."""
    return f"rastro-{alias}-{does}"


def pipeline_policy(alias: str, part: str) -> str:
    """Name a policy that holds a part of the rights of a pipeline."""
    return f"rastro-{alias}-pipeline-{part}"


def agent_stack(environment: str) -> str:
    """Name the stack of an environment."""
    return f"{contract.AGENT_STACK_PREFIX}{environment}"


@dataclass(frozen=True, slots=True)
class Place:
    """Name an AWS account and Region, and build ARNs there."""

    account_id: str
    region: str

    @property
    def partition(self) -> str:
        """Give the partition that the Region belongs to."""
        return partition_of(self.region).name

    @property
    def dns_suffix(self) -> str:
        """Give the suffix of the partition's host names."""
        return partition_of(self.region).dns_suffix

    def bucket_arn(self, name: str) -> str:
        """Build the ARN of a bucket, which names neither account nor Region."""
        return f"arn:{self.partition}:s3:::{name}"

    def arn(self, service: str, resource: str) -> str:
        """Build the ARN of a resource of this account and Region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account_id}:{resource}"

    def log_groups(self, pattern: str) -> str:
        """Build the ARN of log groups, by name or name pattern."""
        return self.arn("logs", f"log-group:{pattern}")

    @property
    def console(self) -> str:
        """Give the address of CloudWatch's console in the Region."""
        host = partition_of(self.region).console
        return f"https://{self.region}.{host}/cloudwatch/home?region={self.region}"

    @property
    def registry(self) -> str:
        """Give the host of the account's image registry."""
        return f"{self.account_id}.dkr.ecr.{self.region}.{self.dns_suffix}"


def place_of(account: AccountSettings) -> Place:
    """Take the place from an account's settings."""
    return Place(account.declared.account_id, account.declared.region)


def bundle_bucket(place: Place) -> str:
    """Name the account's bundle bucket. Bucket names are global: account and Region make this one ours."""
    return f"rastro-bundles-{place.account_id}-{place.region}"


def state_bucket(place: Place) -> str:
    """Name the bucket that `make bootstrap` makes for the account's Terraform state."""
    return f"rastro-tfstate-{place.account_id}-{place.region}"


@dataclass(frozen=True, slots=True)
class EnvironmentNames:
    """Name the resources of one environment."""

    environment: str
    agent: str
    place: Place

    def _named(self, what: str) -> str:
        return f"rastro-{self.environment}-{what}"

    def _bucket(self, what: str) -> str:
        # Bucket names are global: account and Region make this one ours. 59 characters at most, of 63.
        return f"{self._named(what)}-{self.place.account_id}-{self.place.region}"

    @property
    def table(self) -> str:
        """Name the table."""
        return self._named("state")

    @property
    def archive(self) -> str:
        """Name the archive bucket."""
        return self._bucket("archive")

    @property
    def audit(self) -> str:
        """Name the audit bucket."""
        return self._bucket("audit")

    @property
    def alerts(self) -> str:
        """Name the alerts topic."""
        return self._named("alerts")

    @property
    def alerts_alias(self) -> str:
        """Name the alias of the key that the alerts topic has of its own."""
        return f"alias/{self.alerts}"

    def alarm(self, key: str) -> str:
        """Name an alarm by its key."""
        return self._named(key)

    @property
    def dashboard(self) -> str:
        """Name the dashboard."""
        return f"rastro-{self.environment}"

    @property
    def dashboard_arn(self) -> str:
        """Give the ARN of the dashboard, which names no Region."""
        return f"arn:{self.place.partition}:cloudwatch::{self.place.account_id}:dashboard/{self.dashboard}"

    @property
    def alarm_arns(self) -> str:
        """Give the ARN of all alarms of the environment."""
        return self.place.arn("cloudwatch", f"alarm:{self.alarm('*')}")

    def metric_filter(self, metric: str) -> str:
        """Name the filter of a metric."""
        return self._named(metric)

    @property
    def budget(self) -> str:
        """Name the budget."""
        return self._named("budget")

    @property
    def sweep(self) -> str:
        """Name the schedule that sweeps, its group and its role."""
        return self._named("sweep")

    @property
    def sweep_group_arn(self) -> str:
        """Give the ARN of that schedule's group."""
        return self.place.arn("scheduler", f"schedule-group/{self.sweep}")

    @property
    def role(self) -> str:
        """Name the execution role."""
        return self._named("agent")

    def policy(self, person: str) -> str:
        """Name the managed policy of one kind of person."""
        return self._named(person)

    @property
    def discovery(self) -> str:
        """Name the SSM parameter that holds the discovery document."""
        return f"{contract.DISCOVERY_PREFIX}{self.environment}"

    @property
    def own_log_groups(self) -> str:
        """Give the name pattern of the runtime's log groups.

        A runtime's id is its name, a hyphen and ten characters that the service draws; names hold no hyphen, so the
        pattern is exact. Naming the group by its ARN instead would close a cycle: policy, group, runtime, policy.
        """
        return f"{contract.RUNTIME_LOG_GROUPS}{self.agent}-*"

    @property
    def live_log_groups(self) -> str:
        """Give the name pattern of the live endpoint's log groups: today's, and those of runtimes before it."""
        return f"{self.own_log_groups}-{contract.LIVE_ENDPOINT}"

    @property
    def table_arn(self) -> str:
        """Give the ARN of the table."""
        return self.place.arn("dynamodb", f"table/{self.table}")

    @property
    def open_index_arn(self) -> str:
        """Give the ARN of the table's index of what waits."""
        return f"{self.table_arn}/index/{contract.OPEN_INDEX}"

    @property
    def archive_arn(self) -> str:
        """Give the ARN of the archive bucket."""
        return self.place.bucket_arn(self.archive)

    @property
    def audit_arn(self) -> str:
        """Give the ARN of the audit bucket."""
        return self.place.bucket_arn(self.audit)

    @property
    def alerts_arn(self) -> str:
        """Give the ARN of the alerts topic."""
        return self.place.arn("sns", self.alerts)

    @property
    def repository_url(self) -> str:
        """Give the address of the account's image repository."""
        return f"{self.place.registry}/{REPOSITORY}"


def names_of(environment: EnvironmentSettings) -> EnvironmentNames:
    """Take the names from an environment's settings."""
    return EnvironmentNames(environment.name, environment.declared.agent.name, place_of(environment.account))


def live_log_group(runtime_id: str) -> str:
    """Name the live endpoint's log group, as the service does."""
    return f"{contract.RUNTIME_LOG_GROUPS}{runtime_id}-{contract.LIVE_ENDPOINT}"


def image_uri(repository_url: str, image: str) -> str:
    """Address an image by digest, or by tag."""
    return f"{repository_url}{'@' if image.startswith('sha256:') else ':'}{image}"
