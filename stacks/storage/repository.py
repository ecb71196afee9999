"""Build the account's image repository."""

from __future__ import annotations

import json
from typing import Any, Final

from stacks.framework import TerraformResourceLifecycle, TerraformStack, aws
from stacks.names import REPOSITORY

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


def build(stack: TerraformStack, *, kms_key_arn: str | None) -> Any:
    """Declare a repository with immutable tags, scanned on push and encrypted."""
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
    return repository
