"""What the agent itself costs, for scale: AgentCore Runtime and tokens."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from agent_image.contract import Regime
from cost_model.errors import UsageError
from cost_model.estimate import estimate
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.token_prices import token_rows
from cost_model.workload import RuntimeUse, Tokens, read_workload
from tests.cost_model.conftest import TODAY
from tests.cost_model.golden import close, holding, line, monthly, priced, under

USE = RuntimeUse(None, Decimal(10), Decimal(60), Decimal("0.5"))
COUNTED = Tokens(None, Decimal(12_000), Decimal(1_200), Decimal(1), Decimal(5))
MODEL = "us.anthropic.claude-haiku-4-5-20251001-v1:0"


@pytest.mark.parametrize(
    ("version", "vcpu_seconds", "seconds", "vcpu", "memory"),
    [
        ("1", "10", "60", "248.61", "78.75"),
        ("2", "10", "60", "354.44", "140.83"),
        (None, "10", "60", "354.44", "140.83"),
        ("2", "0.2", "0.5", "35.44", "2.35"),  # a second of each at least
    ],
)
def test_the_runtime_is_charged_by_active_vcpu_and_memory(
    article: Scenario,
    prices: PriceBook,
    *,
    version: str | None,
    vcpu_seconds: str,
    seconds: str,
    vcpu: str,
    memory: str,
) -> None:
    """Of an unknown version the dearer one is taken, and said."""
    use = RuntimeUse(version and Decimal(version), Decimal(vcpu_seconds), Decimal(seconds), Decimal("0.5"))  # type: ignore[arg-type]
    result = priced(under(article, runtime=use), prices, Regime.ADDRESS)

    assert close(monthly(result, "runtime_vcpu"), vcpu)
    assert close(monthly(result, "runtime_memory"), memory)
    assert any("the dearer one" in text for text in result.assumptions) == (version is None)


def test_a_runtime_that_nobody_measured_depends_on_usage(article: Scenario, prices: PriceBook) -> None:
    """It is deployed, so its lines are there; a comparison with it is not."""
    result = priced(holding(article, runtime=True), prices, Regime.ADDRESS)

    assert [each.monthly for each in result.scale] == [None, None]
    assert result.scale_total is None


def test_what_is_for_scale_is_in_no_total(article: Scenario, prices: PriceBook) -> None:
    """The trail costs what it costs, whatever the agent does."""
    with_agent = priced(under(article, runtime=USE, tokens=COUNTED), prices, Regime.CONTENT)

    assert with_agent.total == priced(article, prices, Regime.CONTENT).total
    assert with_agent.scale_total is not None
    assert close(with_agent.scale_total, "18495.28")


@pytest.mark.parametrize(
    ("prices_of_a_million", "usd"), [(("0.25", "1.25"), "4500"), (("1", "5"), "18000"), (("3", "15"), "54000")]
)
def test_tokens_cost_what_is_stated(
    article: Scenario, prices: PriceBook, prices_of_a_million: tuple[str, str], usd: str
) -> None:
    """12,000 read and 1,200 written in each of a million sessions."""
    read, written = map(Decimal, prices_of_a_million)
    tokens = replace(COUNTED, input_usd=read, output_usd=written)

    assert priced(under(article, tokens=tokens), prices, Regime.CONTENT).scale_total == Decimal(usd)


def test_a_model_has_the_price_of_the_list(article: Scenario, prices: PriceBook) -> None:
    """The row names the package and its version; it does not matter how the profile is written."""
    tokens = replace(COUNTED, model=MODEL, input_usd=None, output_usd=None)
    result = priced(under(article, tokens=tokens), prices, Regime.CONTENT)
    found = line(result, "tokens_input")
    by_arn = replace(tokens, model=f"arn:aws:bedrock:us-east-1:111122223333:inference-profile/{MODEL}")

    assert found is not None
    assert found.monthly
    assert found.row.source.startswith("genai-prices 0.")
    assert [row.tiers for row in token_rows(by_arn, "us-east-1", TODAY)] == [
        row.tiers for row in token_rows(tokens, "us-east-1", TODAY)
    ]


def test_a_stated_price_goes_before_the_list() -> None:
    """One of the two may come from each."""
    tokens = Tokens(MODEL, Decimal(1), Decimal(1), input_usd=Decimal(7))
    read, written = token_rows(tokens, "us-east-1", TODAY)

    assert (read.tiers[0].usd, read.source) == (Decimal("0.000007"), "[usage.tokens]")
    assert written.source.endswith(f"{MODEL} of aws")


def test_a_model_that_the_list_does_not_know_is_refused(article: Scenario, prices: PriceBook) -> None:
    """No price is not a price of 0."""
    tokens = replace(COUNTED, model="acme.wizard-v9", input_usd=None)

    with pytest.raises(UsageError, match=r"'acme.wizard-v9' has no price of aws in genai-prices; state input_usd"):
        priced(under(article, tokens=tokens), prices, Regime.CONTENT)


def test_tokens_need_a_price_or_a_model() -> None:
    """Neither is guessed."""
    with pytest.raises(UsageError, match=r"usage.tokens.model: missing; allowed: a model whose list price holds"):
        read_workload({"tokens": {"input_per_session": 5, "input_usd": 1}}, "dev.toml")


def test_without_tokens_there_are_no_rows() -> None:
    """Nobody asked for them."""
    assert token_rows(None, "us-east-1", date(2026, 1, 1)) == ()


def test_old_prices_of_what_is_for_scale_are_noted(article: Scenario, prices: PriceBook) -> None:
    """A comparison with a price of long ago misleads as much as a total."""
    scenario = under(holding(article, runtime=True), runtime=USE)
    later = estimate(scenario, prices, date(2027, 12, 1))

    assert any("AgentCore Runtime v2, active vCPU: the price is of 2026-09-15" in note for note in later.notes)
