"""Price calls of models: exactly, in whole nano-dollars, each cached token once. No price is not a price of 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from agent_image.guard.budget import nano
from agent_image.guard.canonical import digest
from agent_image.guard.model_reference import Reference
from agent_image.guard.moments import Clock
from agent_image.guard.settings import ModelPrice

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

PRICE_LIST: Final = "genai-prices"
_MILLION: Final = Decimal(10**6)
_DIGITS: Final = 60
"""More digits than tokens and prices have together: nothing is rounded on the way."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Count the tokens of one call of a model.

    Attributes:
        input: read, and neither found in a cache nor written into one.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """Count all of them."""
        return self.input + self.output + self.cache_read + self.cache_write

    @classmethod
    def of(cls, usage: Mapping[str, Any], *, cache_in_input: bool = False) -> Tokens | None:
        """Read what a model reported, in Strands' names; None where it reported nothing, or what cannot be.

        Bedrock's input tokens leave cached ones out; others count them in, and have them taken out here.
        """
        counts = [usage.get(key, 0) for key in _USAGE]
        if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts):
            return None
        read, written, cache_read, cache_write = counts
        cached = cache_read + cache_write
        if cache_in_input and cached <= read:
            read -= cached
        tokens = cls(read, written, cache_read, cache_write)
        return tokens if tokens.total else None


_USAGE: Final = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


class Prices:
    """Price calls of models by what the settings state, and else by the price list of the installed package.

    The list is dated, and read from the package alone, never from the network.
    """

    def __init__(self, overrides: Mapping[str, ModelPrice], clock: Clock) -> None:
        """Take the settings' prices, by model, and the clock that picks the price of the day."""
        self._overrides = overrides
        self._clock = clock

    @property
    def version(self) -> str:
        """Name the prices: the list's version, and a digest of what the settings state."""
        named = f"{PRICE_LIST}/{_installed()}"
        if not self._overrides:
            return named
        stated = digest(*(part for model, price in sorted(self._overrides.items()) for part in (model, repr(price))))
        return f"{named}+settings/{stated[:12]}"

    def tokens(self, model: str, usage: Mapping[str, Any]) -> Tokens | None:
        """Read what a model reported, as its provider counts; None where it reported nothing."""
        return Tokens.of(usage, cache_in_input=Reference.of(model).charger.cache_in_input)

    def cost(self, model: str, tokens: Tokens) -> int | None:
        """Price a call in nano-dollars, a part of one as one; None where there is no price for all of its tokens."""
        reference = Reference.of(model)
        stated = self._stated(reference)
        with localcontext() as context:
            context.prec = _DIGITS
            if stated is not None:
                usd = _by_settings(stated, tokens)
            elif reference.charger.provider is None:
                return 0
            else:
                usd = self._listed(reference, tokens)
            return None if usd is None else nano(usd)

    def estimate(self, model: str, read: int, written: int) -> int | None:
        """Price a call before it is made: so many tokens in, so many out at most, nothing cached."""
        return self.cost(model, Tokens(read, written))

    def _stated(self, reference: Reference) -> ModelPrice | None:
        return next((self._overrides[name] for name in reference.names if name in self._overrides), None)

    def _listed(self, reference: Reference, tokens: Tokens) -> Decimal | None:
        if reference.model is None or reference.provider is None:
            return None
        from genai_prices import Usage  # noqa: PLC0415 - a third of a second, and not on the way to the first answer

        usage = Usage(
            # The list takes the cache's share out of the whole input again.
            input_tokens=tokens.input + tokens.cache_read + tokens.cache_write,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
            output_tokens=tokens.output,
        )
        try:
            found = _price_list().calc(usage, reference.model, reference.provider, None, self._clock())
        except (LookupError, ValueError, ArithmeticError):
            return None
        priced = found.model_price
        if priced.input_mtok is None or (tokens.output and priced.output_mtok is None):
            return None
        return found.total_price


def _by_settings(price: ModelPrice, tokens: Tokens) -> Decimal | None:
    counted = (
        (price.input, tokens.input),
        (price.output, tokens.output),
        (price.cache_read, tokens.cache_read),
        (price.cache_write, tokens.cache_write),
    )
    if any(count and one is None for one, count in counted):
        return None
    return sum(((one or Decimal(0)) * count for one, count in counted), start=Decimal(0)) / _MILLION


@cache
def _installed() -> str:
    """Give the version of the price list's package: reading what is installed takes longer than all of a tool call."""
    return version(PRICE_LIST)


@cache
def _price_list() -> DataSnapshot:
    from genai_prices.data import providers  # noqa: PLC0415 - see above
    from genai_prices.data_snapshot import DataSnapshot  # noqa: PLC0415 - see above

    # A copy of our own: the package's global one may be replaced by what somebody downloads.
    return DataSnapshot(providers=providers, from_auto_update=False)
