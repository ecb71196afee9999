"""Meter what the alerts topic takes."""

from __future__ import annotations

from typing import Final

from cost_model.meters.meter import Meter

TOPIC: Final = Meter(
    key="alerts",
    label="Alerts published",
    price="sns_publish",
    quantity=lambda scenario: scenario.workload.alerts,
    applies=lambda scenario: scenario.deployment.pieces.topic,
)
