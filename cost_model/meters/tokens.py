"""Meter tokens of models, for scale: at a price that is stated, or at the list price of the model that is named."""

from __future__ import annotations

from typing import Final

from cost_model.meters.meter import Meter
from cost_model.token_prices import INPUT, OUTPUT
from cost_model.workload import Tokens

_NONE: Final = Tokens()

TOKENS: Final = (
    Meter(
        key="tokens_input",
        label="Model tokens, input",
        price=INPUT,
        quantity=lambda scenario: scenario.per_session((scenario.workload.tokens or _NONE).input_per_session),
        applies=lambda scenario: scenario.workload.tokens is not None,
        assumes=lambda _: ("model tokens are priced without caches, batches and discounts",),
    ),
    Meter(
        key="tokens_output",
        label="Model tokens, output",
        price=OUTPUT,
        quantity=lambda scenario: scenario.per_session((scenario.workload.tokens or _NONE).output_per_session),
        applies=lambda scenario: scenario.workload.tokens is not None,
    ),
)
