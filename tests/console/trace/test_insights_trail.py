"""A deployed agent's trail is read by indexes as far as they lead, and by full scans where somebody agrees."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from agent_image.retrieval.fingerprint import fingerprint
from console.errors import BadInputError, ConsoleError
from console.trace.confirming import confirming
from console.trace.insights.results import Lines, Row
from console.trace.record import Material
from console.trace.trail import Needle
from console.trace.trails import trail_at
from console.where import Where
from tests.console.loopback import document, serving
from tests.console.trace import trails
from tests.console.trace.cloud import GROUP, NOW, SHARED, Cloud
from tests.console.trace.test_trails import other_session, span_ids
from tests.loopback.table import VARIABLES

ANSWER = fingerprint("an answer of which a person has a copy")
SAID = trails.invocation("prompt", "run-8", "i8", rag__answer=str(ANSWER))
WARRANTY = Needle(fingerprint=fingerprint(trails.TEXTS["warranty.md"]).text)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def days_back(cloud: Cloud, group: str = GROUP) -> list[float]:
    """Tell how far back each query on a group began, in days, rounded to hours."""
    return [
        round((cloud.now.timestamp() - request["startTime"]) / 3600) / 24
        for request in cloud.insights.queries
        if request["logGroupName"] == group and "ispresent(attributes.session" not in request["queryString"]
    ]


def codes(material: Material) -> list[tuple[str, bool]]:
    return [(note.code, note.partial) for note in material.notes]


def test_a_session_of_today_is_found_in_the_first_window(cloud: Cloud) -> None:
    """One narrow query, and none of the windows behind it; nobody is asked for anything."""
    cloud.store(trails.story())

    cloud.trail().session(trails.SESSION_ID)

    assert days_back(cloud) == [3 / 24]
    assert cloud.plans == []


def test_a_miss_widens_the_window_and_reads_nothing_twice(cloud: Cloud) -> None:
    """The session is five days old: three queries, each where the one before ended."""
    cloud.store(trails.story(), earlier=5 * DAY)

    found = cloud.trail().session(trails.SESSION_ID)

    windows = [(one["startTime"], one["endTime"]) for one in cloud.insights.queries if one["logGroupName"] == GROUP]
    assert len(found.spans) == 22
    assert days_back(cloud) == [3 / 24, 1, 7]
    assert windows[1][1] - windows[0][0] in {0, 1}


def test_a_session_that_goes_on_for_days_is_read_whole(cloud: Cloud) -> None:
    """Its newest events are not its first ones: the chain of events says that there are others."""
    cloud.store([*trails.asked(), *trails.suspended()], earlier=3 * DAY)
    cloud.store(trails.resumed())

    found = cloud.trail().session(trails.SESSION_ID)

    assert (len(found.spans), len(found.events)) == (22, 15)
    assert days_back(cloud) == [3 / 24, 1, 7]


def test_a_resume_leads_to_the_run_that_it_goes_on_with(cloud: Cloud) -> None:
    """The link says so where events are lost."""
    cloud.store([one for one in trails.suspended() if "traceId" in one], earlier=3 * DAY)
    cloud.store([*(one for one in trails.resumed() if "traceId" in one), trails.event("run_started", 1, after=600)])

    found = cloud.trail().session(trails.SESSION_ID)

    assert {"i2", "i3"} <= set(span_ids(found))


def test_a_session_without_events_is_looked_for_as_far_as_the_index_leads(cloud: Cloud) -> None:
    """It may have begun before; but nobody is asked to pay for a guess."""
    spans = [one for one in trails.story() if "traceId" in one]
    cloud.store(spans[:9], earlier=20 * DAY)
    cloud.store([one for one in spans[9:] if "links" not in one])

    found = cloud.trail().session(trails.SESSION_ID)

    assert "i1" in span_ids(found)
    assert days_back(cloud) == [3 / 24, 1, 7, 30]
    assert cloud.plans == []


def test_a_trace_s_session_is_read_as_far_back_as_the_trace_lies(cloud: Cloud) -> None:
    """The session has newer spans, and no event that would tell of older ones."""
    spans = [one for one in trails.story() if "traceId" in one]
    cloud.store([one for one in spans if one["traceId"] == "a1" * 16], earlier=40 * DAY)
    cloud.store([one for one in spans if one["traceId"] == "b2" * 16])

    found = cloud.trail().trace("a1" * 16)

    assert {"i1", "r1", "i2"} <= set(span_ids(found))
    assert [plan.what for plan in cloud.plans] == ["the spans of the trace", "the lines of the session"]


def test_since_is_where_the_search_begins_and_ends(cloud: Cloud) -> None:
    """One window; a session that is older is not looked for."""
    cloud.store(trails.story(), earlier=5 * DAY)

    missed = cloud.trail(since=NOW - 2 * DAY).session(trails.SESSION_ID)
    found = cloud.trail(since=NOW - 6 * DAY).session(trails.SESSION_ID)

    assert missed.spans == ()
    assert len(found.spans) == 22
    assert days_back(cloud) == [2, 6]


def test_since_cuts_no_session_in_two(cloud: Cloud) -> None:
    """What was found shows that there is more."""
    cloud.store([*trails.asked(), *trails.suspended()], earlier=3 * DAY)
    cloud.store(trails.resumed())

    found = cloud.trail(since=NOW - 2 * HOUR).session(trails.SESSION_ID)

    assert len(found.events) == 15


def test_older_than_the_index_is_a_full_scan_that_somebody_agrees_to(cloud: Cloud) -> None:
    """An index leads to nothing older than thirty days."""
    cloud.store(trails.story(), earlier=40 * DAY)

    found = cloud.trail().session(trails.SESSION_ID)

    (plan,) = cloud.plans
    assert len(found.spans) == 22
    assert not plan.indexed
    assert plan.window[0] == NOW - 90 * DAY
    assert NOW - 31 * DAY < plan.window[1] < NOW - 30 * DAY
    assert "filterIndex" not in cloud.insights.queries[-2]["queryString"]


def test_a_full_scan_that_nobody_agrees_to_reads_nothing(cloud: Cloud) -> None:
    """Not even a little."""
    cloud.agrees = False
    trail = cloud.trail()

    with pytest.raises(ConsoleError, match="not confirmed; nothing was read"):
        trail.reading(WARRANTY)

    assert cloud.insights.queries == []
    assert trail.scan.queries == 0
    assert trail.scan.scanned is None


def test_what_was_found_before_somebody_disagreed_is_shown_as_a_part(cloud: Cloud) -> None:
    """The session began before the index; its newer turn is there."""
    cloud.store([*trails.asked(), *trails.suspended()], earlier=40 * DAY)
    cloud.store(trails.resumed())
    cloud.agrees = False

    found = cloud.trail().session(trails.SESSION_ID)

    assert "i3" in span_ids(found)
    assert ("not_confirmed", True) in codes(found)


def test_the_search_ends_where_the_group_begins(cloud: Cloud) -> None:
    """AWS calls a window before the group's first day malformed: there is nothing, and nothing is wrong."""
    cloud.insights.group(GROUP).created = NOW - 2 * DAY

    found = cloud.trail().session(trails.SESSION_ID)

    assert found.spans == ()
    assert codes(found) == [("no_shared_spans", False)]
    assert days_back(cloud) == [3 / 24, 1, 7, 30]
    assert cloud.plans == []


def test_spans_in_the_account_s_group_belong_to_the_session(cloud: Cloud) -> None:
    """The platform's own span stands above ours; and an agent of before wrote all of its spans there."""
    platform = trails.span("InvokeAgentRuntime", "z1", trace_id="a1" * 16)
    cloud.store(trails.story())
    cloud.store([platform], group=SHARED)

    found = cloud.trail().session(trails.SESSION_ID)

    assert "z1" in span_ids(found)
    assert codes(found) == []


@pytest.mark.parametrize("plant", ["missing", "denied"])
def test_the_account_s_group_may_be_missing_or_denied(cloud: Cloud, plant: str) -> None:
    """Nothing of the agent's own is missing then; it is asked for once."""
    cloud.store(trails.story(), earlier=5 * DAY)
    if plant == "denied":
        cloud.insights.group(SHARED)
        cloud.insights.plant.denied.add(SHARED)

    found = cloud.trail().session(trails.SESSION_ID)

    asked = [one for one in cloud.insights.queries if one["logGroupName"] == SHARED]
    assert len(found.spans) == 22
    assert codes(found) == [("no_shared_spans", False)]
    assert ("is not there" if plant == "missing" else "cannot be read") in found.notes[0].text
    assert len(asked) == 1


def test_a_missing_group_says_what_may_be_the_reason(cloud: Cloud) -> None:
    """It is the agent's own."""
    cloud.insights.groups.clear()

    with pytest.raises(ConsoleError, match=f"{GROUP} is not there: the endpoint has not been called"):
        cloud.trail().session(trails.SESSION_ID)


def test_a_denied_group_names_the_rights_that_are_needed(cloud: Cloud) -> None:
    """And not what AWS says, which may hold anything."""
    cloud.insights.plant.denied.add("StartQuery")

    with pytest.raises(ConsoleError, match="access denied; this needs logs:StartQuery, logs:GetQueryResults") as told:
        cloud.trail().session(trails.SESSION_ID)

    assert "secret words" not in str(told.value)


def test_a_query_that_is_malformed_is_our_fault_and_says_so(cloud: Cloud) -> None:
    """It cannot be mended by who reads it, so the query is shown."""
    cloud.insights.plant.refused.add("rastro.run")

    with pytest.raises(ConsoleError, match="malformed, which is our fault: fields @timestamp"):
        cloud.trail().recent(NOW - HOUR)


def test_infrequent_access_has_no_index_so_each_window_is_agreed_to(cloud: Cloud) -> None:
    """The same session, found by full scans."""
    cloud.store(trails.story(), earlier=HOUR * 10)
    cloud.insights.group(GROUP).storage = "INFREQUENT_ACCESS"

    found = cloud.trail().session(trails.SESSION_ID)

    assert len(found.spans) == 22
    assert [plan.indexed for plan in cloud.plans] == [False, False]
    assert [plan.window[0] for plan in cloud.plans] == [NOW - 3 * HOUR, NOW - DAY]
    assert ("no_index", False) in codes(found)


def test_a_trace_without_an_index_keeps_its_spans_that_name_no_session(cloud: Cloud) -> None:
    """They were found with the trace; nobody looks for those of the session's other traces."""
    cloud.store([*trails.story(), trails.span("lost", "x1", "l1", start=3, session_id="")])
    cloud.insights.group(GROUP).storage = "INFREQUENT_ACCESS"

    assert "x1" in span_ids(cloud.trail().trace("a1" * 16))


def test_infrequent_access_that_nobody_agrees_to_is_not_read(cloud: Cloud) -> None:
    """Nothing was found before."""
    cloud.insights.group(GROUP).storage = "INFREQUENT_ACCESS"
    cloud.agrees = False

    with pytest.raises(ConsoleError, match="not confirmed"):
        cloud.trail().session(trails.SESSION_ID)


def test_an_answer_without_an_index_is_agreed_to_window_by_window(cloud: Cloud) -> None:
    """Narrow first: most answers that people ask about are new."""
    cloud.store([SAID], earlier=3 * DAY)

    found = cloud.trail().answered(ANSWER)

    assert span_ids(found) == ["i8"]
    assert [round((NOW - plan.window[0]) / DAY, 3) for plan in cloud.plans] == [0.125, 1, 7]


def test_an_answer_with_an_index_needs_nobody_s_yes(cloud: Cloud) -> None:
    """The environment's index policy names the field."""
    cloud.indexed = frozenset({"attributes.rag.answer"})
    cloud.insights.group(GROUP).indexed = cloud.indexed
    cloud.store([SAID], earlier=3 * DAY)

    found = cloud.trail().answered(ANSWER)

    assert span_ids(found) == ["i8"]
    assert cloud.plans == []


def test_an_answer_that_no_index_knows_may_be_older_than_the_index(cloud: Cloud) -> None:
    """Nothing is found, and that is no proof."""
    cloud.indexed = frozenset({"attributes.rag.answer"})
    cloud.insights.group(GROUP).indexed = cloud.indexed

    assert ("only_by_index", False) in codes(cloud.trail().answered(ANSWER))


def test_the_last_session_tells_what_was_missing_when_it_was_looked_for(cloud: Cloud) -> None:
    """Another one may have been in the half that failed."""
    cloud.store(trails.story())

    def failing(request: Mapping[str, Any]) -> str | None:
        narrow = request["startTime"] <= int((NOW - 3 * HOUR).timestamp())
        return "Failed" if narrow and "rastro.run" in request["queryString"] else None

    cloud.insights.plant.failing = failing

    found = cloud.trail().last()

    assert len(found.spans) == 22
    assert ("query_failed", True) in codes(found)


def test_nothing_stands_in_the_line_in_which_somebody_is_asked(cloud: Cloud) -> None:
    """Progress is wiped before."""
    cloud.trail().reading(WARRANTY)

    assert cloud.told[0] == ""


def test_a_line_that_lies_there_broken_is_no_line_that_was_cut_off(cloud: Cloud) -> None:
    """It is shown as what it is."""
    broken = '{"attributes": {"session.id": "x"}, '
    cloud.store(trails.story())
    lines = Lines(lambda _: broken)

    (line,) = lines.of([Row(NOW, broken, "pointer")])

    assert line.text == broken
    assert lines.notes == ()


def test_a_passage_is_looked_for_in_all_that_the_group_keeps(cloud: Cloud) -> None:
    """There is no telling who read it last: one plan, one scan."""
    cloud.store(trails.story(), earlier=80 * DAY)
    cloud.store(other_session())

    found = cloud.trail().reading(WARRANTY)

    assert span_ids(found) == ["r1", "r9"]
    assert [plan.window for plan in cloud.plans] == [(NOW - 90 * DAY, NOW)]
    assert len(cloud.insights.queries) == 1


def test_a_passage_since_a_day_is_looked_for_since_then(cloud: Cloud) -> None:
    """The scan is as long as somebody says."""
    cloud.store(trails.story(), earlier=80 * DAY)
    cloud.store(other_session())

    assert span_ids(cloud.trail(since=NOW - DAY).reading(WARRANTY)) == ["r9"]
    assert [plan.window for plan in cloud.plans] == [(NOW - DAY, NOW)]


def test_a_plan_says_what_will_be_read_and_what_it_costs(cloud: Cloud) -> None:
    """Before it runs, from what the group took in and the price of its Region; after, what was read."""
    gigabyte = 2**30
    cloud.store(trails.story())
    cloud.insights.group(GROUP).incoming = {NOW - 2 * DAY: 3.0 * gigabyte, NOW - 100 * DAY: 99.0 * gigabyte}
    trail = cloud.trail()

    trail.reading(WARRANTY)

    (plan,) = cloud.plans
    assert (plan.bytes, plan.cost_usd) == (3 * gigabyte, Decimal("0.015"))
    scanned = sum(len(line.message.encode()) for line in cloud.insights.group(GROUP).lines)
    assert (trail.scan.queries, trail.scan.scanned) == (1, scanned)
    assert trail.scan.cost_usd == Decimal("0.005") * scanned / gigabyte


def test_what_is_not_known_is_not_said_to_be_nothing(cloud: Cloud) -> None:
    """Without the right to read the metric, and in a Region of which no price is known."""
    cloud.region = "sa-east-1"
    cloud.insights.plant.denied.add("GetMetricData")
    trail = cloud.trail()

    trail.reading(WARRANTY)

    (plan,) = cloud.plans
    assert (plan.bytes, plan.cost_usd) == (None, None)
    assert trail.scan.cost_usd is None


def test_lines_that_came_cut_off_are_fetched_whole(cloud: Cloud) -> None:
    """A long span is cut in the results."""
    cloud.store(trails.story())
    cloud.insights.plant.cut = 300

    found = cloud.trail().session(trails.SESSION_ID)

    assert len(found.spans) == 22
    assert codes(found) == [("no_shared_spans", False)]


def test_rows_without_their_line_are_fetched(cloud: Cloud) -> None:
    """A row may hold its pointer alone."""
    cloud.store(trails.story())
    cloud.insights.plant.no_message = True

    assert len(cloud.trail().session(trails.SESSION_ID).spans) == 22


def test_lines_that_may_not_be_fetched_are_counted(cloud: Cloud) -> None:
    """What is cut off is shown as such, and asked for once."""
    cloud.store(trails.story())
    cloud.insights.plant.cut = 300
    cloud.insights.plant.denied.add("GetLogRecord")

    found = cloud.trail().session(trails.SESSION_ID)

    assert ("lines_cut_off", True) in codes(found)
    assert found.unread
    assert sum(operation == "GetLogRecord" for operation, _ in cloud.insights.asked) == 1


def test_masked_text_comes_as_it_is(cloud: Cloud) -> None:
    """Asterisks are what the trail holds."""
    cloud.store([trails.invocation("prompt", "run-1", "i1", rag__question="my card is 4111111111111111")])
    cloud.insights.plant.masked = ("4111111111111111",)

    (span,) = cloud.trail().session(trails.SESSION_ID).spans

    assert span.attributes["rag.question"] == f"my card is {'*' * 16}"


def test_a_failure_that_nothing_mends_is_a_part_that_is_missing(cloud: Cloud) -> None:
    """What the other queries found is shown."""
    cloud.store(trails.story())
    cloud.insights.plant.failing = lambda request: "Failed" if request["logGroupName"] == SHARED else None
    cloud.insights.group(SHARED)

    found = cloud.trail().session(trails.SESSION_ID)

    assert len(found.spans) == 22
    assert ("query_failed", True) in codes(found)


@pytest.fixture
def environment(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """Let the real clients find the environment, its trail and nothing of this machine's."""
    discovery = {
        "environment": "prod",
        "region": "us-east-1",
        "log_group": GROUP,
        "retention_days": 90,
        "indexed_fields": ["name"],
    }
    value = {"Parameter": {"Name": "/rastro/prod", "Value": json.dumps(discovery)}}
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    for name, text in {**VARIABLES, **cloud.insights.variables()}.items():
        monkeypatch.setenv(name, text)
    with serving(lambda _: document(value)) as (port, _):
        monkeypatch.setenv("AWS_ENDPOINT_URL_SSM", f"http://127.0.0.1:{port}")
        yield Where(tmp_path, "prod")


def test_an_environment_s_trail_is_opened_by_its_name(cloud: Cloud, environment: Where) -> None:
    """Discovery document, Region, log group and retention come from its stack."""
    cloud.store([*trails.story(), SAID])
    trail = trail_at(environment, since=None, confirm=confirming(yes=True), clock=lambda: NOW)

    assert len(trail.session(trails.SESSION_ID).spans) == 23
    assert span_ids(trail.answered(ANSWER)) == ["i8"]
    assert trail.scan.cost_usd is not None


def test_a_script_says_yes_or_reads_nothing(cloud: Cloud, environment: Where) -> None:
    """Nobody is there to be asked."""
    trail = trail_at(environment, since=None, confirm=confirming(yes=False), clock=lambda: NOW)

    with pytest.raises(BadInputError, match="--yes"):
        trail.reading(WARRANTY)

    assert cloud.insights.queries == []
