"""How far to look back is a length of time or a date; anything else is refused, and nothing raises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.errors import BadInputError
from console.since import since_of

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2h", NOW - timedelta(hours=2)),
        (" 90min ", NOW - timedelta(minutes=90)),
        ("7 d", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(weeks=2)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-14T09:30", datetime(2026, 3, 14, 9, 30, tzinfo=UTC)),
        ("2026-03-14T09:30+02:00", datetime(2026, 3, 14, 7, 30, tzinfo=UTC)),
    ],
)
def test_a_length_or_a_date_is_a_moment(text: str, moment: datetime) -> None:
    """A date without a zone is UTC."""
    assert since_of(text, NOW) == moment


def test_nothing_said_is_nothing() -> None:
    """What is usual is the command's own."""
    assert since_of(None, NOW) is None


@pytest.mark.parametrize("text", ["", "2", "h", "-2h", "1.5h", "yesterday", "2026-03-15", "9999-12-31", "999999w"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """Nor is a moment that is still to come."""
    with pytest.raises(BadInputError, match="--since is"):
        since_of(text, NOW)


@given(st.text())
def test_any_text_is_a_time_or_refused(text: str) -> None:
    """Never later than now, and never another error."""
    try:
        moment = since_of(text, NOW)
    except BadInputError:
        return
    assert moment is not None
    assert moment <= NOW
