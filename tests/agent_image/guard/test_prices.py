"""A call of a model costs what the list says for each of its tokens, once, to the nano-dollar; or nobody knows."""

from __future__ import annotations

import decimal
import socket
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from importlib.metadata import version
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.guard.prices import Prices, Tokens
from agent_image.guard.settings import parse_guard
from tests.conftest import ROOT

TODAY = datetime(2026, 11, 30, tzinfo=UTC)
HAIKU = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
HAIKU_ARN = f"arn:aws:bedrock:us-east-1:111122223333:inference-profile/{HAIKU}"
MILLION = 10**6
COUNTS = st.integers(0, 10**9)
STATED = {"input": "2", "output": "10", "source": "a contract", "date": "2026-01-31"}


def prices(overrides: Mapping[str, Any] | None = None, now: datetime = TODAY) -> Prices:
    return Prices(parse_guard({"prices": overrides or {}}).prices, lambda: now)


def test_each_token_is_priced_once() -> None:
    """By hand: 1,000 x 1.10 + 500 x 5.50 + 2,000 x 0.11 + 300 x 1.375 = 4,482.5 millionths of a dollar."""
    assert prices().cost(HAIKU_ARN, Tokens(1_000, 500, 2_000, 300)) == 4_482_500


def test_bedrock_s_cached_tokens_come_on_top_of_its_input() -> None:
    """Two tokens in, 1,800 out of the cache: 2 x 1.10 + 1,800 x 0.11 + 100 x 5.50 = 750.2 millionths."""
    usage = {"inputTokens": 2, "outputTokens": 100, "totalTokens": 1_902, "cacheReadInputTokens": 1_800}
    tokens = prices().tokens(HAIKU_ARN, usage)

    assert tokens == Tokens(2, 100, 1_800, 0)
    assert tokens.total == 1_902
    assert prices().cost(HAIKU_ARN, tokens) == 750_200


def test_others_count_cached_tokens_into_their_input() -> None:
    """2,000 in, of which 1,800 were cached: 200 x 1.25 + 1,800 x 0.125 + 100 x 10 = 1,475 millionths."""
    usage = {"inputTokens": 2_000, "outputTokens": 100, "totalTokens": 2_100, "cacheReadInputTokens": 1_800}
    tokens = prices().tokens("openai://gpt-5", usage)

    assert tokens == Tokens(200, 100, 1_800, 0)
    assert tokens.total == 2_100
    assert prices().cost("openai://gpt-5", tokens) == 1_475_000


@pytest.mark.parametrize(
    ("model", "input_usd", "output_usd"),
    [
        (HAIKU, "1.1", "5.5"),
        ("anthropic.claude-haiku-4-5-20251001-v1:0", "1.1", "5.5"),
        ("arn:aws:bedrock:us-east-2::foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0", "1.1", "5.5"),
        ("global.anthropic.claude-haiku-4-5-20251001-v1:0", "1", "5"),
        ("bedrock://eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "3.3", "16.5"),
        ("arn:aws:bedrock:us-east-1:111122223333:inference-profile/us.anthropic.claude-opus-5", "5.5", "27.5"),
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", "15", "75"),
        ("anthropic.claude-3-haiku-20240307-v1:0", "0.25", "1.25"),
        ("us.amazon.nova-lite-v1:0", "0.06", "0.24"),
        ("amazon.nova-lite-v1:0:300k", "0.06", "0.24"),
        ("us.amazon.nova-2-lite-v1:0", "0.33", "2.75"),
        ("us.meta.llama3-3-70b-instruct-v1:0", "0.72", "0.72"),
        ("openai.gpt-oss-120b-1:0", "0.15", "0.6"),
        ("us.deepseek.r1-v1:0", "1.35", "5.4"),
        ("anthropic://claude-haiku-4-5", "1", "5"),
    ],
)
def test_real_references_have_their_price(model: str, input_usd: str, output_usd: str) -> None:
    """Per million tokens; a profile of one geography costs a tenth more than the global one."""
    assert prices().cost(model, Tokens(input=MILLION)) == Decimal(input_usd) * 10**9
    assert prices().cost(model, Tokens(output=MILLION)) == Decimal(output_usd) * 10**9


@pytest.mark.parametrize(
    "model",
    [
        "us.anthropic.claude-haiku-9-9-v1:0",
        "arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/a1b2c3",
        "arn:aws:bedrock:us-east-1:111122223333:provisioned-model/a1b2c3",
        "arn:aws:bedrock:us-east-1:111122223333:imported-model/anthropic.claude-opus-5",
        "openai://a-model-of-tomorrow",
        "litellm://gpt-5",
        "litellm://ollama/llama3.1",
        "gpt-5",
        "",
    ],
)
def test_a_model_that_nobody_priced_is_unpriced(model: str) -> None:
    """Not free, and not at a price of some other model's."""
    assert prices().cost(model, Tokens(1, 1)) is None
    assert prices().estimate(model, 1, 1) is None


def test_a_model_that_only_reads_has_no_price_for_what_it_writes() -> None:
    """An embedding model's output is not free; it is unheard of."""
    assert prices().cost("amazon.titan-embed-text-v2:0", Tokens(input=MILLION)) == 20_000_000
    assert prices().cost("amazon.titan-embed-text-v2:0", Tokens(input=MILLION, output=1)) is None


def test_cached_tokens_without_a_price_of_their_own_cost_what_others_do() -> None:
    """Nova's writes into the cache have none in the list: 0.06, as all that it reads; none is free."""
    assert prices().cost("us.amazon.nova-lite-v1:0", Tokens(cache_write=MILLION)) == 60_000_000
    assert prices().cost("us.amazon.nova-lite-v1:0", Tokens(cache_read=MILLION)) == 15_000_000


@pytest.mark.parametrize("model", ["offline:", "offline", "ollama://localhost:11434/llama3.1"])
def test_what_runs_here_is_free(model: str) -> None:
    """Zero is a price there; tokens and steps still count."""
    assert prices().cost(model, Tokens(MILLION, MILLION)) == 0


def test_the_price_is_that_of_the_day() -> None:
    """A price that changes on a day changes with the clock, not with the process."""
    before, after = (datetime(2026, 8, day, 12, tzinfo=UTC) for day in (20, 21))

    assert prices(now=before).cost("us.openai.gpt-5.6-sol", Tokens(input=100_000)) == 550_000_000
    assert prices(now=after).cost("us.openai.gpt-5.6-sol", Tokens(input=100_000)) == 440_000_000


def test_a_long_prompt_has_the_price_of_long_prompts() -> None:
    """What a cache held counts towards the length: 300,000 tokens are over 272,000."""
    assert prices().cost("us.openai.gpt-5.6-sol", Tokens(100_000, 0, 200_000)) == 880_000_000 + 176_000_000


def test_a_part_of_a_nano_dollar_counts_as_one() -> None:
    """One token out of Nova Micro's cache is 8.75 nano-dollars."""
    assert prices().cost("amazon.nova-micro-v1:0", Tokens(cache_read=1)) == 9


@given(st.builds(Tokens, COUNTS, COUNTS, COUNTS, COUNTS))
def test_the_list_s_prices_are_exact(tokens: Tokens) -> None:
    """As four products of whole numbers and decimals, and no float between."""
    usd = (
        Decimal("1.1") * tokens.input
        + Decimal("5.5") * tokens.output
        + Decimal("0.11") * tokens.cache_read
        + Decimal("1.375") * tokens.cache_write
    )

    assert prices().cost(HAIKU, tokens) == (usd * 1_000).to_integral_value(ROUND_CEILING)


@given(st.builds(Tokens, COUNTS, COUNTS, COUNTS, COUNTS))
def test_the_settings_prices_are_exact(tokens: Tokens) -> None:
    """The same for what a person stated, however odd."""
    odd = prices({"m": {**STATED, "input": "0.1234567", "cache_read": "0.01", "cache_write": "0.3"}})
    usd = (
        Decimal("0.1234567") * tokens.input
        + 10 * tokens.output
        + Decimal("0.01") * tokens.cache_read
        + Decimal("0.3") * tokens.cache_write
    )

    assert odd.cost("m", tokens) == (usd * 1_000).to_integral_value(ROUND_CEILING)


def test_nobody_s_precision_spoils_a_price() -> None:
    """A library that lowers Python's precision changes no bill."""
    with decimal.localcontext() as context:
        context.prec = 3

        assert prices().cost(HAIKU, Tokens(123_456_789, 0)) == 135_802_467_900
        assert prices({"m": STATED}).cost("m", Tokens(123_456_789, 0)) == 246_913_578_000


def test_an_estimate_is_what_the_whole_answer_would_cost() -> None:
    """So many tokens in, so many out at most."""
    assert prices().estimate(HAIKU, 1_000, 4_096) == prices().cost(HAIKU, Tokens(1_000, 4_096)) == 23_628_000


@pytest.mark.parametrize("name", [HAIKU_ARN, HAIKU])
def test_what_a_person_stated_goes_before_the_list(name: str) -> None:
    """Under the reference as the settings name it, or under the model's id."""
    mine = prices({name: STATED})

    assert mine.cost(HAIKU_ARN, Tokens(MILLION, MILLION)) == 12 * 10**9


def test_a_stated_price_serves_what_the_list_cannot_know() -> None:
    """A profile of one's own; or a machine of one's own that somebody charges for."""
    profile = "arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/a1b2c3"
    mine = prices({profile: STATED, "ollama://gpu:11434/llama3.1": STATED})

    assert mine.cost(profile, Tokens(output=MILLION)) == 10 * 10**9
    assert mine.cost("ollama://gpu:11434/llama3.1", Tokens(output=MILLION)) == 10 * 10**9
    assert mine.cost("ollama://localhost:11434/llama3.1", Tokens(output=MILLION)) == 0


def test_a_stated_price_without_a_cache_prices_no_cache() -> None:
    """Where the model uses one after all, the call is unpriced: it asks."""
    mine = prices({HAIKU: STATED})

    assert mine.cost(HAIKU, Tokens(1, 1)) is not None
    assert mine.cost(HAIKU, Tokens(1, 1, cache_read=1)) is None
    assert mine.cost(HAIKU, Tokens(1, 1, cache_write=1)) is None


def test_the_version_names_the_list_and_what_was_stated() -> None:
    """So that a bill can be checked later: other prices, another version."""
    listed = f"genai-prices/{version('genai-prices')}"
    versions = {
        prices().version,
        prices({HAIKU: STATED}).version,
        prices({HAIKU: {**STATED, "output": "11"}}).version,
        prices({HAIKU_ARN: STATED}).version,
    }

    assert prices().version == listed
    assert len(versions) == 4
    assert all(one.startswith(listed) for one in versions)


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0},
        {"inputTokens": None, "outputTokens": 5},
        {"inputTokens": -1, "outputTokens": 5},
        {"inputTokens": 1.5, "outputTokens": 5},
        {"inputTokens": "7", "outputTokens": 5},
        {"inputTokens": True, "outputTokens": 5},
        {"inputTokens": 7, "outputTokens": 5, "cacheReadInputTokens": -7},
    ],
)
def test_a_model_that_reports_nothing_used_an_unknown_number_of_tokens(usage: dict[str, Any]) -> None:
    """Unknown is not zero, nor is what cannot be: what was set aside for the call then counts."""
    assert Tokens.of(usage) is None


def test_a_report_that_contradicts_itself_loses_no_token() -> None:
    """More cached tokens than input tokens: then they were not part of it."""
    usage = {"inputTokens": 10, "outputTokens": 1, "cacheReadInputTokens": 11}

    assert Tokens.of(usage, cache_in_input=True) == Tokens(10, 1, 11)


def test_prices_come_from_the_package_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No price is worth a connection."""

    def refuse(*_args: object, **_kwargs: object) -> None:
        pytest.fail("a price was asked for over the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    assert prices().cost(HAIKU, Tokens(1, 1)) == 6_600
    assert prices().cost("a-model-of-tomorrow", Tokens(1, 1)) is None


REPLACED = """
from datetime import UTC, datetime
from genai_prices.data_snapshot import DataSnapshot, set_custom_snapshot
from agent_image.guard.prices import Prices, Tokens

set_custom_snapshot(DataSnapshot([], from_auto_update=True))
print(Prices({}, lambda: datetime(2026, 11, 30, tzinfo=UTC)).cost("us.amazon.nova-lite-v1:0", Tokens(1_000)))
"""


def test_a_list_that_somebody_replaced_in_the_process_is_not_used() -> None:
    """The version names the installed package: prices that were downloaded over it would go by a false name."""
    ran = subprocess.run([sys.executable, "-c", REPLACED], capture_output=True, text=True, cwd=ROOT, check=True)

    assert ran.stdout == "60000\n"
