"""A model's reference tells who charges for it, and under which name the price list knows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.guard.model_reference import CHARGERS, CLASSES, Reference, reference_for
from agent_image.models.by_url import MODELS, Provider
from agent_image.models.offline import MODEL_ID

HAIKU = "us.anthropic.claude-haiku-4-5-20251001-v1:0"


@pytest.mark.parametrize(
    ("reference", "model"),
    [
        (HAIKU, HAIKU),
        (f"bedrock://{HAIKU}", HAIKU),
        (f"arn:aws:bedrock:us-east-1:111122223333:inference-profile/{HAIKU}", HAIKU),
        (f"bedrock://arn:aws:bedrock:us-east-1:111122223333:inference-profile/{HAIKU}", HAIKU),
        ("arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0", "amazon.nova-lite-v1:0"),
        (
            "arn:aws-us-gov:bedrock:us-gov-west-1:111122223333:inference-profile/us-gov.anthropic.claude-opus-5",
            "us-gov.anthropic.claude-opus-5",
        ),
        ("arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/a1b2c3", None),
        ("arn:aws:bedrock:us-east-1:111122223333:provisioned-model/anthropic.claude-opus-5", None),
        ("arn:aws:bedrock:us-east-1:111122223333:imported-model/anthropic.claude-opus-5", None),
        ("arn:aws:bedrock:us-east-1:111122223333:custom-model-deployment/x", None),
        ("arn:aws:s3:::bucket/anthropic.claude-opus-5", None),
    ],
)
def test_bedrock_s_references_lead_to_a_model_id(reference: str, model: str | None) -> None:
    """What has an id of its own says no model: its price is nobody's guess."""
    found = Reference.of(reference)

    assert (found.provider, found.model, found.charger.cache_in_input) == ("aws", model, False)


@pytest.mark.parametrize(
    ("reference", "provider", "model"),
    [
        ("anthropic://claude-haiku-4-5", "anthropic", "claude-haiku-4-5"),
        ("gemini://gemini-2.5-pro", "google", "gemini-2.5-pro"),
        ("mistral://mistral-large-latest", "mistral", "mistral-large-latest"),
        ("openai://gpt-5", "openai", "gpt-5"),
        ("litellm://openai/gpt-5", "openai", "gpt-5"),
        ("litellm://openrouter/openai/gpt-5", "openrouter", "openai/gpt-5"),
        ("litellm://gpt-5", "gpt-5", None),
        ("ollama://localhost:11434/llama3.1", None, "localhost:11434/llama3.1"),
        ("offline:", None, "offline:"),
        (MODEL_ID, None, MODEL_ID),
    ],
)
def test_other_references_name_their_provider(reference: str, provider: str | None, model: str | None) -> None:
    """Nobody charges for what runs on one's own machine."""
    found = Reference.of(reference)

    assert (found.provider, found.model) == (provider, model)


def test_every_scheme_that_builds_a_model_says_who_charges() -> None:
    """A new row of models needs one here; else its models would pass for Bedrock's."""
    assert {row.scheme for row in MODELS} == set(CHARGERS)


def test_a_model_s_class_says_who_charges_for_its_id() -> None:
    """Each provider that a reference may name is known by its class again; Bedrock's ids need none."""
    providers = {row.scheme: row.build.name for row in MODELS if isinstance(row.build, Provider)}

    assert {name: scheme for scheme, name in providers.items()} == CLASSES
    assert reference_for("OpenAIModel", "gpt-5") == "openai://gpt-5"
    assert Reference.of(reference_for("OllamaModel", "llama3.1")).provider is None
    assert reference_for("BedrockModel", HAIKU) == HAIKU
    assert reference_for("OfflineModel", MODEL_ID) == MODEL_ID


def test_some_count_cached_tokens_into_their_input() -> None:
    """As Strands' providers report it."""
    assert {scheme for scheme, charger in CHARGERS.items() if charger.cache_in_input} == {
        *("gemini", "litellm", "mistral", "openai")
    }


def test_a_price_may_be_stated_under_each_name() -> None:
    """The whole reference goes first, then what it leads to."""
    arn = f"arn:aws:bedrock:us-east-1:111122223333:inference-profile/{HAIKU}"

    assert Reference.of(f"bedrock://{arn}").names == (f"bedrock://{arn}", arn, HAIKU)
    assert Reference.of("openai://gpt-5").names == ("openai://gpt-5", "gpt-5")
    assert Reference.of("litellm://openai/gpt-5").names == ("litellm://openai/gpt-5", "openai/gpt-5", "gpt-5")


@given(st.text())
def test_any_text_is_a_reference(text: str) -> None:
    """One that means nothing has no price, and breaks nothing."""
    assert Reference.of(text).names == () if not text else text in Reference.of(text).names
