"""What the log group keeps."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agent_image.contract import Regime
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from tests.cost_model.golden import close, line, priced, under


@pytest.mark.parametrize(
    ("compression", "days", "month", "first"),
    [
        (None, 30, "0.5722", "0.2861"),  # 19.0735 GB at 0.03
        ("1", 30, "0.5722", "0.2861"),
        ("0.15", 30, "0.0858", "0.0429"),
        ("0.15", 90, "0.2575", "0.0429"),
        ("0.15", 7, "0.0200", "0.0177"),
    ],
)
def test_storage_follows_compression_and_retention(
    article: Scenario, prices: PriceBook, *, compression: str | None, days: int, month: str, first: str
) -> None:
    """A month of it in steady state, and what a store that fills averages in its first one."""
    scenario = under(article, storage_compression=None if compression is None else Decimal(compression))
    result = priced(scenario, prices, Regime.ADDRESS, retention_days=Decimal(days))
    found = line(result, "storage")

    assert found is not None
    assert close(found.monthly, month, Decimal("0.00005"))
    assert close(found.first_month, first, Decimal("0.00005"))


@pytest.mark.parametrize(("compression", "said"), [(None, "uncompressed"), ("0.15", "as 0.15 of those that came in")])
def test_the_compression_is_said(article: Scenario, prices: PriceBook, compression: str | None, said: str) -> None:
    """The article's way where nobody states another, with AWS's own beside it."""
    scenario = under(article, storage_compression=None if compression is None else Decimal(compression))

    assert any(said in text for text in priced(scenario, prices, Regime.ADDRESS).assumptions)
