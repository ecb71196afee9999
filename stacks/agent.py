"""Compose one environment: an agent, its trail, and who may touch which."""

from __future__ import annotations

from typing import Final

from agent_image.contract import SETTINGS_OBJECT_PREFIX, STATE_OBJECT_PREFIX
from stacks import discovery, foundation, outputs
from stacks.framework import App, TerraformElement, TerraformResourceLifecycle, TerraformStack, aws
from stacks.names import agent_stack, live_log_group, names_of
from stacks.observability import alarm_resources, budget, dashboard, queries, topic, trail, watching
from stacks.observability.alarms import Needs, Source
from stacks.policies import execution_role, people
from stacks.policies.ground import Ground
from stacks.policies.statement import rendered
from stacks.runtime import agent, environment, sweep
from stacks.settings.load import EnvironmentSettings
from stacks.storage import table
from stacks.storage.bucket import BucketPlan, Expiry
from stacks.storage.bucket import build as build_bucket

STATE_OBJECT_DAYS: Final = 120
"""Days that a record's document outside the table stays. It must outlive its item: a checkpoint waits for a week at
most, for as long again to be carried out, and stays for 90 days once it is closed; a session stays for 30."""


class AgentStack(TerraformStack):
    """Hold one environment, in the order in which nothing can reach the live log group unmasked or kept for ever."""

    def __init__(self, app: App, settings: EnvironmentSettings) -> None:
        """Compose the stack `agent-<environment>`."""
        super().__init__(app, agent_stack(settings.name))
        self._settings = settings
        self._names = names_of(settings)
        declared = settings.declared
        self._alarms = watching.chosen(declared)
        self._budget = budget.plan_of(self._names, declared.budget)
        tags = {"Environment": settings.name, "Owner": declared.owner, "CostCenter": declared.cost_center}
        sources = [settings.source, settings.account.source]
        foundation.lay(self, account=settings.account, tags=tags, sources=sources)

        self._hold()
        pointer, settings_object = self._store()
        role_arn, role_policy = self._permit()
        before_runtime = [*self._holders, settings_object, *([role_policy] if role_policy is not None else [])]
        self._runtime = agent.build(
            self,
            settings,
            role_arn=role_arn,
            variables=environment.variables(settings, pointer),
            after=before_runtime,
        )
        kept = self._keep_trail()
        self._endpoint = agent.build_live_endpoint(
            self, settings, runtime=self._runtime, after=[*before_runtime, *kept.parts]
        )
        self._log_group = kept.group
        if settings.keeps_trail:
            # A kept group that loses its mask would be readable in clear: what is declared no longer stays as it is.
            foundation.let_go(self, kept.undeclared)
        self._watch()
        self._serve_people(role_arn)
        self._tell(role_arn)

    def _hold(self) -> None:
        """Declare what holds the trail, before anything can write to it."""
        observability = self._settings.declared.observability
        keep, key = self._settings.keeps_trail, observability.kms_key_arn
        place = self._names.place
        items = table.build(self, name=self._names.table, kms_key_arn=key, keep=keep)
        # An expired document is gone for good: the bucket keeps no versions.
        expiries = (Expiry("expire-state", STATE_OBJECT_PREFIX, STATE_OBJECT_DAYS),)
        archive = build_bucket(
            self, BucketPlan("archive", self._names.archive, place, key, keep, versioned=False, expiries=expiries)
        )
        lock = observability.audit_object_lock_days
        audit = build_bucket(
            self, BucketPlan("audit", self._names.audit, place, key, keep, versioned=True, locked_days=lock)
        )
        self._topic = topic.build(self, topic.plan_of(self._names, self._settings.declared))
        self._audit = audit
        self._holders = (items, *archive.parts, *audit.parts, *self._topic.parts)

    def _store(self) -> tuple[str, TerraformElement]:
        """Store the settings document, and give the value of the settings variable.

        That is the document, or where a document too long for it lies. The bucket keeps versions, and the URI names
        one: a runtime version that is rolled back to reads the settings that it was deployed with. The object is there
        whatever its length, so that a shorter document does not delete what older versions point to.
        """
        body = environment.settings_body(self._settings)
        stored = aws.s3_object.S3Object(
            self,
            "settings-object",
            bucket=self._audit.bucket.id,
            key=f"{SETTINGS_OBJECT_PREFIX}settings.json",
            content=body,
            content_type="application/json",
            depends_on=list(self._audit.parts),
            lifecycle=foundation.guarded(keep=self._settings.keeps_trail),
        )
        if environment.fits_variable(body):
            return body, stored
        return f"s3://{self._names.audit}/{stored.key}?versionId={stored.version_id}", stored

    def _permit(self) -> tuple[str, TerraformElement | None]:
        """Make the execution role and its policy, or take the role that was brought and state what it needs."""
        role_settings = self._settings.declared.role
        trust = rendered(execution_role.trust(self._names.place))
        permissions = rendered(execution_role.permissions(execution_role.reach_of(self._settings)))
        if role_settings.arn is not None:
            outputs.declare_role_documents(self, trust=trust, permissions=permissions)
            return role_settings.arn, None
        role = aws.iam_role.IamRole(
            self,
            "role",
            name=self._names.role,
            description=f"Runs the agent of environment {self._settings.name}",
            assume_role_policy=trust,
            permissions_boundary=role_settings.permissions_boundary_arn,
        )
        policy = aws.iam_role_policy.IamRolePolicy(
            self,
            "role-policy",
            name="agent",
            role=role.name,
            policy=permissions,
            # The policy names table, buckets and topic as text; the wait is for them, and for what guards the buckets.
            depends_on=list(self._holders),
        )
        return role.arn, policy

    def _keep_trail(self) -> trail.Trail:
        observability = self._settings.declared.observability
        return trail.build(
            self,
            trail.TrailPlan(
                environment=self._settings.name,
                group_name=live_log_group(self._runtime.agent_runtime_id),
                partition=self._names.place.partition,
                retention_days=observability.retention_days,
                kms_key_arn=observability.kms_key_arn,
                masking=observability.masking,
                indexed_fields=observability.indexed_fields,
                keep=self._settings.keeps_trail,
            ),
        )

    def _watch(self) -> None:
        """Declare what people look at, and what speaks up by itself."""
        declared = self._settings.declared
        watch = alarm_resources.Watch(self._names, self._log_group, self._runtime, self._topic.topic)
        shown = watching.shows(declared) if declared.dashboard.enabled else None
        read = () if shown is None else dashboard.reads(shown)
        alarm_resources.build_filters(self, watch, watching.metrics_of(self._alarms, read))
        alarm_resources.build_alarms(self, watch, self._alarms)
        if shown is not None:
            self._show(watch, shown)
        queries.build(
            self,
            environment=self._settings.name,
            group=self._log_group,
            indexed_fields=declared.observability.indexed_fields,
        )
        if minutes := watching.sweep_minutes(declared):
            boundary = declared.role.permissions_boundary_arn
            plan = sweep.SweepPlan(self._names, minutes, declared.sweep.role_arn, boundary)
            sweep.build(self, plan, runtime=self._runtime, after=[self._endpoint])
        if self._budget is not None:
            budget.build(self, self._budget, topic=self._topic.topic, after=self._topic.parts)

    def _show(self, watch: alarm_resources.Watch, shown: frozenset[Needs]) -> None:
        """Declare the dashboard of what the environment has."""
        place = self._names.place
        board = dashboard.Board(
            environment=self._settings.name,
            region=place.region,
            console=place.console,
            places={source: alarm_resources.place_of(watch, source) for source in Source},
            alarms=[
                (alarm, place.arn("cloudwatch", f"alarm:{self._names.alarm(alarm.row.key)}")) for alarm in self._alarms
            ],
            has=shown,
        )
        dashboard.build(self, name=self._names.dashboard, board=board)

    def _serve_people(self, role_arn: str) -> None:
        declared = self._settings.declared
        ground = Ground(
            names=self._names,
            runtime_arn=self._runtime.agent_runtime_arn,
            role_arn=role_arn,
            kms_key_arn=declared.observability.kms_key_arn,
            knowledge_base_id=declared.agent.knowledge_base_id,
        )
        for policy in people.policies(ground):
            aws.iam_policy.IamPolicy(
                self,
                policy.person,
                name=self._names.policy(policy.person),
                description=policy.description,
                policy=rendered(policy.statements),
                # AWS cannot change a description: another wording would replace the policy, attached as it is.
                lifecycle=TerraformResourceLifecycle(ignore_changes=["description"]),
            )

    def _tell(self, role_arn: str) -> None:
        """Publish where things are: the discovery parameter and the outputs."""
        deployed = discovery.Deployed(
            runtime_id=self._runtime.agent_runtime_id,
            runtime_arn=self._runtime.agent_runtime_arn,
            log_group=self._log_group.name,
            role_arn=role_arn,
        )
        aws.ssm_parameter.SsmParameter(
            self,
            "discovery",
            name=self._names.discovery,
            description=f"Where the parts of environment {self._settings.name} are",
            type="String",
            # Standard and free up to 4 KB; every identifier and 20 long fields take more.
            tier="Intelligent-Tiering",
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
