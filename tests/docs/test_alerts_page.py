"""What the page about alerts says is what the code does."""

from __future__ import annotations

import json
import re

import pytest

from agent_image.contract import GuardSetting
from agent_image.guard import anomalies, loops, monologue, outbox, pace, spending
from agent_image.guard.alerts import document
from agent_image.guard.findings import POLLS_UNCHANGED, Anomaly, Severity
from tests.agent_image.guard.alarms import alert
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "alerts.md").read_text()


def test_every_kind_and_severity_has_a_row_and_no_other() -> None:
    """A kind that is found is described, and so is one that the gate, the budget or a sweep tells."""
    rows = set(re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE))
    files = (ROOT / "agent_image" / "guard").rglob("*.py")
    told = {kind for file in files for kind in re.findall(r'alert\((?:\w+, )?"([a-z_]+)"', file.read_text())}
    told.add(spending.LIMIT)

    assert len(told) > 5
    assert rows == {*Anomaly, *Severity, *told}


def test_the_object_has_the_fields_that_the_page_shows() -> None:
    """In their order."""
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)

    assert list(json.loads(shown)) == list(document(alert(), "prod"))


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("p = 1 to {} steps", loops.LONGEST),
        ("the same {} times in a row", POLLS_UNCHANGED),
        ("a tool's last {} calls failed", anomalies.OUTCOMES),
        ("of {} at least", anomalies.ENOUGH),
        ("after {} steps", pace.USUAL),
        ("after\n{} attempts", outbox.ATTEMPTS),
        ("waits {} seconds", int(outbox.FIRST_PAUSE.total_seconds())),
    ],
)
def test_numbers_are_those_of_the_code(said: str, number: int) -> None:
    """Each is a constant."""
    assert said.format(number) in PAGE


def test_numbers_in_words_are_those_of_the_code() -> None:
    """Three rounds, three texts, three steps ahead, four deviations, half, a quarter, twice."""
    assert (loops.ROUNDS, monologue.TEXTS, pace.STEPS_AHEAD, pace.DEVIATIONS) == (3, 3, 3, 4)
    assert (anomalies.BAD, anomalies.BETTER, anomalies.STOPS_AT) == (2, 4, 2)
    assert outbox.LONGEST_PAUSE.total_seconds() == 3600


@pytest.mark.parametrize(
    "key",
    [
        GuardSetting.BLOCKED_STREAK,
        GuardSetting.ERROR_STREAK,
        GuardSetting.COST_PER_MINUTE_USD,
        GuardSetting.ALERT_COOLDOWN_MINUTES,
        GuardSetting.WEBHOOK,
        GuardSetting.WEBHOOK_SECRET_ARN,
    ],
)
def test_settings_have_the_names_that_the_contract_gives_them(key: str) -> None:
    """A reader may copy them."""
    assert f"`{key}`" in PAGE
