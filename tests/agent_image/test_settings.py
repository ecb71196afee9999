"""The settings document is read once, whole, and every fault is said at once."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from agent_image.contract import CAPTURE_VARIABLE, SETTINGS_VARIABLE, Regime
from agent_image.errors import SettingsError
from agent_image.settings import load, parse

LEAST: dict[str, Any] = {"environment": "dev", "models": ["offline:"]}


def unread(uri: str) -> str:
    pytest.fail(f"{uri} was fetched")


def variables(document: object, capture: str = "address") -> dict[str, str]:
    return {SETTINGS_VARIABLE: json.dumps(document), CAPTURE_VARIABLE: capture}


def test_what_is_left_out_has_its_default() -> None:
    """A document needs an environment and a model, no more."""
    settings = load(variables(LEAST), unread)

    assert settings.environment == "dev"
    assert settings.capture is Regime.ADDRESS
    assert settings.models == ("offline:",)
    assert settings.knowledge_base is None
    assert settings.destination == "cloudwatch"
    assert settings.top_k == 5
    assert settings.kept_sessions == 1


def test_numbers_stay_exact() -> None:
    """A share of sessions is a decimal, as it was written."""
    settings = load(
        {SETTINGS_VARIABLE: '{"environment":"e","models":["m"],"kept_sessions":0.1}', CAPTURE_VARIABLE: "metadata"},
        unread,
    )

    assert settings.kept_sessions == Decimal("0.1")


def test_a_long_document_is_fetched_from_its_object() -> None:
    """The variable then holds the object's place, not the document."""
    place = "s3://bucket/settings/settings.json?versionId=abc"

    settings = load({SETTINGS_VARIABLE: place, CAPTURE_VARIABLE: "archive"}, {place: json.dumps(LEAST)}.__getitem__)

    assert settings.environment == "dev"


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "RASTRO_SETTINGS is not set"),
        ("{", "RASTRO_SETTINGS is not JSON"),
        ("[]", "RASTRO_SETTINGS is list"),
        ('{"environment":"e"}', "models is missing"),
        ('{"environment":"e","models":[]}', "models is []"),
        ('{"environment":" ","models":["m"]}', "environment is ' '"),
        ('{"environment":"e","models":["m"],"top_k":0}', "top_k is 0; allowed: a whole number from 1 to 100"),
        ('{"environment":"e","models":["m"],"top_k":true}', "top_k is True"),
        ('{"environment":"e","models":["m"],"kept_sessions":1.5}', "kept_sessions is Decimal('1.5')"),
        ('{"environment":"e","models":["m"],"prune_event_loop":1}', "prune_event_loop is 1; allowed: true or false"),
        ('{"environment":"e","models":["m"],"guard":[]}', "guard is []"),
        ('{"environment":"e","models":["m"],"hooks":"a.yaml"}', "hooks is 'a.yaml'; allowed: an object"),
        ('{"environment":"e","models":["m"],"colour":"red"}', "'colour' is no setting"),
    ],
)
def test_a_faulty_document_is_refused(value: str, fault: str) -> None:
    """The fault names the key, the value and what is allowed."""
    with pytest.raises(SettingsError) as refused:
        load({SETTINGS_VARIABLE: value, CAPTURE_VARIABLE: "address"}, unread)

    assert fault in str(refused.value)


@pytest.mark.parametrize("capture", [None, "", "everything", "Content"])
def test_an_unknown_regime_is_refused(capture: str | None) -> None:
    """Nothing starts in a regime that was not chosen."""
    with pytest.raises(SettingsError, match="allowed: metadata, address, archive, content"):
        parse(LEAST, capture)


def test_every_fault_is_said_at_once() -> None:
    """Whoever mends a document mends it once."""
    with pytest.raises(SettingsError) as refused:
        parse({"models": [], "top_k": 1000, "destination": ""}, "none")

    assert len(refused.value.faults) == 5
