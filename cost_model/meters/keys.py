"""Meter keys of KMS that belong to the deployment, and requests to any key that somebody manages."""

from __future__ import annotations

from typing import Final

from cost_model.meters.meter import Meter

KEYS: Final = (
    Meter(
        key="kms_keys",
        label="KMS keys",
        price="kms_key",
        quantity=lambda scenario: scenario.deployment.pieces.kms_keys,
        applies=lambda scenario: bool(scenario.deployment.pieces.kms_keys),
    ),
    Meter(
        key="kms_requests",
        label="KMS requests",
        price="kms_request",
        quantity=lambda scenario: scenario.workload.kms_requests,
        applies=lambda scenario: scenario.deployment.pieces.encrypted_by_key,
    ),
)
