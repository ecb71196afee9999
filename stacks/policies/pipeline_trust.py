"""State who may take over a pipeline's roles: jobs of one GitHub repository, by what their tokens say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stacks.names import Place
from stacks.policies.statement import Condition, Statement
from stacks.settings.pipeline import Pipeline

ISSUER: Final = "token.actions.githubusercontent.com"
AUDIENCE: Final = "sts.amazonaws.com"


def provider_arn(place: Place) -> str:
    """Give the ARN of the account's identity provider of GitHub; an account has one at most."""
    return f"arn:{place.partition}:iam::{place.account_id}:oidc-provider/{ISSUER}"


def deployers(pipeline: Pipeline) -> tuple[str, ...]:
    """List the subjects that may deploy; none holds a wildcard.

    A job that names an environment has the environment as its subject, whatever its branch: GitHub's own protection
    rules say from which branches that environment may be used.
    """
    environments = (f"environment:{environment}" for environment in pipeline.environments)
    branches = (f"ref:refs/heads/{branch}" for branch in pipeline.branches)
    return tuple(f"repo:{pipeline.repository}:{what}" for what in (*environments, *branches))


def planners(pipeline: Pipeline) -> tuple[str, ...]:
    """List the subjects that may plan: branches, and pull requests that GitHub gives a token, which no fork's is."""
    branches = (f"ref:refs/heads/{branch}" for branch in pipeline.plan_branches)
    return tuple(f"repo:{pipeline.repository}:{what}" for what in ("pull_request", *branches))


def trust(place: Place, subjects: Iterable[str], why: str) -> tuple[Statement, ...]:
    """Let jobs with these subjects in, and nobody else."""
    return (
        Statement(
            sid="GitHubTakesRole",
            why=why,
            federated=provider_arn(place),
            actions=("sts:AssumeRoleWithWebIdentity",),
            conditions=(
                Condition("StringEquals", f"{ISSUER}:aud", (AUDIENCE,)),
                Condition("StringEquals", f"{ISSUER}:sub", tuple(subjects)),
            ),
        ),
    )
