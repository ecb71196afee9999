"""No row is lost behind a limit, and what cannot be read is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.trace.insights import paging, query
from console.trace.insights.paging import Found
from console.trace.insights.results import Row
from console.trace.insights.running import PAGE_ROWS, Asked, End, Ended, Runner
from console.trace.insights.window import MILLISECOND, Window
from tests.console.trace import trails
from tests.console.trace.cloud import GROUP, NOW, Cloud

WINDOW = Window(NOW - timedelta(hours=3), NOW)
ASKED = Asked(GROUP, query.of_sessions([trails.SESSION_ID]), WINDOW)


def read(cloud: Cloud) -> Found:
    return paging.read(cloud.runner(), [ASKED])


def codes(found: Found) -> list[str]:
    return [note.code for note in found.notes if note.partial]


def store_events(cloud: Cloud, count: int, *, every: float) -> None:
    cloud.store([trails.event("llm_call", number + 1, after=every * number) for number in range(count)])


def pointers(found: Found) -> set[str]:
    return {row.pointer for row in found.rows}


@pytest.fixture
def small(cloud: Cloud) -> Cloud:
    """Make an endpoint with the old limit: 10,000 rows a query, and none behind them."""
    cloud.insights.most_rows = PAGE_ROWS
    return cloud


def test_rows_beyond_the_limit_are_read_by_further_queries(small: Cloud) -> None:
    """They go on where the last one ended, and no row comes twice."""
    store_events(small, 10_200, every=0.002)

    found = read(small)

    assert len(found.rows) == len(pointers(found)) == 10_200
    assert codes(found) == []
    assert len(small.insights.queries) == 3


def test_an_endpoint_that_gives_one_page_alone_hides_nothing(cloud: Cloud) -> None:
    """It takes the limit, gives fewer rows and does not say that there are others."""
    cloud.insights.plant.knows_no_pages = True
    store_events(cloud, 10_200, every=0.002)

    found = read(cloud)

    assert len(found.rows) == len(pointers(found)) == 10_200
    assert codes(found) == []


def test_a_millisecond_with_more_rows_than_the_limit_is_said(small: Cloud) -> None:
    """Nothing is finer than a millisecond, so the rest of it cannot be asked for; what comes later can."""
    store_events(small, 10_010, every=0)
    store_events(small, 5, every=1)

    found = read(small)

    assert codes(found) == ["rows_missing"]
    assert "holds 10000 lines and may hold more" in found.notes[0].text
    assert len(pointers(found)) == 10_000 + 4


class Limited(Runner):
    """Give so many rows a query, out of rows by their milliseconds."""

    def __init__(self, moments: list[int], limit: int) -> None:
        self._moments = sorted(moments)
        self._limit = limit

    def run(self, asked: Sequence[Asked]) -> list[Ended]:
        return [self._ended(one) for one in asked]

    def _ended(self, asked: Asked) -> Ended:
        rows = tuple(
            Row(at, "{}", str(number))
            for number, moment in enumerate(self._moments)
            if asked.window.start <= (at := WINDOW.start + moment * MILLISECOND) <= asked.window.end
        )[: self._limit]
        return Ended(asked, End.COMPLETE, rows, full=len(rows) == self._limit)


@given(moments=st.lists(st.integers(0, 12), max_size=40), limit=st.integers(1, 6))
def test_every_row_is_read_once_whatever_the_limit(moments: list[int], limit: int) -> None:
    """Only a millisecond that fills a whole answer may hide some, and then that is said."""
    found = paging.read(Limited(moments, limit), [ASKED])

    crowded = {moment for moment, count in Counter(moments).items() if count >= limit}
    read = [row.at for row in found.rows]
    assert len(found.rows) == len(pointers(found))
    assert bool(crowded) == bool(found.notes)
    for moment in set(moments):
        count = read.count(WINDOW.start + moment * MILLISECOND)
        assert count == (limit if moment in crowded else moments.count(moment))


def test_a_query_that_fails_is_tried_again_in_halves(cloud: Cloud) -> None:
    """A half reads half as much."""
    cloud.store(trails.story())
    cloud.insights.plant.ends.append("Timeout")

    found = read(cloud)

    windows = [(request["startTime"], request["endTime"]) for request in cloud.insights.queries]
    assert len(pointers(found)) == 37
    assert codes(found) == []
    assert len(windows) == 3
    assert (windows[1][0], windows[2][1]) == windows[0]


def test_a_half_that_fails_too_is_said_with_its_window(cloud: Cloud) -> None:
    """What the other half found is shown."""
    cloud.store(trails.story())

    def failing(request: Mapping[str, Any]) -> str | None:
        # The whole window, and its older half, which holds nothing.
        return "Failed" if request["startTime"] == int(WINDOW.start.timestamp()) else None

    cloud.insights.plant.failing = failing

    found = read(cloud)

    assert len(found.rows) == 37
    assert codes(found) == ["query_failed"]
    assert "from 2026-03-14 01:00:00 to 2026-03-14 02:30:00 UTC ended as Failed" in found.notes[0].text
    assert len(cloud.insights.queries) == 3


def test_a_failure_is_reported_where_nothing_helps(cloud: Cloud) -> None:
    """Two halves failed: two notes, no endless loop."""
    cloud.insights.plant.failing = lambda _: "Failed"

    found = read(cloud)

    assert found.rows == ()
    assert codes(found) == ["query_failed", "query_failed"]
    assert len(cloud.insights.queries) == 3
