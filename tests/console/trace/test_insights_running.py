"""Queries run side by side, come to their ends, and none is left behind."""

from __future__ import annotations

from datetime import timedelta

import pytest

from console.errors import ConsoleError
from console.trace.insights import query
from console.trace.insights.calling import ATTEMPTS
from console.trace.insights.running import AT_ONCE, Asked, End
from console.trace.insights.window import Window
from tests.console.trace import trails
from tests.console.trace.cloud import GROUP, NOW, Cloud

WINDOW = Window(NOW - timedelta(hours=3), NOW)
ASKED = Asked(GROUP, query.of_sessions([trails.SESSION_ID]), WINDOW)


def test_a_query_gives_the_lines_in_their_order_and_what_it_read(cloud: Cloud) -> None:
    """The oldest first."""
    cloud.store(trails.story())
    runner = cloud.runner()

    (ended,) = runner.run([ASKED])

    moments = [row.at for row in ended.rows if row.at is not None]
    assert (ended.end, ended.full, len(ended.rows)) == (End.COMPLETE, False, 37)
    assert moments == sorted(moments)
    assert runner.begun == 1
    assert runner.scanned == ended.scanned == sum(len(line.message) for line in cloud.insights.group(GROUP).lines)


@pytest.mark.parametrize("code", ["LimitExceededException", "ThrottlingException", "ServiceUnavailableException"])
def test_a_throttled_start_is_tried_again_later_each_time(cloud: Cloud, code: str) -> None:
    """Other people and dashboards use the same limit."""
    cloud.insights.plant.throttle, cloud.insights.plant.throttled_as = 4, code

    (ended,) = cloud.runner().run([ASKED])

    assert ended.end is End.COMPLETE
    assert cloud.waited == [0.5, 1, 2, 4]


def test_a_start_that_is_throttled_for_minutes_is_given_up(cloud: Cloud) -> None:
    """With a sentence that says what to do."""
    cloud.insights.plant.throttle = 1_000

    with pytest.raises(ConsoleError, match=r"runs no more queries now.*try again later"):
        cloud.runner().run([ASKED])

    assert len(cloud.insights.queries) == ATTEMPTS


def test_results_that_are_throttled_are_asked_for_again(cloud: Cloud) -> None:
    """The query itself goes on meanwhile."""
    cloud.insights.plant.throttle_results = 3

    (ended,) = cloud.runner().run([ASKED])

    assert ended.end is End.COMPLETE
    assert len(cloud.insights.queries) == 1


def test_a_connection_that_breaks_is_tried_again(cloud: Cloud) -> None:
    """Twice; then it is said."""
    cloud.insights.plant.hang_up = 2
    assert cloud.runner().run([ASKED])[0].end is End.COMPLETE

    cloud.insights.plant.hang_up = 3
    with pytest.raises(ConsoleError, match="asking CloudWatch Logs for the lines of the session failed: AWS was not"):
        cloud.runner().run([ASKED])


def test_a_query_that_runs_for_minutes_shows_progress_and_goes_on(cloud: Cloud) -> None:
    """It is asked less and less often."""
    cloud.store(trails.story())
    cloud.insights.plant.runs_for = 30

    (ended,) = cloud.runner().run([ASKED])

    assert ended.end is End.COMPLETE
    assert sum(cloud.waited) > 100
    assert cloud.waited[0] < 1
    assert max(cloud.waited) == 5
    assert cloud.told[-1] == "the lines of the session: 1 min 57 s, 0 MB read"


def test_few_queries_are_open_at_the_same_time(cloud: Cloud) -> None:
    """The account's limit is everybody's."""
    cloud.insights.plant.runs_for = 2

    ended = cloud.runner().run([ASKED] * 11)

    assert len(ended) == 11
    assert cloud.insights.most_at_once == AT_ONCE


def test_answers_stand_in_the_order_of_the_questions(cloud: Cloud) -> None:
    """Whichever ends first."""
    cloud.store(trails.story())
    none = Asked(GROUP, query.of_sessions(["nobody-had-this-session-00000000000000"]), WINDOW)

    ended = cloud.runner().run([none, ASKED, none])

    assert [len(one.rows) for one in ended] == [0, 37, 0]


@pytest.mark.parametrize("end", ["Failed", "Cancelled", "Timeout", "Unknown"])
def test_a_query_that_ends_otherwise_says_so(cloud: Cloud, end: str) -> None:
    """Its rows are none."""
    cloud.insights.plant.ends.append(end)

    (ended,) = cloud.runner().run([ASKED])

    assert ended.end == end
    assert ended.rows == ()


def test_a_status_that_nobody_knows_is_unknown(cloud: Cloud) -> None:
    """AWS may add some."""
    cloud.insights.plant.ends.append("Evaporated")

    assert cloud.runner().run([ASKED])[0].end is End.UNKNOWN


def test_a_break_in_stops_every_open_query(cloud: Cloud) -> None:
    """Ctrl-C leaves nothing running."""
    cloud.insights.plant.runs_for = 100
    cloud.interrupts = 3

    with pytest.raises(KeyboardInterrupt):
        cloud.runner().run([ASKED] * 6)

    assert sorted(cloud.insights.stopped) == ["query-1", "query-2", "query-3", "query-4"]


def test_a_failure_stops_every_open_query(cloud: Cloud) -> None:
    """One of two cannot be read any more."""
    cloud.insights.plant.runs_for = 100
    cloud.insights.plant.denied.add("GetQueryResults")

    with pytest.raises(ConsoleError, match="access denied: this needs logs:GetQueryResults"):
        cloud.runner().run([ASKED] * 2)

    assert sorted(cloud.insights.stopped) == ["query-1", "query-2"]


def test_a_query_that_cannot_be_stopped_hides_no_other_failure(cloud: Cloud) -> None:
    """What broke in is what counts."""
    cloud.insights.plant.runs_for = 100
    cloud.insights.plant.denied.update({"GetQueryResults", "StopQuery"})

    with pytest.raises(ConsoleError, match="GetQueryResults"):
        cloud.runner().run([ASKED])


def test_what_was_not_begun_says_why(cloud: Cloud) -> None:
    """A group that is not there, one that is denied, a malformed query, a window before the group was made."""
    cloud.insights.plant.denied.add("denied")
    cloud.insights.plant.refused.add("refused")
    cloud.insights.group(GROUP).created = NOW - timedelta(days=1)
    old = Window(NOW - timedelta(days=9), NOW - timedelta(days=8))

    ended = cloud.runner().run(
        [
            Asked("nowhere", ASKED.query, WINDOW),
            Asked("denied", ASKED.query, WINDOW),
            Asked(GROUP, query.of_trace("refused"), WINDOW),
            Asked(GROUP, ASKED.query, old),
        ]
    )

    assert [one.end for one in ended] == [End.MISSING, End.DENIED, End.MALFORMED, End.TOO_OLD]


def test_an_endpoint_with_the_old_limit_is_asked_for_fewer_rows(cloud: Cloud) -> None:
    """And not once more for each query."""
    cloud.store(trails.story())
    cloud.insights.most_rows = 10_000

    ended = cloud.runner().run([ASKED, ASKED])

    assert [len(one.rows) for one in ended] == [37, 37]
    assert [request["limit"] for request in cloud.insights.queries] == [100_000, 10_000, 10_000]


def test_pages_of_results_are_followed(cloud: Cloud) -> None:
    """Each page holds fewer rows than there are."""
    cloud.store(trails.story())
    cloud.insights.page_rows = 5

    (ended,) = cloud.runner().run([ASKED])

    assert len(ended.rows) == 37
    assert len({row.pointer for row in ended.rows}) == 37
