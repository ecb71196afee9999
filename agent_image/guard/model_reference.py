"""Tell from a model's reference who charges for it, under which name, and how that one counts cached tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Charger:
    """Say who charges for the models of one scheme.

    Attributes:
        provider: its name in the price list; None where nobody charges.
        cache_in_input: its count of input tokens includes those that a cache held or took.
    """

    provider: str | None
    cache_in_input: bool = False


_BEDROCK: Final = Charger("aws")
CHARGERS: Final[Mapping[str, Charger]] = MappingProxyType(
    {
        "arn": _BEDROCK,
        "bedrock": _BEDROCK,
        "anthropic": Charger("anthropic"),
        "gemini": Charger("google", cache_in_input=True),
        "litellm": Charger("litellm", cache_in_input=True),
        "mistral": Charger("mistral", cache_in_input=True),
        "openai": Charger("openai", cache_in_input=True),
        "offline": Charger(None),
        "ollama": Charger(None),
    }
)
"""Who charges, by the scheme of a reference; what has no known scheme is a model id of Bedrock."""

CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "AnthropicModel": "anthropic",
        "GeminiModel": "gemini",
        "LiteLLMModel": "litellm",
        "MistralModel": "mistral",
        "OllamaModel": "ollama",
        "OpenAIModel": "openai",
    }
)
"""The schemes of Strands' model classes whose configuration names a model without saying whose."""

# Profiles of an application, provisioned, imported and custom models have ids of their own, that say no model.
_NAMED_BY_ARN: Final = re.compile(r"arn:aws[a-z-]*:bedrock:[^:]*:[^:]*:(?:foundation-model|inference-profile)/(.+)")


@dataclass(frozen=True, slots=True)
class Reference:
    """Hold a reference, taken apart.

    Attributes:
        names: what a price may be stated under, the whole reference first.
        model: the name in the provider's price list; None where the reference does not tell it.
    """

    charger: Charger
    names: tuple[str, ...]
    model: str | None
    provider: str | None

    @classmethod
    def of(cls, text: str) -> Reference:
        """Take a reference apart: a URL such as `bedrock://…`, an ARN, or a model id of Bedrock."""
        scheme = text.partition(":")[0]
        charger = CHARGERS.get(scheme, _BEDROCK)
        bare = text.removeprefix(f"{scheme}://")
        if charger is _BEDROCK:
            model = _of_bedrock(bare)
            return cls(charger, _distinct(text, bare, model), model, charger.provider)
        if scheme == "litellm":
            provider, _, model = bare.partition("/")
            return cls(charger, _distinct(text, bare, model), model or None, provider)
        return cls(charger, _distinct(text, bare), bare, charger.provider)


def reference_for(model_class: str, model_id: str) -> str:
    """Write the reference of a model that Strands calls, from its class and the id in its configuration."""
    scheme = CLASSES.get(model_class)
    return model_id if scheme is None else f"{scheme}://{model_id}"


def _of_bedrock(text: str) -> str | None:
    if not text.startswith("arn:"):
        return text
    named = _NAMED_BY_ARN.fullmatch(text)
    return named[1] if named else None


def _distinct(*names: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))
