"""State which accounts may read an account's images, so that they are promoted by their digest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stacks.policies.statement import Statement


@dataclass(frozen=True, slots=True)
class Reader:
    """Name an account that images are promoted to, as its file does."""

    alias: str
    account_id: str
    partition: str


def repository(readers: Iterable[Reader]) -> tuple[Statement, ...]:
    """Let other accounts read images; who in such an account may is for its own policies to say."""
    return tuple(
        Statement(
            sid=f"PromotedTo{''.join(part.capitalize() for part in reader.alias.split('-'))}",
            why="`make promote` copies an image from here, by its digest; nobody there can push or delete.",
            account=f"arn:{reader.partition}:iam::{reader.account_id}:root",
            actions=("ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
        )
        for reader in readers
    )
