"""Define the `[pipeline]` table of an account file: who may deploy from GitHub Actions, without long-lived keys."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from stacks.settings import types
from stacks.settings.record import Record


class Pipeline(Record):
    """The roles that workflows of one GitHub repository take over by OpenID Connect."""

    repository: types.Repository = Field(
        description="As the token's `sub` names it: owner/name, or owner@id/name@id where subject claims are immutable."
    )
    environments: Annotated[list[types.JobEnvironment], AfterValidator(types.distinct)] = Field(
        default=[], description="GitHub environments whose jobs may deploy; protect them with reviewers."
    )
    branches: Annotated[list[types.Branch], AfterValidator(types.distinct)] = Field(
        default=[], description="Branches whose jobs may deploy where the job names no environment."
    )
    plans: bool = Field(
        default=True, description="Make the role with which pull requests plan: it reads, and changes nothing."
    )
    plan_branches: Annotated[list[types.Branch], AfterValidator(types.distinct)] = Field(
        default=["main"], description="Branches whose jobs may plan too: the drift check, the plan before an approval."
    )
    create_provider: bool = Field(
        default=True, description="Declare the account's one identity provider of GitHub; false: it exists already."
    )
    permissions_boundary_arn: types.PolicyArn | None = Field(
        default=None, description="Boundary of both roles, and of every role that the pipeline makes or changes."
    )
