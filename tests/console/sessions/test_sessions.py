"""Recent sessions are listed with how each fared; what is unknown is no figure, and filters take what they say."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent_image.contract import Outcome, Verdict
from console.cli import app
from console.sessions import listing
from console.sessions.standing import Filter, ordered, standing
from console.table import plain
from console.trace.session import Session
from tests.console.trace import trails
from tests.console.trace.sessions import ASKED, FEEDBACK, RESUMED, SESSION, SUSPENDED
from tests.console.trace.test_trails import in_folder


def test_a_session_is_summed_up() -> None:
    """The last turn's outcome, what is known of the cost, what the guard did, what people said."""
    found = standing(SESSION)

    assert (found.turns, found.outcome, found.cost_usd, found.unpriced) == (3, "completed", Decimal("0.00445"), 1)
    assert found.outcomes == {"completed", "suspended"}
    assert found.guard == {"asked": 1, "approved": 1, "alerts": 1}
    assert found.verdicts == ("bad",)
    assert found.last == FEEDBACK.started


def test_one_checkpoint_is_counted_once() -> None:
    """Though a decision and the call that follows both tell of it."""
    twice = replace(RESUMED, steps=(*RESUMED.steps, RESUMED.steps[0]))

    assert standing(replace(SESSION, turns=(twice,))).guard == {"approved": 1, "alerts": 1}


def test_a_row_says_at_least_and_unknown() -> None:
    """An unknown cost is no 0."""
    unpriced = replace(SESSION, id="b", turns=(replace(ASKED, cost_usd=None),))
    rows = listing.table([standing(SESSION), standing(unpriced)]).rows

    assert rows[0][4:] == ("at least 0.00445", "1 asked, 1 approved, 1 alerts", "bad")
    assert rows[1][4:] == ("unknown", "", "")


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        (Filter(), True),
        (Filter(outcome=Outcome.SUSPENDED), True),
        (Filter(outcome=Outcome.FAILED), False),
        (Filter(feedback=Verdict.BAD), True),
        (Filter(feedback=Verdict.GOOD), False),
        (Filter(guarded=True), True),
        (Filter(min_cost_usd=Decimal("0.00445")), True),
        (Filter(min_cost_usd=Decimal("0.01")), False),
    ],
)
def test_a_filter_takes_what_it_says(wanted: Filter, taken: bool) -> None:  # noqa: FBT001
    """Each for itself."""
    assert wanted.takes(standing(SESSION)) is taken


def test_what_is_not_known_meets_no_filter() -> None:
    """No cost is not enough cost, and a quiet guard did nothing."""
    quiet = standing(replace(SESSION, turns=(replace(ASKED, cost_usd=None),)))

    assert not Filter(min_cost_usd=Decimal(0)).takes(quiet)
    assert not Filter(guarded=True).takes(quiet)


def test_who_ran_last_stands_first() -> None:
    """And what has no time last."""
    early = replace(SESSION, id="early", turns=(ASKED,))
    late = replace(SESSION, id="late", turns=(SUSPENDED,))
    never = Session("never", turns=(replace(ASKED, started=None),))

    assert [one.session_id for one in ordered([standing(one) for one in (never, early, late)])] == [
        "late",
        "early",
        "never",
    ]


def test_a_list_steers_no_terminal() -> None:
    """Ids are foreign."""
    assert "\x1b" not in plain(listing.table([standing(replace(SESSION, id="\x1b[2J"))]))


def listed(state: Path, *arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["sessions", "--state", str(state), *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def state(tmp_path: Path) -> Path:
    in_folder(tmp_path, trails.story())
    return tmp_path


def since(state: Path, *arguments: str) -> dict[str, Any]:
    status, out, err = listed(state, "--since", "2026-03-14", "--json", *arguments)
    assert (status, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_command_lists_a_folder(state: Path) -> None:
    """A table for people, with the command that leads on; an object for programs."""
    status, out, _ = listed(state, "--since", "2026-03-14")
    rows = out.splitlines()

    assert status == 0
    assert rows[2].split("  ")[0] == trails.SESSION_ID
    assert rows[2].rstrip().endswith("completed  0.015  1 asked, 1 approved")
    assert rows[4:] == ["1 session", f"rastro trace --session {trails.SESSION_ID} --state {state}"]
    assert since(state)["sessions"] == [
        {
            "session_id": trails.SESSION_ID,
            "started": "2026-03-14T03:00:00.100Z",
            "last": "2026-03-14T03:10:00.100Z",
            "turns": 3,
            "outcome": "completed",
            "outcomes": ["completed", "suspended"],
            "cost_usd": "0.015",
            "unpriced_turns": 0,
            "guard": {"asked": 1, "approved": 1},
            "feedback": [],
        }
    ]


def test_filters_reach_the_command(state: Path) -> None:
    """And nothing found is said."""
    assert since(state, "--outcome", "suspended", "--guarded", "--min-cost", "0.015")["sessions"]
    assert since(state, "--min-cost", "0.02")["sessions"] == []
    assert "no session of that time is like that" in listed(state, "--since", "2026-03-14", "--feedback", "good")[1]


def test_a_limit_says_how_many_more_there_are(state: Path) -> None:
    """Those that ran last are kept."""
    begun = timedelta(hours=1).total_seconds()
    other = trails.invocation("prompt", "run-8", "i8", trace_id="e5" * 16, session_id="later", start=begun)
    in_folder(state, [*trails.story(), other])
    found = since(state, "--limit", "1")

    assert ([one["session_id"] for one in found["sessions"]], found["more"]) == (["later"], 1)


@pytest.mark.parametrize("amount", ["much", "-1", "NaN", "inf", ""])
def test_an_amount_that_is_none_is_refused(state: Path, amount: str) -> None:
    """With what is allowed."""
    status, out, err = listed(state, "--min-cost", amount)

    assert (status, out) == (2, "")
    assert "allowed: an amount in USD" in err
