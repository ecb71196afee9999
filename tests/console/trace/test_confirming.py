"""Nothing that costs runs unasked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
import typer
from typer.testing import CliRunner

from console.errors import BadInputError
from console.trace.confirming import confirming, size, told
from console.trace.plan import Plan

END = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
PLAN = Plan("the answer", (END - timedelta(hours=3), END), indexed=False, bytes=3 * 2**30, cost_usd=Decimal("0.015"))


def test_a_plan_is_told_in_one_line() -> None:
    """What for, from when until when, how much at most, for how much."""
    assert told(PLAN) == (
        "the answer, 2026-03-14 09:00 to 2026-03-14 12:00 UTC: no index leads to the lines, so all are read; "
        "at most 3.0 GB; 0.02 USD at most"
    )


def test_what_is_unknown_is_said_to_be() -> None:
    """Never 0."""
    text = told(replace(PLAN, bytes=None, cost_usd=None))

    assert "how much it reads is not known; what it costs is not known" in text


def test_a_small_cost_is_not_nothing() -> None:
    """It is rounded up, and only nothing is nothing."""
    assert told(replace(PLAN, bytes=5, cost_usd=Decimal("0.0000001"))).endswith("5 bytes; 0.01 USD at most")
    assert told(replace(PLAN, bytes=0, cost_usd=Decimal(0))).endswith("0 bytes; 0.00 USD at most")


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1023, "1,023 bytes"), (1536, "1.5 KB"), (2**30, "1.0 GB"), (5000 * 2**40, "5,000.0 TB")],
)
def test_sizes_are_told_in_the_unit_that_leaves_few_digits(count: int, text: str) -> None:
    """A KB is 1,024 bytes."""
    assert size(count) == text


def asked(*, yes: bool, terminal: bool, answer: str = "") -> tuple[str, str, int]:
    app = typer.Typer()

    @app.command()
    def command() -> None:
        typer.echo(f"agreed: {confirming(yes=yes, is_terminal=lambda: terminal)(PLAN)}")

    done = CliRunner().invoke(app, input=answer)
    return done.stdout, done.stderr, done.exit_code


@pytest.mark.parametrize(("answer", "agreed"), [("y\n", "True"), ("n\n", "False"), ("\n", "False")])
def test_a_person_is_asked_and_silence_is_a_no(answer: str, agreed: str) -> None:
    """The question is no part of the output."""
    stdout, stderr, _ = asked(yes=False, terminal=True, answer=answer)

    assert f"agreed: {agreed}" in stdout
    assert "0.02 USD at most. Go on? [y/N]" in stderr


def test_yes_tells_and_goes_on() -> None:
    """A script's output stays clean, and its log says what was read."""
    stdout, stderr, _ = asked(yes=True, terminal=False)

    assert stdout == "agreed: True\n"
    assert stderr == f"{told(PLAN)}\n"


def test_without_anybody_to_ask_it_takes_a_yes() -> None:
    """The refusal says what would have been read, and how to allow it."""
    with pytest.raises(BadInputError, match=r"at most 3.0 GB.*--yes allows it") as refused:
        confirming(yes=False, is_terminal=lambda: False)(PLAN)

    assert refused.value.status == 2


def test_a_plan_steers_no_terminal() -> None:
    """What it is for may hold what somebody pasted."""
    stray = replace(PLAN, what="\x1b[2J\nx")
    with pytest.raises(BadInputError) as refused:
        confirming(yes=False, is_terminal=lambda: False)(stray)

    assert str(refused.value).startswith("\\x1b[2J\\nx, ")
