"""A reference names a model; what it does not name is said."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import strands.models
from strands.models import BedrockModel

from agent_image.errors import SettingsError
from agent_image.models.by_url import MODELS, Provider, model_for
from agent_image.models.offline import OfflineModel

ACCOUNT = "arn:aws:bedrock:eu-central-1:111122223333"
PROFILE = f"{ACCOUNT}:inference-profile/eu.anthropic.claude-sonnet-4-6"
PROVIDERS = [row for row in MODELS if isinstance(row.build, Provider)]
INSTALLED = Path(strands.models.__file__).parent


@pytest.fixture(autouse=True)
def no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))


def bedrock(reference: str, region: str | None) -> BedrockModel:
    model = model_for(reference, region)
    assert isinstance(model, BedrockModel)
    model.client.close()
    return model


@pytest.mark.parametrize(
    ("reference", "region", "model_id", "found"),
    [
        (PROFILE, "us-east-1", PROFILE, "eu-central-1"),
        (PROFILE, None, PROFILE, "eu-central-1"),
        (
            "arn:aws:bedrock:us-west-2::foundation-model/amazon.nova-micro-v1:0",
            None,
            "arn:aws:bedrock:us-west-2::foundation-model/amazon.nova-micro-v1:0",
            "us-west-2",
        ),
        (
            "arn:aws:bedrock:::foundation-model/amazon.nova-micro-v1:0",
            "eu-west-1",
            "arn:aws:bedrock:::foundation-model/amazon.nova-micro-v1:0",
            "eu-west-1",
        ),
        (f"{ACCOUNT}:application-inference-profile/abc123", None, f"{ACCOUNT}:application-inference-profile/abc123",
         "eu-central-1"),
        ("bedrock://eu.amazon.nova-lite-v1:0", "eu-west-3", "eu.amazon.nova-lite-v1:0", "eu-west-3"),
    ],
)  # fmt: skip
def test_a_bedrock_model_is_called_in_its_own_region(
    reference: str, region: str | None, model_id: str, found: str
) -> None:
    """The ARN's Region goes before that of the settings; answers are streamed; no call hangs for ever."""
    model = bedrock(reference, region)

    assert (model.config["model_id"], model.config["streaming"]) == (model_id, True)
    assert model.client.meta.region_name == found
    config = model.client.meta.config
    assert (config.connect_timeout, config.read_timeout) == (5, 120)
    assert config.retries == {"mode": "standard", "total_max_attempts": 3}


def test_a_region_of_the_machine_serves_where_none_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A laptop's own AWS configuration counts last."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "sa-east-1")

    assert bedrock("bedrock://amazon.nova-lite-v1:0", None).client.meta.region_name == "sa-east-1"


def test_without_a_region_no_model_is_called() -> None:
    """Strands would go to a Region of its own choice."""
    with pytest.raises(SettingsError, match="region is missing; allowed: the AWS Region that serves 'amazon"):
        model_for("bedrock://amazon.nova-lite-v1:0", None)


def test_the_offline_model_has_a_url_too() -> None:
    """It needs nothing."""
    assert isinstance(model_for("offline:", None), OfflineModel)


@pytest.mark.parametrize("reference", ["claude", "", "ftp://x", "http://localhost/x", "OFFLINE:", "offline: "])
def test_an_unknown_reference_is_answered_with_what_is_allowed(reference: str) -> None:
    """Every form is listed, with the value that has none of them."""
    with pytest.raises(SettingsError) as refused:
        model_for(reference, None)

    (fault,) = refused.value.faults
    assert repr(reference) in fault
    if not reference.startswith("offline"):
        assert all(row.form in fault for row in MODELS)


@pytest.mark.parametrize(
    ("reference", "form"),
    [
        ("ollama://llama3.2", "ollama://<host>:<port>/<model>"),
        ("bedrock://", "bedrock://<model id>"),
        ("arn:aws:s3:::bucket", "arn:aws:bedrock:<region>:<account>:<kind>/<id>"),
        ("offline://x", "offline:"),
    ],
)
def test_a_known_scheme_is_answered_with_its_own_form(reference: str, form: str) -> None:
    """Who meant that provider needs no list of the others."""
    with pytest.raises(SettingsError) as refused:
        model_for(reference, "eu-west-1")

    assert refused.value.faults == (f"models holds {reference!r}; allowed: {form}",)


def test_a_provider_that_is_not_installed_is_said_with_what_installs_it() -> None:
    """A laptop installs what it uses; the image brings Bedrock alone."""
    with pytest.raises(SettingsError, match=r"pip install 'strands-agents\[ollama\]'"):
        model_for("ollama://localhost:11434/llama3.2:3b", None)


@pytest.mark.parametrize(
    ("reference", "arguments"),
    [
        ("ollama://localhost:11434/hf.co/x/y:q4", {"host": "http://localhost:11434", "model_id": "hf.co/x/y:q4"}),
        ("anthropic://claude-sonnet-4-6", {"model_id": "claude-sonnet-4-6", "max_tokens": 4_096}),
        ("litellm://groq/llama-3.3-70b", {"model_id": "groq/llama-3.3-70b"}),
    ],
)
def test_a_provider_gets_the_parts_of_its_reference(reference: str, arguments: dict[str, object]) -> None:
    """What stands behind the host is the model, slashes and colons and all."""
    (row,) = [row for row in PROVIDERS if reference.startswith(f"{row.scheme}:")]
    parts = row.pattern.fullmatch(reference)

    assert parts
    assert isinstance(row.build, Provider)
    assert row.build.arguments(parts.groupdict()) == arguments


@pytest.mark.parametrize("row", PROVIDERS, ids=lambda row: row.scheme)
def test_a_provider_is_what_the_installed_strands_holds(row: object) -> None:
    """Its class is there, and takes what it is given; read from the source, for its package may not be installed."""
    build = row.build  # type: ignore[attr-defined]
    source = ast.parse((INSTALLED / f"{build.module}.py").read_text())
    (provider,) = [node for node in source.body if isinstance(node, ast.ClassDef) and node.name == build.name]
    initialiser = next(node for node in provider.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    config = next(node for node in provider.body if isinstance(node, ast.ClassDef) and node.name.endswith("Config"))
    keys = {
        node.target.id for node in config.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    names = {argument.arg for argument in [*initialiser.args.args, *initialiser.args.kwonlyargs]}

    given = build.arguments({"model": "m", "host": "h"})
    assert set(given) <= keys | names
    assert {"model_id"} <= keys
