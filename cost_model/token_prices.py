"""Make the price rows of model tokens: from what `[usage.tokens]` states, or from the package `genai-prices`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache
from typing import Final

from cost_model.errors import UsageError
from cost_model.prices import PriceRow
from cost_model.tiers import Tier
from cost_model.workload import Tokens

INPUT: Final = "tokens_input"
OUTPUT: Final = "tokens_output"
PRICE_LIST: Final = "genai-prices"
PROVIDER: Final = "aws"
"""Who charges for the models of Bedrock, by the list's name."""
_MILLION: Final = Decimal(10**6)
_STATED: Final = "[usage.tokens]"


def token_rows(tokens: Tokens | None, region: str, today: date) -> tuple[PriceRow, ...]:
    """Return the rows of input and output tokens; UsageError where neither a price nor a known model is stated."""
    return () if tokens is None else tuple(_rows(tokens, region, today))


def _rows(tokens: Tokens, region: str, today: date) -> Iterator[PriceRow]:
    stated = {INPUT: tokens.input_usd, OUTPUT: tokens.output_usd}
    listed = {} if None not in stated.values() or tokens.model is None else _listed(tokens.model, today)
    for row_id, usd in stated.items():
        price = listed.get(row_id) if usd is None else usd
        if price is None:
            message = f"usage.tokens: no price for {row_id}; state input_usd and output_usd"
            raise UsageError(message)
        source = _STATED if usd is not None else f"{PRICE_LIST} {_version()}: {tokens.model} of {PROVIDER}"
        yield PriceRow(
            id=row_id,
            region=region,
            service_code="stated" if usd is not None else PRICE_LIST,
            usage_type=row_id,
            name="Model tokens, input" if row_id == INPUT else "Model tokens, output",
            unit="token",
            as_of=today,
            source=source,
            tiers=(Tier(price / _MILLION),),
        )


@cache
def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - reading what is installed takes long

    return version(PRICE_LIST)


@cache
def _listed(model: str, today: date) -> dict[str, Decimal]:
    """Read USD for a million tokens out of the installed list, never from the network."""
    # A third of a second: only whoever names a model waits for it.
    from genai_prices import Usage  # noqa: PLC0415
    from genai_prices.data import providers  # noqa: PLC0415
    from genai_prices.data_snapshot import DataSnapshot  # noqa: PLC0415

    prices = DataSnapshot(providers=providers, from_auto_update=False)
    name = model.rpartition("/")[2]
    noon = datetime.combine(today, time(12), tzinfo=UTC)
    try:
        found = prices.calc(Usage(input_tokens=1, output_tokens=1), name, PROVIDER, None, noon).model_price
    except (LookupError, ValueError, ArithmeticError):
        message = (
            f"usage.tokens.model: {model!r} has no price of {PROVIDER} in {PRICE_LIST}; state input_usd and output_usd"
        )
        raise UsageError(message) from None
    each = {INPUT: found.input_mtok, OUTPUT: found.output_mtok}
    return {row_id: usd for row_id, usd in each.items() if isinstance(usd, Decimal)}
