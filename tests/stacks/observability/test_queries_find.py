"""Each saved query finds what it should, and nothing else, in a trail that an agent really left."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent_image.retrieval.fingerprint import fingerprint
from agent_image.telemetry.invocation_span import answer_fingerprint
from stacks.observability.queries import QUERIES
from stacks.observability.query import FINGERPRINT_WORD, SESSION_WORD, TRACE_WORD
from tests.loopback.insights import Group, Insights
from tests.stacks.observability.lived import ANSWER, MODEL, PASSAGES, SEARCHES, Lived, lived, session

GROUP = "/aws/bedrock-agentcore/runtimes/rastro_lived-AbCdEf1234-live"
ALL_INDEXED = frozenset(row.narrowed.field for row in QUERIES)
ROWS = {row.key: row for row in QUERIES}
SESSION = "attributes.session.id"
SESSIONS = (
    *("answers", "fails-at-a-tool", "is-hooked", "loops", "fails", "waits", "is-refused", "is-allowed", "goes-on"),
    "loses",
)
USD = 0.0016
"""What one call of the scripted model costs: 1,200 tokens read at 1 USD, 80 written at 5, by the million."""

Row = dict[str, str]


@dataclass
class Scene:
    """Hold a trail, with or without indexes beside the free ones."""

    day: Lived
    insights: Insights
    indexed: frozenset[str]

    def run(self, key: str, **words: str) -> list[Row]:
        """Run a saved query over all of the trail, as a person does: with an id in the place of its word."""
        text = ROWS[key].text(self.indexed)
        for word, value in words.items():
            text = text.replace(f'"{word}"', f'"{value}"')
        now = datetime.now(UTC)
        window = {"startTime": int((now - timedelta(hours=3)).timestamp()), "endTime": int(now.timestamp()) + 1}
        request = {"logGroupName": GROUP, "queryString": text, **window}
        started = self.insights.do("StartQuery", request)
        results = self.insights.do("GetQueryResults", started)["results"]
        return [{cell["field"]: cell["value"] for cell in row if cell["field"] != "@ptr"} for row in results]

    def spans(self) -> list[dict[str, Any]]:
        """Read the spans themselves."""
        return [json.loads(line) for line in self.day.spans]

    def events(self, name: str) -> list[dict[str, Any]]:
        """Read the event lines themselves."""
        lines = [json.loads(line) for line in self.day.printed if line.startswith('{"event":')]
        return [line for line in lines if line["event"] == name]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """Live it once."""
    with lived(tmp_path_factory.mktemp("lived")) as day:
        yield day


@pytest.fixture(params=[frozenset(), ALL_INDEXED], ids=["free indexes", "all indexes"])
def scene(request: pytest.FixtureRequest, day: Lived) -> Scene:
    """Store it in a group, with foreign lines that are no part of any answer."""
    insights = Insights(groups={GROUP: Group(indexed=request.param)})
    insights.put_spans(GROUP, day.spans)
    insights.put_events(GROUP, [*day.printed, "a line that is no JSON", '{"level":"INFO","message":"event"}'])
    return Scene(day, insights, request.param)


def sessions(rows: list[Row]) -> list[str]:
    """Name the sessions of rows by what they do."""
    names = {session(deed): deed for deed in SESSIONS}
    return sorted({names[row[SESSION]] for row in rows})


def cost(line: Mapping[str, Any]) -> float:
    """Read what a line says that something cost."""
    return float(line["cost_usd"])


def carried_out(scene: Scene) -> list[dict[str, Any]]:
    """Read the results of calls that a tool was really called for."""
    return [line for line in scene.events("tool_result") if line["decision"] in {"allowed", "approved"}]


def numbers(row: Mapping[str, str], *names: str) -> list[float]:
    """Read numbers, to the nearest millionth."""
    return [round(float(row[name]), 6) for name in names]


def test_a_session_is_found_whole_and_in_its_order(scene: Scene) -> None:
    """Spans and event lines of that session, and of no other."""
    rows = scene.run("session", **{SESSION_WORD: session("answers")})

    spans = [span for span in scene.spans() if span["attributes"].get("session.id") == session("answers")]
    events = [line for line in scene.day.printed if session("answers") in line]
    assert sorted(row["spanId"] for row in rows if "spanId" in row) == sorted(span["spanId"] for span in spans)
    assert len([row for row in rows if "event" in row]) == len(events)
    assert len(rows) == len(spans) + len(events)
    assert [row["@timestamp"] for row in rows] == sorted(row["@timestamp"] for row in rows)
    assert {row["outcome"] for row in rows if row.get("event") == "run_ended"} == {"completed"}


def test_a_trace_is_found_from_its_first_span_on(scene: Scene) -> None:
    """Event lines hold the id of a trace under another name: a trace is spans."""
    wanted = next(
        span["traceId"]
        for span in scene.spans()
        if span["name"] == "invocation resume" and span["attributes"]["session.id"] == session("is-refused")
    )
    rows = scene.run("trace", **{TRACE_WORD: wanted})

    spans = [span for span in scene.spans() if span["traceId"] == wanted]
    first = min(spans, key=lambda span: span["startTimeUnixNano"])
    assert sorted(row["spanId"] for row in rows) == sorted(span["spanId"] for span in spans)
    assert rows[0]["spanId"] == first["spanId"]
    assert sessions(rows) == ["is-refused"]


def test_a_passage_leads_to_the_retrievals_that_read_it(scene: Scene) -> None:
    """And to none that read another."""
    old = scene.run("passage", **{FINGERPRINT_WORD: str(fingerprint(PASSAGES[0]))})
    new = scene.run("passage", **{FINGERPRINT_WORD: str(fingerprint(scene.day.passages[0]))})

    assert (sessions(old), sessions(new)) == (["answers", "goes-on"], ["loses"])
    assert [row["attributes.rag.index_version"] for row in new] == ["JOB0000002@2026-11-02T08:00:00Z"]
    assert scene.run("passage", **{FINGERPRINT_WORD: str(fingerprint("never read"))}) == []


def test_an_answer_leads_to_its_session(scene: Scene) -> None:
    """By the fingerprint that it left; a short answer left none."""
    assert sessions(scene.run("answer", **{FINGERPRINT_WORD: str(answer_fingerprint(ANSWER))})) == ["answers"]


def test_answers_that_people_called_bad_are_found(scene: Scene) -> None:
    """With the length of what they wrote, and nothing of it."""
    (row,) = scene.run("bad-answers")

    assert sessions([row]) == ["answers"]
    assert row["attributes.rastro.note_bytes"] == str(len("wrong"))


def test_retrievals_are_counted_by_the_version_of_the_index(scene: Scene) -> None:
    """Both versions were read; the one that was read most comes first."""
    rows = scene.run("retrievals-by-index-version")

    read = {
        row["attributes.rag.index_version"][:10]: numbers(row, "retrievals", "sessions", "passages") for row in rows
    }
    searches = 1 + SEARCHES
    assert list(read.items()) == [("JOB0000001", [searches, 2, 2 * searches]), ("JOB0000002", [1, 1, 1])]


def test_lost_passages_lead_to_the_answers_that_rest_on_them(scene: Scene) -> None:
    """Answers whose passages were kept are none of them."""
    rows = scene.run("lost-passages")

    assert (sessions(rows), [row["attributes.rastro.archive_lost"] for row in rows]) == (["loses"], ["1"])


def test_spans_that_failed_are_found(scene: Scene) -> None:
    """All of them, and no others."""
    failed = [span["spanId"] for span in scene.spans() if span["status"]["code"] == "ERROR"]
    rows = scene.run("errors")

    assert sorted(row["spanId"] for row in rows) == sorted(failed)
    assert {"fails", "fails-at-a-tool", "loops"} <= set(sessions(rows))
    assert {"answers", "waits", "loses"}.isdisjoint(sessions(rows))


def test_errors_are_counted_by_their_codes(scene: Scene) -> None:
    """A run that waits, or that a person refused, did not fail."""
    codes = {row["code"]: numbers(row, "times", "sessions") for row in scene.run("errors-by-code")}

    assert codes == {"loop": [1, 1], "model_access_denied": [1, 1]}


def test_calls_that_failed_are_found_and_those_that_were_held_back_are_not(scene: Scene) -> None:
    """A call that nobody let through says nothing of the tool."""
    rows = scene.run("tool-errors")

    assert sessions(rows) == ["fails-at-a-tool", "loops"]
    assert {(row["tool"], row["decision"]) for row in rows} == {("open_ticket", "allowed")}
    assert len(rows) == sum(line["is_error"] and line["decision"] == "allowed" for line in scene.events("tool_result"))


def test_runs_are_counted_by_how_they_ended(scene: Scene) -> None:
    """With what they cost, as far as that is known."""
    rows = scene.run("outcomes")

    ended = Counter(line["outcome"] for line in scene.events("run_ended"))
    spent = {
        outcome: sum(cost(line) for line in scene.events("run_ended") if line["outcome"] == outcome)
        for outcome in ended
    }
    assert ended == {"completed": 7, "suspended": 4, "loop": 1, "failed": 1}
    assert {row["outcome"]: numbers(row, "runs", "priced", "usd") for row in rows} == {
        outcome: [runs, runs, round(spent[outcome], 6)] for outcome, runs in ended.items()
    }
    assert [row["outcome"] for row in rows[:2]] == ["completed", "suspended"]


def test_runs_that_something_stopped_are_found(scene: Scene) -> None:
    """The newest first."""
    rows = scene.run("stopped-runs")

    assert [row["outcome"] for row in rows] == ["failed", "loop"]
    assert sessions(rows) == ["fails", "loops"]


def test_steps_are_timed_by_what_was_called(scene: Scene) -> None:
    """Models and tools; a call that was held back took no time of its own."""
    rows = scene.run("slow-steps")

    timed = {(row["event"], row["called"]): numbers(row, "calls")[0] for row in rows}
    took = {
        ("llm_call", MODEL): len([line for line in scene.events("llm_call") if "latency_ms" in line]),
        **{
            ("tool_result", tool): len([line for line in carried_out(scene) if line["tool"] == tool])
            for tool in ("search_knowledge", "open_ticket", "refund_order")
        },
    }
    assert timed == took
    assert timed["tool_result", "refund_order"] == 1
    assert all(float(row["mean_ms"]) <= float(row["p99_ms"]) == float(row["longest_ms"]) for row in rows)
    assert [float(row["p99_ms"]) for row in rows] == sorted((float(row["p99_ms"]) for row in rows), reverse=True)


def test_what_each_agent_cost_is_the_sum_of_its_runs(scene: Scene) -> None:
    """Of all sessions."""
    (row,) = scene.run("cost-by-agent")

    spent = sum(cost(line) for line in scene.events("run_ended"))
    assert (row["agent"], *numbers(row, "runs", "priced", "sessions")) == ("rastro", 13, 13, len(SESSIONS))
    assert numbers(row, "usd") == [round(spent, 6)]


def test_what_each_model_cost_is_the_sum_of_its_calls(scene: Scene) -> None:
    """And its tokens are those that it counted."""
    (row,) = scene.run("cost-by-model")

    calls = scene.events("llm_call")
    counted = [line for line in calls if line.get("tokens", {}).get("input")]
    assert (row["model"], *numbers(row, "calls", "priced")) == (MODEL, len(calls), len(calls))
    assert numbers(row, "input", "output") == [1_200 * len(counted), 80 * len(counted)]
    assert numbers(row, "usd") == [round(sum(cost(line) for line in calls), 6)]


def test_sessions_are_listed_by_what_they_spent(scene: Scene) -> None:
    """The dearest first; a session's runs count together."""
    rows = scene.run("spend-by-session")

    spent = {row[SESSION]: numbers(row, "runs", "usd") for row in rows}
    assert sessions(rows) == sorted(SESSIONS)
    assert spent[session("is-refused")] == [2, 2 * USD]
    assert [float(row["usd"]) for row in rows] == sorted((float(row["usd"]) for row in rows), reverse=True)


def test_calls_that_were_held_back_are_found(scene: Scene) -> None:
    """One by a person, one by a hook."""
    rows = scene.run("blocked-calls")

    held = {(row["tool"], row["decision"], row.get("code")) for row in rows}
    assert held == {("refund_order", "rejected", None), ("open_ticket", "blocked", "hook_blocked")}
    assert sessions(rows) == ["is-hooked", "is-refused"]


def test_a_checkpoint_stands_where_its_newest_word_left_it(scene: Scene) -> None:
    """One waits, the others were decided, one of them about a budget; the one that is known longest comes first."""
    rows = scene.run("approvals")

    assert [(row["ruling"], *sessions([row])) for row in rows] == [
        ("asked", "waits"),
        ("rejected", "is-refused"),
        ("approved", "is-allowed"),
        ("approved", "goes-on"),
    ]
    assert len({row["checkpoint_id"] for row in rows}) == len(rows)
    assert all(float(row["since"]) <= float(row["last"]) for row in rows)


def test_what_hooks_said_is_counted(scene: Scene) -> None:
    """By hook, tool and ruling."""
    rows = scene.run("hooks")

    said = [(row["hook"], row["tool"], row["decision"], float(row["times"])) for row in rows]
    assert said == [
        ("agent/PreToolUse/1", "open_ticket", "allowed", 5),
        ("agent/PreToolUse/1", "open_ticket", "blocked", 1),
    ]


def test_what_detectors_found_is_listed(scene: Scene) -> None:
    """A nudge first, then the end: the newest stands on top."""
    rows = scene.run("alerts")

    assert [(row["code"], row["decision"]) for row in rows] == [("loop", "stop"), ("loop", "nudge")]
    assert sessions(rows) == ["loops"]


@pytest.mark.parametrize("key", [row.key for row in QUERIES if row.word is None])
def test_every_column_tells_something(scene: Scene, key: str) -> None:
    """A column that no row of a whole day fills is misspelt, or of no use."""
    filled = {name for row in scene.run(key) for name in row}

    shown = [*ROWS[key].by, *ROWS[key].counted] if ROWS[key].counted else ROWS[key].shown
    assert {column.rpartition(" as ")[2] for column in shown} <= filled


def test_no_query_reads_lines_that_its_index_rules_out(scene: Scene) -> None:
    """With all indexes each query scans what its condition lets through; without, all of the window."""
    scanned = {}
    for row in QUERIES:
        now = datetime.now(UTC)
        window = {"startTime": int((now - timedelta(hours=3)).timestamp()), "endTime": int(now.timestamp()) + 1}
        text = row.text(scene.indexed)
        started = scene.insights.do("StartQuery", {"logGroupName": GROUP, "queryString": text, **window})
        scanned[row.key] = scene.insights.do("GetQueryResults", started)["statistics"]["recordsScanned"]

    every = len(scene.insights.group(GROUP).lines)
    if scene.indexed:
        assert max(scanned.values()) < every
    else:
        assert {key for key, lines in scanned.items() if lines < every} == {"session", "trace"}
