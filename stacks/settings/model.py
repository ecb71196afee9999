"""Define the two settings files as typed, frozen records: one file per account, one per environment."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from agent_image.contract import CLOUDWATCH, TOP_K_DEFAULT, Regime
from stacks.observability.masking import PATTERNS_LIMIT
from stacks.settings import types
from stacks.settings.alarms import Alarms, Budget, Sweep
from stacks.settings.dashboard import Dashboard
from stacks.settings.guard import Guard
from stacks.settings.hooks import Hooks
from stacks.settings.pipeline import Pipeline
from stacks.settings.record import Record
from stacks.settings.usage import Usage


class Masking(Record):
    """What CloudWatch Logs masks when events are read."""

    identifiers: Annotated[list[types.Identifier], AfterValidator(types.distinct)] = Field(
        default=[], description="Managed data identifiers. CPF, CNPJ, RG, CEP and phones need a keyword close by."
    )
    patterns: dict[types.PatternName, types.Pattern] = Field(
        default={},
        max_length=PATTERNS_LIMIT,
        description="Custom identifiers: a name and a regular expression in AWS's subset.",
    )


class LocalState(Record):
    """Keep Terraform state in files beside the project."""

    backend: Literal["local"] = "local"


class S3State(Record):
    """Keep Terraform state in an S3 bucket, encrypted, with its native lock file."""

    backend: Literal["s3"]
    bucket: types.BucketName | None = Field(
        default=None, description="A bucket of your own; left out, the one that `make bootstrap` makes."
    )
    region: types.RegionName | None = Field(default=None, description="The Region of a bucket of your own.")
    kms_key_arn: types.KmsKeyArn | None = Field(default=None, description="The key that encrypts the state.")


class Account(Record):
    """One AWS account and Region: what exists there once."""

    account_id: types.AccountId = Field(description="12 digits. Terraform refuses to work in any other account.")
    region: types.RegionName = Field(description="The Region of this account file.")
    manage_transaction_search: bool = Field(
        default=True,
        description="Declare trace destination, indexing and X-Ray's right to write; false declares none of them.",
    )
    indexing_percentage: types.Percentage = Field(
        default=Decimal(1), description="Per cent of traces that X-Ray indexes as summaries; 1 is free."
    )
    owner: types.TagValue = Field(default="platform", description="Tag Owner of what environments share.")
    cost_center: types.TagValue = Field(default="shared", description="Tag CostCenter of what environments share.")
    kms_key_arn: types.KmsKeyArn | None = Field(default=None, description="The key that encrypts images and bundles.")
    state: LocalState | S3State = Field(
        default=LocalState(), discriminator="backend", description="Where Terraform keeps its state."
    )
    masking: Masking = Field(
        default=Masking(), description="Account-level masking: it also covers groups that a service creates by itself."
    )
    promotes_to: Annotated[list[types.Alias], AfterValidator(types.distinct)] = Field(
        default=[], description="Account files whose accounts may read this one's images: `make promote` copies them."
    )
    pipeline: Pipeline | None = Field(default=None, description="Roles of a pipeline on GitHub Actions.")
    masking_managed_elsewhere: bool = Field(
        default=False,
        description="Somebody else declares the account's one masking policy; [masking] stays empty then.",
    )


class Session(Record):
    """How long the runtime keeps one session's microVM, in seconds."""

    idle_timeout_seconds: types.SessionSeconds = Field(default=Decimal(900), description="Seconds without a request.")
    max_lifetime_seconds: types.SessionSeconds = Field(default=Decimal(28_800), description="Seconds in all.")


class Agent(Record):
    """What runs."""

    name: types.RuntimeName = Field(description="The runtime's name; one per account and Region.")
    models: Annotated[list[types.ModelArn], AfterValidator(types.distinct)] = Field(
        min_length=1,
        description="ARNs the agent may invoke: first the one it calls, then every model behind it.",
    )
    knowledge_base_id: types.KnowledgeBaseId | None = Field(default=None, description="The Bedrock knowledge base.")
    index_version: types.NonEmpty | None = Field(
        default=None, description="Overrides the index version that the agent reads at run time."
    )
    top_k: types.TopK = Field(default=Decimal(TOP_K_DEFAULT), description="Passages that one retrieval asks for.")
    artifact: Literal["image", "code"] = Field(
        default="image", description="What runs: a container image, or a bundle of code (direct code deployment)."
    )
    image: types.Image | None = Field(
        default=None,
        description="With artifact = image, required: image digest (sha256:…); a tag only where on_destroy is delete.",
    )
    bundle: types.BundleVersion | None = Field(
        default=None, description="With artifact = code, required: the version that `make bundle` stored."
    )
    live_version: types.LiveVersion = Field(
        default="newest", description="The runtime version that the live endpoint serves: newest, or a number."
    )
    session: Session = Session()


class PublicNetwork(Record):
    """Reach the agent's outside through AWS's network."""

    mode: Literal["PUBLIC"] = "PUBLIC"


class VpcNetwork(Record):
    """Reach the agent's outside through your own subnets."""

    mode: Literal["VPC"]
    subnets: Annotated[list[types.SubnetId], AfterValidator(types.distinct)] = Field(
        min_length=1, max_length=16, description="1 to 16 subnets of one VPC."
    )
    security_groups: Annotated[list[types.SecurityGroupId], AfterValidator(types.distinct)] = Field(
        min_length=1, max_length=16, description="1 to 16 security groups of that VPC."
    )


class IamAuth(Record):
    """Let in callers whom IAM allows."""

    type: Literal["IAM"] = "IAM"


class JwtAuth(Record):
    """Let in callers who carry a token of your identity provider."""

    type: Literal["JWT"]
    discovery_url: types.DiscoveryUrl = Field(description="The provider's OpenID Connect discovery document.")
    audiences: list[types.NonEmpty] = Field(default=[], description="Audiences that are let in.")
    clients: list[types.NonEmpty] = Field(default=[], description="Client ids that are let in.")


class Role(Record):
    """Which role the runtime assumes."""

    arn: types.RoleArn | None = Field(
        default=None, description="Bring your own role: none is made, outputs say its policy."
    )
    permissions_boundary_arn: types.PolicyArn | None = Field(
        default=None, description="Boundary of the role that is made."
    )
    put_resource_policy: Literal["any", "own", "none"] = Field(
        default="any",
        description="Where the role may let X-Ray write: AWS's authorization data names no resource type (any); own "
        "limits it to the agent's groups; none drops it.",
    )


class Observability(Record):
    """What the trail holds, for how long, and who cannot read it in clear."""

    capture: Literal["metadata", "address", "archive", "content"] = Field(description="The capture regime.")
    content_reason: types.NonEmpty | None = Field(
        default=None, description="Why texts must be in the trail; required by capture = content."
    )
    retention_days: types.RetentionDays = Field(description="Days that the log group keeps events.")
    kms_key_arn: types.KmsKeyArn | None = Field(
        default=None, description="The key that encrypts log group, table, buckets and topic."
    )
    masking: Masking = Masking()
    indexed_fields: types.IndexedFields = Field(
        default=[], description="Fields indexed beside the free ones (trace and session ids are free)."
    )
    audit_object_lock_days: types.LockDays | None = Field(
        default=None,
        description="Days that nobody, root included, can delete an audit object; only before the first deployment.",
    )

    destination: types.Destination = Field(
        default=CLOUDWATCH,
        description="Where spans go: cloudwatch, or the https address of an OTLP endpoint.",
    )
    destination_headers_secret_arn: types.SecretArn | None = Field(
        default=None, description="The secret that holds the OTLP endpoint's headers, a JSON object of texts."
    )
    prune_event_loop: bool = Field(
        default=False, description="Leave out the event loop's own spans; their children hang one level higher."
    )
    kept_sessions: types.Share = Field(
        default=Decimal(1),
        description="Share of sessions whose spans are kept; of the others, those with an error or a guard event are.",
    )

    @property
    def regime(self) -> Regime:
        """Give the capture regime."""
        return Regime(self.capture)


class Environment(Record):
    """One environment: an agent and its trail."""

    account: types.Alias = Field(description="The account file this environment is deployed to.")
    owner: types.TagValue = Field(description="Tag Owner.")
    cost_center: types.TagValue = Field(description="Tag CostCenter.")
    on_destroy: Literal["keep", "delete"] | None = Field(
        default=None, description="What becomes of the trail on destroy: keep, except in an environment named dev."
    )
    agent: Agent
    network: PublicNetwork | VpcNetwork = Field(default=PublicNetwork(), discriminator="mode")
    auth: IamAuth | JwtAuth = Field(default=IamAuth(), discriminator="type")
    role: Role = Role()
    observability: Observability
    guard: Guard = Guard()
    hooks: Hooks = Hooks()
    alarms: Alarms = Alarms()
    sweep: Sweep = Sweep()
    budget: Budget = Budget()
    dashboard: Dashboard = Dashboard()
    usage: Usage = Usage()
