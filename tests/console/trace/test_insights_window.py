"""A search begins with what is new, and goes back as far as it has to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.trace.insights.window import MILLISECOND, Window, Windows, around, leaves_open, points_back, windows
from tests.console.trace import trails

NOW = datetime(2026, 3, 14, 12, 0, 0, 123_456, tzinfo=UTC)
CUT = NOW.replace(microsecond=123_000)
LENGTHS = st.timedeltas(min_value=timedelta(seconds=1), max_value=timedelta(days=4000))


def lengths(found: tuple[Window, ...]) -> list[timedelta]:
    return [CUT - window.start for window in found]


def test_windows_widen_up_to_the_retention() -> None:
    """Three hours, a day, a week, thirty days, and all that the group keeps."""
    found = windows(NOW, None, timedelta(days=90))

    assert lengths(found.first) == [timedelta(hours=3), *(timedelta(days=days) for days in (1, 7, 30, 90))]
    assert found.further == ()
    assert [found.is_indexed(window) for window in found.first] == [True, True, True, True, False]


def test_nothing_is_searched_beyond_the_retention() -> None:
    """A group that keeps its lines for seven days has none older."""
    assert lengths(windows(NOW, None, timedelta(days=7)).first)[-1] == timedelta(days=7)
    assert lengths(windows(NOW, None, timedelta(days=30)).first)[-1] == timedelta(days=30)


def test_since_is_searched_at_once_and_the_rest_only_where_something_points_to_it() -> None:
    """A person knows when it was."""
    found = windows(NOW, NOW - timedelta(days=2), timedelta(days=30))

    assert lengths(found.first) == [timedelta(days=2)]
    assert lengths(found.further) == [timedelta(days=7), timedelta(days=30)]


def test_since_before_the_index_is_searched_in_two() -> None:
    """An index leads to the newer part."""
    found = windows(NOW, NOW - timedelta(days=50), timedelta(days=90))

    assert lengths(found.first) == [timedelta(days=30), timedelta(days=50)]
    assert [found.is_indexed(window) for window in found.first] == [True, False]
    assert lengths(found.further) == [timedelta(days=90)]


def every(found: Windows) -> list[Window]:
    return [*found.first, *found.further]


@given(since=st.none() | LENGTHS, retention=st.none() | LENGTHS)
def test_windows_follow_each_other_without_gap_or_overlap(since: timedelta | None, retention: timedelta | None) -> None:
    """Each millisecond is read once."""
    found = windows(NOW, None if since is None else NOW - since, retention)

    assert found.first[0].end == CUT
    assert all(window.start <= window.end for window in every(found))
    assert all(later.start - MILLISECOND == earlier.end for later, earlier in pairwise(every(found)))
    assert found.whole == Window(found.first[-1].start, CUT)


@given(length=st.integers(0, 10_000_000))
def test_halves_make_up_the_whole(length: int) -> None:
    """A single millisecond has none."""
    window = Window(CUT, CUT + length * MILLISECOND)
    halves = window.halves()

    if length == 0:
        assert halves is None
    else:
        assert halves is not None
        first, second = halves
        assert (first.start, second.end) == (window.start, window.end)
        assert first.start <= first.end < second.start <= second.end
        assert second.start - first.end == MILLISECOND


def test_a_whole_session_points_nowhere() -> None:
    """Its first event is among it, and every trace that is linked to."""
    assert not points_back(trails.story())


def test_a_missing_first_event_points_back() -> None:
    """The chain counts from 1."""
    assert points_back(trails.suspended())


def test_a_link_to_a_trace_that_is_not_there_points_back() -> None:
    """A resume names the paused run."""
    resumed = [one for one in trails.resumed() if "traceId" in one]

    assert points_back([*resumed, trails.event("run_started", 1)])
    assert not points_back([*resumed, *trails.suspended(), trails.event("run_started", 1)])


def test_chains_beside_the_session_s_do_not_count() -> None:
    """A decision is a chain of its own, and always begins at 1."""
    assert points_back([trails.event("decision", 1, chain="decision-1"), trails.event("gate", 9)])


def test_spans_without_any_event_may_have_earlier_ones() -> None:
    """Nobody can tell."""
    spans = [trails.invocation("prompt", "run-1", "i1")]

    assert leaves_open(spans)
    assert leaves_open([*spans, trails.event("decision", 1, chain="decision-1")])
    assert not leaves_open([*spans, trails.event("gate", 9)])
    assert not leaves_open([trails.span("x", "x1", session_id="")])
    assert not points_back(spans)


@pytest.mark.parametrize("strange", [{}, {"attributes": 7}, {"links": "x"}, {"seq": "1", "chain": "session"}])
def test_strange_lines_are_passed_over(strange: dict[str, object]) -> None:
    """Nothing raises."""
    assert not points_back([strange, *trails.asked()])


def test_a_window_around_moments_has_a_margin() -> None:
    """The spans of a session stand close to its events."""
    assert around([], timedelta(minutes=1)) is None
    assert around([CUT, CUT - timedelta(hours=1)], timedelta(minutes=1)) == Window(
        CUT - timedelta(minutes=61), CUT + timedelta(minutes=1)
    )
