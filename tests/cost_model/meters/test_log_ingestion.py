"""Whatever comes in as logs: other output, split content, vended logs; by class, and through tiers."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType

import pytest

from agent_image.contract import Regime
from cost_model.deployment import LogClass
from cost_model.estimate import estimate
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.session_sizes import load_session_sizes
from tests.cost_model.conftest import TODAY
from tests.cost_model.golden import close, line, monthly, priced, under


@pytest.mark.parametrize(
    ("kilobytes", "log_class", "usd"),
    [
        (1, LogClass.STANDARD, "0.476837"),  # 1,000,000 * 1 KB = 0.953674 GB, at 0.50
        (1, LogClass.INFREQUENT_ACCESS, "0.238419"),
        (10, LogClass.STANDARD, "4.768372"),
        (0, LogClass.STANDARD, "0"),
    ],
)
def test_other_output_comes_in_at_the_rate_of_its_class(
    article: Scenario, prices: PriceBook, *, kilobytes: int, log_class: LogClass, usd: str
) -> None:
    """What a session prints beside event lines is a log like them."""
    scenario = under(article, stdout_kb_per_session=Decimal(kilobytes))
    result = priced(scenario, prices, Regime.ADDRESS, log_class=log_class)

    assert close(monthly(result, "stdout_ingestion"), usd, Decimal("0.000001"))


def test_other_output_that_nobody_stated_has_no_line(article: Scenario, prices: PriceBook) -> None:
    """It is named among what is not priced."""
    assert line(priced(article, prices, Regime.ADDRESS), "stdout_ingestion") is None


@pytest.mark.parametrize(
    ("regime", "spans", "logs"),
    [
        (Regime.CONTENT, "3.2043", "35.9535"),  # 9.6 KB stay spans at 0.35, 75.4 KB become logs at 0.50
        (Regime.ADDRESS, "6.6757", None),
        (Regime.METADATA, "3.2043", None),
    ],
)
def test_split_telemetry_moves_content_to_logs(
    article: Scenario, prices: PriceBook, *, regime: Regime, spans: str, logs: str | None
) -> None:
    """What content holds beyond metadata; the other regimes have nothing to move."""
    whole = priced(article, prices, regime)
    split = priced(under(article, split_telemetry=True), prices, regime)
    found = line(split, "split_ingestion")

    assert close(monthly(split, "span_ingestion"), spans, Decimal("0.00005"))
    assert (found is None) == (logs is None)
    assert logs is None or (found is not None and close(found.monthly, logs, Decimal("0.00005")))
    assert monthly(split, "storage") == monthly(whole, "storage"), "it stays in the same log group"


def test_split_telemetry_takes_both_sizes_as_measured_or_neither(article: Scenario, prices: PriceBook) -> None:
    """What stays in the spans of a stated session is not what was measured of another."""
    unsized = under(article, split_telemetry=True, kb_per_session=MappingProxyType({}))
    stated = under(unsized, kb_per_session=MappingProxyType({Regime.CONTENT: Decimal(85)}))
    measured, unknown = (
        estimate(
            replace(scenario, deployment=replace(scenario.deployment, regime=Regime.CONTENT)),
            prices,
            TODAY,
            load_session_sizes(),
        )
        for scenario in (unsized, stated)
    )

    assert measured.unknown == ()
    assert any("kb_per_session.metadata is not stated: taken as" in text for text in measured.assumptions)
    assert {"span_ingestion", "split_ingestion"} <= {each.key for each in unknown.unknown}


@pytest.mark.parametrize(
    ("gb", "standard", "infrequent", "to_s3"),
    [
        (6, "3.00", "1.50", "1.50"),
        (10_240, "5120.00", "2560.00", "2560.00"),
        (30_720, "10240.00", "5632.00", "5632.00"),
        (51_200, "12288.00", "7168.00", "7168.00"),
        (61_200, "12788.00", "7668.00", "7668.00"),
    ],
)
def test_vended_logs_go_through_their_tiers(
    article: Scenario, prices: PriceBook, *, gb: int, standard: str, infrequent: str, to_s3: str
) -> None:
    """10, 20 and 20 TB, then the rest, to each destination by itself."""
    stated = dict.fromkeys(("vended_gb", "vended_infrequent_access_gb", "vended_s3_gb"), Decimal(gb))
    result = priced(under(article, **stated), prices, Regime.ADDRESS)

    assert monthly(result, "vended_ingestion") == Decimal(standard)
    assert monthly(result, "vended_infrequent_access") == Decimal(infrequent)
    assert monthly(result, "vended_s3") == Decimal(to_s3)
    assert monthly(result, "vended_storage") == 2 * gb * Decimal("0.03"), "S3 keeps its own"
