"""Build the account's image repository."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from stacks.framework import TerraformResourceLifecycle, TerraformStack, aws
from stacks.names import REPOSITORY
from stacks.policies import promotion
from stacks.policies.promotion import Reader
from stacks.policies.statement import rendered

_UNTAGGED_DAYS: Final = 14
# Only untagged images expire: a tagged one may be what an environment runs, or rolls back to.
_LIFECYCLE: Final = {
    "rules": [
        {
            "rulePriority": 1,
            "description": "Drop images that lost their tag",
            "selection": {
                "tagStatus": "untagged",
                "countType": "sinceImagePushed",
                "countUnit": "days",
                "countNumber": _UNTAGGED_DAYS,
            },
            "action": {"type": "expire"},
        }
    ]
}


def build(stack: TerraformStack, *, kms_key_arn: str | None, readers: Sequence[Reader]) -> Any:
    """Declare a repository with immutable tags, scanned on push and encrypted; readers are other accounts."""
    repository = aws.ecr_repository.EcrRepository(
        stack,
        "repository",
        name=REPOSITORY,
        image_tag_mutability="IMMUTABLE",
        image_scanning_configuration={"scan_on_push": True},
        encryption_configuration=[
            aws.ecr_repository.EcrRepositoryEncryptionConfiguration(encryption_type="KMS", kms_key=kms_key_arn)
        ],
        lifecycle=TerraformResourceLifecycle(prevent_destroy=True),
    )
    aws.ecr_lifecycle_policy.EcrLifecyclePolicy(
        stack,
        "repository-lifecycle",
        repository=repository.name,
        policy=json.dumps(_LIFECYCLE, separators=(",", ":")),
    )
    if readers:
        aws.ecr_repository_policy.EcrRepositoryPolicy(
            stack,
            "repository-readers",
            repository=repository.name,
            policy=rendered(promotion.repository(readers)),
        )
    return repository
