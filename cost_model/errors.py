"""Name every way in which the cost model refuses an input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


class CostError(Exception):
    """Refuse an input; `lines` holds one message for each fault found in it."""

    status: ClassVar[int] = 2
    """Exit status of a command that ends so."""

    def __init__(self, *lines: str) -> None:
        """Keep the messages apart, so that a caller prints one to a line."""
        super().__init__("\n".join(lines))
        self.lines = lines

    @classmethod
    def all_of(cls, errors: Iterable[CostError]) -> CostError:
        """Join the faults of several inputs, each said once."""
        return cls(*dict.fromkeys(line for error in errors for line in error.lines))


class DocumentError(CostError):
    """A file is missing, too large, or not the TOML or JSON it should be."""


class UsageError(CostError):
    """A usage file or a command line option holds values that are not allowed."""


class PriceRowError(CostError):
    """A shipped price row lacks what makes it a price: source, date, unit, tiers."""


class SessionSizesError(CostError):
    """The shipped file of measured sessions lacks what makes it a measurement: date, session, spans, sizes."""


class MissingPriceError(CostError):
    """No price row is known for a Region, and none is guessed."""

    def __init__(self, row: str | None, region: str, regions: tuple[str, ...]) -> None:
        """Say which price is missing and where it is known."""
        what = f"no price row {row!r}" if row else "no price rows"
        known = ", ".join(regions) or "none"
        super().__init__(
            f"Region {region!r}: {what}; Regions that have one: {known}. Prices are not guessed from others; "
            f"`rastro cost prices refresh --region {region}` asks AWS for them."
        )


class SynthesisError(CostError):
    """A folder holds no synthesised Terraform, or not the environment asked for."""


class StaleSynthesisError(CostError):
    """The synthesised stacks were not made from the settings as they are now."""


class AwsError(CostError):
    """AWS did not answer, or not what was asked: nothing is wrong with the input."""

    status = 1


class PriceListError(CostError):
    """A price list lacks a price, or holds several that disagree, or is not the file it should be."""

    status = 1


class MeasureError(CostError):
    """What was measured cannot be used: nothing came in, or a file stands in the way."""

    status = 1
