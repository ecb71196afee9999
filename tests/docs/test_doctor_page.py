"""What the page about the doctor says is what the code does."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from console.cli import app
from console.doctor.canary_talk import WAIT_SECONDS
from console.doctor.check import State, examine
from console.doctor.checks import CHECKS
from console.doctor.first_deploy import document, walk
from console.doctor.open_points import POINTS
from console.doctor.show import document as results
from tests.conftest import ROOT
from tests.console.doctor.healthy import DECLARED, HEALTHY, NOW

PAGE = (ROOT / "docs" / "doctor.md").read_text()
KEYS = r'"(\w+)"'


def rows(heading: str) -> list[str]:
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| `")]


def test_every_check_is_listed_as_it_is() -> None:
    """In order, with what it looks at and why."""
    assert rows("The checks") == [f"| `{check.name}` | {check.looks_at} | {check.why} |" for check in CHECKS]


def test_every_open_point_is_listed_as_it_is() -> None:
    """In order, with its question."""
    assert rows("The first deployment") == [f"| `{point.name}` | {point.asks} |" for point in POINTS]


def test_every_state_is_explained() -> None:
    """In the order in which results are shown."""
    assert re.findall(r"^\| `(\w+)` \|", "\n".join(rows("What comes of a check")), re.MULTILINE) == [*State]


def test_the_checks_that_are_skipped_are_those_of_cloudwatch() -> None:
    """As the page counts them."""
    elsewhere = examine(CHECKS, replace(DECLARED, destination="https://otel.example.com"), HEALTHY)
    skipped = {one.check.name for one in elsewhere if one.result.state is State.SKIPPED}

    assert skipped == {"transaction-search", "indexing", "xray-policy", "policy-quota", "role", "spans", "canary"}
    assert "Transaction Search, indexing, X-Ray's policy, the quota, the\nrole and the spans are skipped" in PAGE


def test_the_keys_of_the_json_are_those_that_are_written() -> None:
    """Of the object, of a check, of a point."""
    section = PAGE.partition("## JSON")[2]
    whole, check, point = (re.findall(KEYS, text) for text in re.findall(r"`(\{.*?\})`", section, re.DOTALL))
    built = results(DECLARED, NOW, examine(CHECKS, DECLARED, HEALTHY))

    assert whole == [*built]
    assert check == [*built["checks"][0]]
    assert point == [*document(walk(POINTS, DECLARED, HEALTHY), DECLARED)[0]]


def test_the_canary_waits_as_long_as_the_page_says() -> None:
    """In seconds."""
    assert f"waits up to {WAIT_SECONDS} seconds" in PAGE


@pytest.mark.parametrize("option", ["--canary", "--first-deploy", "--json", "--environment"])
def test_every_option_is_on_the_page(option: str) -> None:
    """And no other is."""
    (command,) = [one for one in app.registered_commands if one.name == "doctor"]
    assert command.callback is not None
    declared = {f"--{name.removeprefix('as_').replace('_', '-')}" for name in command.callback.__annotations__} - {
        "--return"
    }

    assert option in PAGE
    assert declared == set(re.findall(r"--[a-z-]+", PAGE.partition("```sh")[2].partition("```")[0]))
