"""Compose one environment: an agent, its trail, and who may touch which."""

from __future__ import annotations

from agent_image.contract import LIVE_ENDPOINT
from stacks import discovery, foundation, outputs
from stacks.framework import App, TerraformElement, TerraformStack, aws
from stacks.names import agent_stack, names_of
from stacks.observability import trail
from stacks.policies import execution_role, people
from stacks.policies.statement import rendered
from stacks.runtime import agent, environment
from stacks.settings.load import EnvironmentSettings
from stacks.storage import table
from stacks.storage.bucket import BucketPlan
from stacks.storage.bucket import build as build_bucket


class AgentStack(TerraformStack):
    """Hold one environment, in the order in which nothing can reach the live log group unmasked or kept for ever."""

    def __init__(self, app: App, settings: EnvironmentSettings) -> None:
        """Compose the stack `agent-<environment>`."""
        super().__init__(app, agent_stack(settings.name))
        self._settings = settings
        self._names = names_of(settings)
        declared = settings.declared
        tags = {"Environment": settings.name, "Owner": declared.owner, "CostCenter": declared.cost_center}
        sources = [settings.source, settings.account.source]
        foundation.lay(self, account=settings.account, tags=tags, sources=sources)

        self._hold()
        variables = environment.derive(settings)
        settings_object = self._store(variables.settings_object)
        role_arn, role_policy = self._permit(reads_settings_object=settings_object is not None)
        before_runtime = [*self._holders, *(part for part in (role_policy, settings_object) if part is not None)]
        self._runtime = agent.build(
            self, settings, role_arn=role_arn, variables=variables.variables, after=before_runtime
        )
        kept = self._keep_trail()
        self._endpoint = agent.build_live_endpoint(
            self, settings, runtime=self._runtime, after=[*before_runtime, *kept.parts]
        )
        self._log_group = kept.group
        self._serve_people()
        self._tell(role_arn)

    def _hold(self) -> None:
        """Declare what holds the trail, before anything can write to it."""
        observability = self._settings.declared.observability
        keep, key = self._settings.keeps_trail, observability.kms_key_arn
        place = self._names.place
        self._table = table.build(self, name=self._names.table, kms_key_arn=key, keep=keep)
        archive = build_bucket(self, BucketPlan("archive", self._names.archive, place, key, keep, versioned=False))
        lock = observability.audit_object_lock_days
        audit = build_bucket(
            self, BucketPlan("audit", self._names.audit, place, key, keep, versioned=True, locked_days=lock)
        )
        self._archive, self._audit = archive.bucket, audit.bucket
        self._holders = (self._table, *archive.parts, *audit.parts)
        self._topic = aws.sns_topic.SnsTopic(
            self, "alerts", name=self._names.alerts, kms_master_key_id=key or "alias/aws/sns"
        )

    def _store(self, settings_object: environment.SettingsObject | None) -> TerraformElement | None:
        if settings_object is None:
            return None
        stored: TerraformElement = aws.s3_object.S3Object(
            self,
            "settings-object",
            bucket=self._archive.id,
            key=settings_object.key,
            content=settings_object.body,
            content_type="application/json",
        )
        return stored

    def _permit(self, *, reads_settings_object: bool) -> tuple[str, TerraformElement | None]:
        """Make the execution role and its policy, or take the role that was brought and state what it needs."""
        declared, place = self._settings.declared, self._names.place
        reach = execution_role.Reach(
            names=self._names,
            models=tuple(declared.agent.models),
            knowledge_base_id=declared.agent.knowledge_base_id,
            table_arn=self._table.arn,
            archive_arn=self._archive.arn,
            audit_arn=self._audit.arn,
            topic_arn=self._topic.arn,
            kms_key_arn=declared.observability.kms_key_arn,
            put_resource_policy=declared.role.put_resource_policy,
            callers_have_tokens=declared.auth.type == "JWT",
            reads_settings_object=reads_settings_object,
        )
        trust, permissions = rendered(execution_role.trust(place)), rendered(execution_role.permissions(reach))
        if declared.role.arn is not None:
            outputs.declare_role_documents(self, trust=trust, permissions=permissions)
            return declared.role.arn, None
        role = aws.iam_role.IamRole(
            self,
            "role",
            name=self._names.role,
            description=f"Runs the agent of environment {self._settings.name}",
            assume_role_policy=trust,
            permissions_boundary=declared.role.permissions_boundary_arn,
        )
        policy = aws.iam_role_policy.IamRolePolicy(
            self,
            "role-policy",
            name="agent",
            role=role.name,
            policy=permissions,
            # The policy names table and buckets, not what guards the buckets: nothing may write to an open bucket.
            depends_on=list(self._holders),
        )
        return role.arn, policy

    def _keep_trail(self) -> trail.Trail:
        observability = self._settings.declared.observability
        return trail.build(
            self,
            trail.TrailPlan(
                environment=self._settings.name,
                group_name=outputs.log_group_name(self._runtime.agent_runtime_id),
                partition=self._names.place.partition,
                retention_days=observability.retention_days,
                kms_key_arn=observability.kms_key_arn,
                masking=observability.masking,
                indexed_fields=observability.indexed_fields,
                keep=self._settings.keeps_trail,
            ),
        )

    def _serve_people(self) -> None:
        ground = people.Ground(
            names=self._names,
            runtime_arn=self._runtime.agent_runtime_arn,
            live_endpoint_arn=f"{self._runtime.agent_runtime_arn}/runtime-endpoint/{LIVE_ENDPOINT}",
            log_group_arn=self._log_group.arn,
            table_arn=self._table.arn,
            archive_arn=self._archive.arn,
            audit_arn=self._audit.arn,
            kms_key_arn=self._settings.declared.observability.kms_key_arn,
        )
        for policy in people.policies(ground):
            aws.iam_policy.IamPolicy(
                self,
                policy.person,
                name=self._names.policy(policy.person),
                description=policy.description,
                policy=rendered(policy.statements),
            )

    def _tell(self, role_arn: str) -> None:
        """Publish where things are: the discovery parameter and the outputs."""
        deployed = discovery.Deployed(
            self._runtime.agent_runtime_id, self._runtime.agent_runtime_arn, self._log_group.name
        )
        aws.ssm_parameter.SsmParameter(
            self,
            "discovery",
            name=self._names.discovery,
            description=f"Where the parts of environment {self._settings.name} are",
            type="String",
            value=discovery.document(self._settings, deployed),
        )
        outputs.declare(
            self,
            outputs.Told(
                settings=self._settings,
                runtime=self._runtime,
                endpoint=self._endpoint,
                log_group=self._log_group,
                role_arn=role_arn,
            ),
        )
