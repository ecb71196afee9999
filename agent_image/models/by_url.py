"""Build a model from its URL or ARN: one row for each provider, whose package is imported when its row is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import boto3
from botocore.config import Config
from strands.models import BedrockModel, Model

from agent_image.contract import Setting
from agent_image.errors import SettingsError
from agent_image.models.offline import OfflineModel

ANTHROPIC_MAX_TOKENS: Final = 4_096
"""Tokens of one answer at most; this provider wants the number said."""

# An answer may be long in coming. Strands tries throttled calls again itself.
_BOTO: Final = Config(
    connect_timeout=5, read_timeout=120, retries={"mode": "standard", "total_max_attempts": 3}, tcp_keepalive=True
)

Build = Callable[[Mapping[str, str], str | None], Model]
"""Builds a model from the parts of its reference, and the Region of the settings."""


@dataclass(frozen=True, slots=True)
class Row:
    """Say what references of one kind look like, and what they build.

    Attributes:
        form: the reference as a person reads it; what stands before its first colon is the scheme.
        pattern: the reference as a whole, with its parts named.
        build: builds the model.
    """

    form: str
    pattern: re.Pattern[str]
    build: Build

    @property
    def scheme(self) -> str:
        """Give the scheme."""
        return self.form.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Provider:
    """Build a model of one of Strands' providers.

    Attributes:
        module: its module in `strands.models`, which is also the extra that brings its package.
        name: its class.
        arguments: what the class takes, from the parts of the reference.
    """

    module: str
    name: str
    arguments: Callable[[Mapping[str, str]], dict[str, Any]]

    def __call__(self, parts: Mapping[str, str], _region: str | None) -> Model:
        """Import the provider and build its model.

        Raises:
            SettingsError: the provider's package is not installed.
        """
        try:
            provider = getattr(import_module(f"strands.models.{self.module}"), self.name)
        except ImportError:
            needed = f"pip install 'strands-agents[{self.module}]'"
            raise SettingsError(
                [f"{Setting.MODELS}: the package of {self.module} is not installed; {needed}"]
            ) from None
        model: Model = provider(**self.arguments(parts))
        return model


def _bedrock(parts: Mapping[str, str], region: str | None) -> Model:
    found = parts.get("region") or region or boto3.Session().region_name
    if not found:
        # Strands would take a Region of its own choice.
        raise SettingsError([f"{Setting.REGION} is missing; allowed: the AWS Region that serves {parts['model']!r}"])
    return BedrockModel(model_id=parts["model"], region_name=found, boto_client_config=_BOTO, streaming=True)


def _model_id(parts: Mapping[str, str]) -> dict[str, Any]:
    return {"model_id": parts["model"]}


def _row(form: str, pattern: str, build: Build) -> Row:
    return Row(form, re.compile(pattern), build)


MODELS: Final = (
    _row(
        "arn:aws:bedrock:<region>:<account>:<kind>/<id>",
        r"(?P<model>arn:aws[a-z-]*:bedrock:(?P<region>[a-z0-9-]*):[0-9]{0,12}:(?:foundation-model|inference-profile"
        r"|application-inference-profile|provisioned-model|imported-model|custom-model-deployment)/[a-zA-Z0-9._:/-]+)",
        _bedrock,
    ),
    _row("bedrock://<model id>", r"bedrock://(?P<model>[a-zA-Z0-9._:/-]+)", _bedrock),
    _row("offline:", r"offline:", lambda _parts, _region: OfflineModel()),
    _row(
        "anthropic://<model>",
        r"anthropic://(?P<model>\S+)",
        Provider("anthropic", "AnthropicModel", lambda parts: {**_model_id(parts), "max_tokens": ANTHROPIC_MAX_TOKENS}),
    ),
    _row("gemini://<model>", r"gemini://(?P<model>\S+)", Provider("gemini", "GeminiModel", _model_id)),
    _row("litellm://<provider>/<model>", r"litellm://(?P<model>\S+)", Provider("litellm", "LiteLLMModel", _model_id)),
    _row("mistral://<model>", r"mistral://(?P<model>\S+)", Provider("mistral", "MistralModel", _model_id)),
    _row(
        "ollama://<host>:<port>/<model>",
        r"ollama://(?P<host>[^/\s]+)/(?P<model>\S+)",
        Provider("ollama", "OllamaModel", lambda parts: {**_model_id(parts), "host": f"http://{parts['host']}"}),
    ),
    _row("openai://<model>", r"openai://(?P<model>\S+)", Provider("openai", "OpenAIModel", _model_id)),
)
"""Providers read their keys from the variables that their own packages name, such as ANTHROPIC_API_KEY."""


def model_for(reference: str, region: str | None = None) -> Model:
    """Build the model that a reference names; `region` serves Bedrock models whose reference names none.

    Raises:
        SettingsError: the reference has no known form, no Region is known, or the provider's package is not installed.
    """
    for row in MODELS:
        if parts := row.pattern.fullmatch(reference):
            return row.build(parts.groupdict(), region)
    meant = [row.form for row in MODELS if reference.startswith(f"{row.scheme}:")]
    allowed = ", ".join(meant or [row.form for row in MODELS])
    raise SettingsError([f"{Setting.MODELS} holds {reference!r}; allowed: {allowed}"])
