"""The dashboard shows what the stack declares, through metrics alone, in the structure that AWS documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from stacks.observability.alarms import ALARMS, Needs, Source
from stacks.observability.dashboard import Board, body, reads
from stacks.observability.metrics import BY_NAME
from stacks.observability.panels import SECTIONS, Panel
from stacks.observability.queries import QUERIES
from stacks.observability.watching import Chosen, runbook
from tests.stacks.observability.dashboard_schema import Body
from tests.synthesis import Json, Stack, Synthesis

GOLDEN = Path(__file__).parent / "goldens" / "dashboard.txt"
GROUP: Final = "/aws/bedrock-agentcore/runtimes/handbook-a1B2c3D4e5"
ALARM_ARN: Final = "arn:aws:cloudwatch:us-east-1:111122223333:alarm:rastro-prod-"
PLACES: Final[Mapping[Source, tuple[str, Mapping[str, str]]]] = {
    Source.OWN: ("Rastro/prod", {}),
    Source.RUNTIME: (
        "AWS/Bedrock-AgentCore",
        {"Resource": "arn:aws:runtime", "Operation": "InvokeAgentRuntime", "Name": "handbook::live"},
    ),
    Source.LIVE_GROUP: ("AWS/Logs", {"LogGroupName": f"{GROUP}-live"}),
    Source.LIVE_MASKING: ("AWS/Logs", {"LogGroupName": f"{GROUP}-live", "DataProtectionOperation": "Audit"}),
    Source.DEFAULT_GROUP: ("AWS/Logs", {"LogGroupName": f"{GROUP}-DEFAULT"}),
}
CHOSEN: Final = tuple(
    (Chosen(row, Decimal(5), row.period_seconds, row.expression, row.runbook), f"{ALARM_ARN}{row.key}")
    for row in ALARMS
)
BOARD: Final = Board(
    environment="prod",
    region="us-east-1",
    console="https://us-east-1.console.aws.amazon.com/cloudwatch/home?region=us-east-1",
    places=PLACES,
    alarms=CHOSEN,
    has=frozenset(Needs),
)
# observability-runtime-metrics and CloudWatch-Logs-Monitoring-CloudWatch-Metrics: names that AWS publishes, and the
# sets of dimensions under which it does.
DOCUMENTED: Final[Mapping[str, tuple[frozenset[str], tuple[frozenset[str], ...]]]] = {
    "AWS/Bedrock-AgentCore": (
        frozenset({"Invocations", "Throttles", "SystemErrors", "UserErrors", "Latency"}),
        (frozenset({"Resource", "Operation", "Name"}),),
    ),
    "AWS/Logs": (
        frozenset({"IncomingBytes", "IncomingLogEvents", "LogEventsWithFindings"}),
        (frozenset({"LogGroupName"}), frozenset({"LogGroupName", "DataProtectionOperation"})),
    ),
}
PANELS: Final = [panel for section in SECTIONS for panel in section.panels]


def read(document: Any) -> Body:
    """Read a body as strictly as its structure is documented; through JSON, as CloudWatch gets it."""
    return Body.model_validate(json.loads(json.dumps(document)))


def metrics(document: Body) -> Iterator[tuple[str, str, Mapping[str, str], Json]]:
    """List the metrics of all widgets: namespace, name, dimensions, and how each is drawn."""
    for widget in document.metric_widgets():
        for metric in widget.properties.metrics:
            if isinstance(metric[0], str):
                drawn = metric[-1] if isinstance(metric[-1], dict) else {}
                namespace, name, *pairs = [part for part in metric if isinstance(part, str)]
                yield namespace, name, dict(zip(pairs[::2], pairs[1::2], strict=True)), drawn


def shown(document: Body) -> str:
    """Write a body for people: where each widget stands, and what it shows."""
    lines = [f"start {document.start}, periods {document.periodOverride}"]
    for widget in document.widgets:
        place = f"{widget.x:>2},{widget.y:<3} {widget.width}x{widget.height}"
        properties = widget.properties.model_dump(exclude_defaults=True)
        if widget.type == "text":
            lines += [f"{place} text", *(f"      {line}" for line in properties["markdown"].splitlines())]
        elif widget.type == "alarm":
            lines += [f"{place} alarm", *(f"      {arn}" for arn in properties["alarms"])]
        else:
            told = {key: value for key, value in properties.items() if key not in {"metrics", "title"}}
            lines += [f"{place} metric {properties['title']}: {json.dumps(told)}"]
            lines += [f"      {json.dumps(metric)}" for metric in properties["metrics"]]
    return "\n".join(lines) + "\n"


def test_the_body_has_the_structure_that_aws_documents() -> None:
    """Every property of every widget is one of those that the documentation names."""
    assert read(body(BOARD)).widgets


@pytest.mark.parametrize(
    "spoil",
    [
        lambda widgets: widgets[0].update(colour="red"),
        lambda widgets: widgets[0]["properties"].update(html="<b>"),
        lambda widgets: widgets[0].update(width=25),
        lambda widgets: widgets[-2].update(x=20),
        lambda widgets: widgets[-2].update(type="log"),
        lambda widgets: widgets[-2]["properties"].pop("region"),
        lambda widgets: widgets[-2]["properties"].update(view="lines"),
        lambda widgets: widgets[-2]["properties"].update(period=90),
        lambda widgets: widgets[-2]["properties"].update(query="fields @message"),
        lambda widgets: widgets[-2]["properties"]["metrics"][0].insert(2, "LogGroupName"),
        lambda widgets: widgets[-2]["properties"]["metrics"][0][-1].update(stat="Mean"),
        lambda widgets: widgets[-2]["properties"].update(metrics=[[{"label": "nothing"}]]),
    ],
)
def test_a_body_that_is_none_is_refused(spoil: Any) -> None:
    """The structure of these tests is strict: each slip is found."""
    document = json.loads(json.dumps(body(BOARD)))
    spoil(document["widgets"])

    with pytest.raises(ValidationError):
        read(document)


def test_no_widget_queries_logs() -> None:
    """Each refresh of one would read the trail again, for everybody who has the page open."""
    assert {widget.type for widget in read(body(BOARD)).widgets} == {"metric", "text", "alarm"}


def test_every_metric_is_published() -> None:
    """The environment's own by a row of the metric filters, others by AWS, under the dimensions that it documents."""
    for namespace, name, dimensions, _ in metrics(read(body(BOARD))):
        if namespace == "Rastro/prod":
            assert name in BY_NAME
            assert dimensions == {}
        else:
            names, places = DOCUMENTED[namespace]
            assert name in names
            assert frozenset(dimensions) in places


def test_every_widget_of_metrics_names_its_region() -> None:
    """A dashboard is global, metrics are not."""
    assert {widget.properties.region for widget in read(body(BOARD)).metric_widgets()} == {"us-east-1"}


@given(has=st.frozensets(st.sampled_from(Needs)))
def test_what_an_environment_lacks_is_not_shown(has: frozenset[Needs]) -> None:
    """No panel stays empty for ever, and a filter is asked for just where a panel reads it."""
    document = read(body(replace(BOARD, has=has)))
    own = {name for namespace, name, _, _ in metrics(document) if namespace == "Rastro/prod"}

    assert own == set(reads(has))
    assert ("Sweeps" in own) == (Needs.SWEEP in has)
    assert ("PassagesLost" in own) == (Needs.ARCHIVE in has)
    assert any(name == "LogEventsWithFindings" for _, name, _, _ in metrics(document)) == (Needs.MASKING in has)


@given(has=st.frozensets(st.sampled_from(Needs)), alarms=st.lists(st.sampled_from(CHOSEN), unique=True))
def test_no_two_widgets_overlap(has: frozenset[Needs], alarms: list[tuple[Chosen, str]]) -> None:
    """Whatever is shown."""
    widgets = read(body(replace(BOARD, has=has, alarms=alarms))).widgets

    for one, other in combinations(widgets, 2):
        beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        below = one.y + one.height <= other.y or other.y + other.height <= one.y
        assert beside or below


def test_alarms_are_shown_with_what_to_do() -> None:
    """Each declared one by its ARN, and its runbook; without alarms there is no such widget."""
    document = read(body(BOARD))
    (alarms,) = [widget.properties for widget in document.widgets if widget.type == "alarm"]
    texts = "\n".join(widget.properties.markdown for widget in document.widgets if widget.type == "text")

    assert alarms.alarms == [arn for _, arn in CHOSEN]
    assert [row.key for row in ALARMS if f"docs/runbooks.md#{row.key}" not in texts] == []
    assert "alarm" not in {widget.type for widget in read(body(replace(BOARD, alarms=()))).widgets}


def test_runbooks_are_linked_where_they_have_an_address() -> None:
    """Else the text names the page in the repository."""
    page = "https://wiki.example.com/runbooks"
    alarms = [(replace(alarm, runbook=runbook(alarm.row, page)), arn) for alarm, arn in CHOSEN]
    linked = json.dumps(body(replace(BOARD, alarms=alarms)))

    assert f"[dead_trail]({page}#dead_trail)" in linked
    assert "docs/runbooks.md" not in linked


def test_every_saved_query_is_named_once_and_there_are_no_others() -> None:
    """Numbers lead to the lines behind them."""
    named = [query for section in SECTIONS for query in section.queries]

    assert sorted(named) == sorted(query.key for query in QUERIES)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_sums_read_lines_of_their_panel(panel: Panel) -> None:
    """An id in an expression is one of a series, and a hidden series is read by one."""
    ids = {series.id for series in panel.series if series.id}
    read_ids = {name for each in panel.sums for name in re.findall(r"[a-z][a-z_]*", each.expression)}

    assert read_ids == ids
    assert all(series.shown or series.id for series in panel.series)


@pytest.mark.parametrize("panel", [panel for panel in PANELS if panel.alarm], ids=lambda panel: panel.title)
def test_a_threshold_is_drawn_only_where_the_panel_shows_the_alarm_s_number(panel: Panel) -> None:
    """The same metrics over the same period; the number of the settings."""
    row = next(row for row in ALARMS if row.key == panel.alarm)
    drawn = [
        widget.properties.annotations.horizontal
        for widget in read(body(BOARD)).metric_widgets()
        if widget.properties.title == panel.title and widget.properties.annotations
    ]
    without = read(body(replace(BOARD, alarms=())))

    assert {(each.metric, each.statistic, each.source) for each in row.watches} <= {
        (series.metric, series.statistic, series.source) for series in panel.series
    }
    assert panel.period_seconds == row.period_seconds
    assert [[line.value for line in lines] for lines in drawn] == [[5]]
    assert not any(widget.properties.annotations for widget in without.metric_widgets())


def test_the_board_is_as_agreed() -> None:
    """All of it, as people see it."""
    assert shown(read(body(BOARD))) == GOLDEN.read_text()


def declared(stack: Stack) -> Body:
    """Read the dashboard of a stack."""
    return read(json.loads(stack.only("aws_cloudwatch_dashboard")["dashboard_body"]))


def test_each_environment_has_one_of_its_own(shipped: Synthesis) -> None:
    """Under its name, over its own metrics, and over alarms that the stack declares."""
    for agent in shipped.agents:
        environment = agent.name.removeprefix("agent-")
        document = declared(agent)
        own = {name for space, name, _, _ in metrics(document) if space == f"Rastro/{environment}"}
        filters = agent.resources("aws_cloudwatch_log_metric_filter").values()
        published = {each["metric_transformation"]["name"] for each in filters}
        (alarms,) = [widget.properties.alarms for widget in document.widgets if widget.type == "alarm"]
        names = [each["alarm_name"] for each in agent.resources("aws_cloudwatch_metric_alarm").values()]
        assert agent.only("aws_cloudwatch_dashboard")["dashboard_name"] == f"rastro-{environment}"
        assert own <= published
        assert sorted(arn.rpartition(":")[2] for arn in alarms) == sorted(names)


def test_what_differs_between_deployments_is_a_reference(shipped: Synthesis) -> None:
    """The runtime's ARN and the group's name are not known before: the body holds them as Terraform fills them in."""
    text = shipped["agent-prod"].only("aws_cloudwatch_dashboard")["dashboard_body"]

    assert "${aws_bedrockagentcore_agent_runtime.runtime.agent_runtime_arn}" in text
    assert "${aws_cloudwatch_log_group.log-group.name}" in text
    assert "TfToken" not in text


def test_an_environment_may_have_none(variants: Synthesis) -> None:
    """Then nothing is published for it alone, either."""
    stack = variants["agent-plain"]
    filters = {each["name"] for each in stack.resources("aws_cloudwatch_log_metric_filter").values()}

    assert not stack.resources("aws_cloudwatch_dashboard")
    assert not any("Tokens" in name for name in filters)
