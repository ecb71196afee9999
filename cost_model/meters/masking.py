"""Meter the bytes that a data protection policy scans for what it masks."""

from __future__ import annotations

from typing import Final

from cost_model.meters.meter import Meter

MASKING: Final = Meter(
    key="masking",
    label="Masking scan",
    price="data_protection",
    quantity=lambda scenario: scenario.trail_gb,
    applies=lambda scenario: scenario.deployment.masking,
    assumes=lambda _: (
        "masking scans each byte once, as it arrives; a group policy under an account policy adds nothing",
    ),
)
