"""Write the dashboard of an environment: pure, from what its stack declares to the body that CloudWatch reads."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stacks.bindings import json_number
from stacks.framework import TerraformStack, aws
from stacks.observability.alarms import Needs, Source
from stacks.observability.panels import SECTIONS, Panel, Section, Series
from stacks.observability.query import folder
from stacks.observability.watching import Chosen

WIDTH: Final = 24
"""Units of the dashboard's grid."""
PANELS_A_ROW: Final = 3
_PANEL_HEIGHT: Final = 6
_TEXT_HEIGHT: Final = 2
_ALARMS_A_ROW: Final = 4
_LINES_A_UNIT: Final = 2
"""Lines of a table that one unit of height shows, a little more than it takes."""
_START: Final = "-PT12H"

Json = dict[str, Any]
Widget = tuple[str, int, Json]
"""A widget's type, its height and its properties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Name what a dashboard shows.

    Attributes:
        console: the address of CloudWatch's console in the Region.
        places: the namespace and the dimensions under which each source publishes.
        alarms: the alarms that the stack declares, and their ARNs.
        has: what the environment has to show.
    """

    environment: str
    region: str
    console: str
    places: Mapping[Source, tuple[str, Mapping[str, str] | None]]
    alarms: Sequence[tuple[Chosen, str]]
    has: Collection[Needs]


def reads(has: Collection[Needs]) -> tuple[str, ...]:
    """Name the environment's own metrics that its dashboard reads: filters must publish them."""
    found = [series for section in SECTIONS for panel in section.panels for series in _series(panel, has)]
    return tuple(dict.fromkeys(series.metric for series in found if series.source is Source.OWN))


def body(board: Board) -> Json:
    """Write the dashboard's body."""
    return {"start": _START, "periodOverride": "inherit", "widgets": list(_laid(_widgets(board)))}


def build(stack: TerraformStack, *, name: str, board: Board) -> None:
    """Declare the dashboard."""
    aws.cloudwatch_dashboard.CloudwatchDashboard(
        stack, "dashboard", dashboard_name=name, dashboard_body=json.dumps(body(board), separators=(",", ":"))
    )


def _widgets(board: Board) -> Iterator[list[Widget]]:
    """Give the widgets row by row; those of a row share its width."""
    yield [("text", _TEXT_HEIGHT, {"markdown": _head(board)})]
    if board.alarms:
        yield [("alarm", *_alarms(board))]
    for section in SECTIONS:
        yield [("text", _TEXT_HEIGHT, {"markdown": _told(board, section)})]
        panels = [panel for panel in section.panels if _series(panel, board.has)]
        for first in range(0, len(panels), PANELS_A_ROW):
            row = panels[first : first + PANELS_A_ROW]
            yield [("metric", _PANEL_HEIGHT, _shown(board, panel)) for panel in row]
    if board.alarms:
        yield [("text", *_what_to_do(board))]


def _laid(rows: Iterator[list[Widget]]) -> Iterator[Json]:
    y = 0
    for row in rows:
        width = WIDTH if len(row) == 1 and row[0][0] != "metric" else WIDTH // PANELS_A_ROW
        for column, (kind, height, properties) in enumerate(row):
            place = {"x": column * width, "y": y, "width": width, "height": height}
            yield {"type": kind, **place, "properties": properties}
        y += max(height for _, height, _ in row)


def _head(board: Board) -> str:
    link = f"[Logs Insights]({board.console}#logsV2:logs-insights)"
    return (
        f"# {board.environment}\nNo widget reads the log group. What needs it is a saved query in {link}, in folder "
        f"`{folder(board.environment)}`: the first line of each says which window to choose."
    )


def _told(board: Board, section: Section) -> str:
    queries = ", ".join(f"`{key}`" for key in section.queries)
    return f"## {section.title}\n{section.what} Saved queries under `{folder(board.environment)}`: {queries}."


def _alarms(board: Board) -> tuple[int, Json]:
    arns = [arn for _, arn in board.alarms]
    height = 1 + -(-len(arns) // _ALARMS_A_ROW)
    return height, {"title": "Alarms", "alarms": arns, "sortBy": "stateUpdatedTimestamp"}


def _what_to_do(board: Board) -> tuple[int, Json]:
    rows = [f"| {alarm.row.title} | {_runbook(alarm)} |" for alarm, _ in board.alarms]
    height = 2 + -(-(len(rows) + 1) // _LINES_A_UNIT)
    return height, {"markdown": "\n".join(["## When an alarm rings", "| alarm | what to do |", "|---|---|", *rows])}


def _runbook(alarm: Chosen) -> str:
    return f"[{alarm.row.key}]({alarm.runbook})" if alarm.runbook.startswith("https://") else f"`{alarm.runbook}`"


def _shown(board: Board, panel: Panel) -> Json:
    sums = [[{"expression": each.expression, "label": each.label}] for each in panel.sums]
    shown: Json = {
        "title": panel.title,
        "region": board.region,
        "view": "timeSeries",
        "stacked": panel.stacked,
        "period": panel.period_seconds,
        "metrics": [*sums, *(_metric(board, series) for series in _series(panel, board.has))],
        "yAxis": {"left": {"min": 0, "label": panel.unit, "showUnits": False}},
    }
    lines = [
        {"label": "alarm", "value": json_number(alarm.threshold)}
        for alarm, _ in board.alarms
        if alarm.row.key == panel.alarm
    ]
    return {**shown, "annotations": {"horizontal": lines}} if lines else shown


def _series(panel: Panel, has: Collection[Needs]) -> tuple[Series, ...]:
    return tuple(series for series in panel.series if series.needs is None or series.needs in has)


def _metric(board: Board, series: Series) -> list[Any]:
    namespace, dimensions = board.places[series.source]
    told: Json = {"label": series.label, "stat": series.statistic}
    if series.id:
        told["id"] = series.id
    if not series.shown:
        told["visible"] = False
    return [namespace, series.metric, *(part for pair in (dimensions or {}).items() for part in pair), told]
