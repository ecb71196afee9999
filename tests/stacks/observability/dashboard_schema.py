"""Hold AWS's structure of a dashboard's body, strictly: what the documentation does not name is refused.

Taken from "Dashboard Body Structure and Syntax" of the CloudWatch API reference. Widgets of other kinds than ours, and
variables, are left out, so that one of them is a finding.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator

Number = StrictInt | StrictFloat
Statistic = Annotated[
    StrictStr,
    Field(pattern=r"^(SampleCount|Average|Sum|Minimum|Maximum|p(100|[0-9]{1,2}([.][0-9]{1,10})?))$"),
]
Color = Annotated[StrictStr, Field(pattern=r"^#[0-9a-f]{6}$")]
Region = Annotated[StrictStr, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")]
Relative = Annotated[StrictStr, Field(pattern=r"^-P(T[0-9]+[MH]|[0-9]+[DWM])$")]


class Part(BaseModel):
    """Take the properties that are named, and no others."""

    model_config = ConfigDict(extra="forbid")


class Annotation(Part):
    """A horizontal line."""

    value: Number
    label: StrictStr | None = None
    color: Color | None = None
    fill: Literal["above", "below"] | None = None
    visible: StrictBool = True
    yAxis: Literal["left", "right"] = "left"


class Annotations(Part):
    """The lines of a metric widget."""

    horizontal: list[Annotation]


class Axis(Part):
    """One side's axis."""

    label: StrictStr | None = None
    min: Number | None = None
    max: Number | None = None
    showUnits: StrictBool = True


class Axes(Part):
    """Both sides' axes."""

    left: Axis | None = None
    right: Axis | None = None


class Rendering(Part):
    """How one metric is drawn."""

    color: Color | None = None
    id: Annotated[StrictStr, Field(pattern=r"^[a-z][a-zA-Z0-9_]*$")] | None = None
    label: StrictStr | None = None
    period: StrictInt | None = None
    region: Region | None = None
    stat: Statistic | None = None
    visible: StrictBool = True
    yAxis: Literal["left", "right"] = "left"


class Expression(Rendering):
    """A metric math expression."""

    expression: StrictStr


class Legend(Part):
    """Where the legend stands."""

    position: Literal["right", "bottom", "hidden"]


class MetricProperties(Part):
    """The properties of a metric widget."""

    metrics: Annotated[list[list[Any]], Field(min_length=1, max_length=500)]
    region: Region
    annotations: Annotations | None = None
    legend: Legend | None = None
    liveData: StrictBool = False
    period: StrictInt = 300
    setPeriodToTimeRange: StrictBool = False
    singleValueFullPrecision: StrictBool = False
    sparkline: StrictBool = True
    stacked: StrictBool = False
    stat: Statistic | None = None
    timezone: Annotated[StrictStr, Field(pattern=r"^[+-][0-9]{4}$")] | None = None
    title: StrictStr | None = None
    view: Literal["timeSeries", "singleValue", "gauge", "bar", "pie", "table"] = "timeSeries"
    yAxis: Axes | None = None

    @model_validator(mode="after")
    def each_metric_is_whole(self) -> Self:
        """Take an expression alone, or namespace, name and pairs of dimensions, with how it is drawn at the end."""
        assert self.period in {1, 5, 10, 30} or self.period % 60 == 0
        for metric in self.metrics:
            drawn = metric[-1] if isinstance(metric[-1], dict) else {}
            names = [part for part in metric if not isinstance(part, dict)]
            assert all(isinstance(name, str) and name for name in names), metric
            if names:
                Rendering.model_validate(drawn)
                assert len(names) % 2 == 0, metric
                assert 2 <= len(names) <= 2 + 2 * 30, metric
                assert metric in ([*names, drawn], names)
            else:
                Expression.model_validate(drawn)
                assert len(metric) == 1
        return self


class TextProperties(Part):
    """The properties of a text widget."""

    markdown: StrictStr
    background: Literal["solid", "transparent"] = "solid"


class AlarmProperties(Part):
    """The properties of an alarm status widget."""

    alarms: Annotated[list[StrictStr], Field(min_length=1, max_length=100)]
    sortBy: Literal["default", "stateUpdatedTimestamp", "timestamp"] = "default"
    states: list[Literal["ALARM", "INSUFFICIENT_DATA", "OK"]] = []
    title: StrictStr | None = None


class Placed(Part):
    """Where a widget stands on the grid of 24 columns."""

    x: Annotated[StrictInt, Field(ge=0, le=23)]
    y: Annotated[StrictInt, Field(ge=0)]
    width: Annotated[StrictInt, Field(ge=1, le=24)]
    height: Annotated[StrictInt, Field(ge=1, le=1000)]

    @model_validator(mode="after")
    def it_stays_on_the_grid(self) -> Self:
        """Its right edge is an edge of the grid at most."""
        assert self.x + self.width <= 24
        return self


class MetricWidget(Placed):
    """A widget over metrics."""

    type: Literal["metric"]
    properties: MetricProperties


class TextWidget(Placed):
    """A widget of Markdown."""

    type: Literal["text"]
    properties: TextProperties


class AlarmWidget(Placed):
    """A widget of alarms and their states."""

    type: Literal["alarm"]
    properties: AlarmProperties


class Body(Part):
    """The whole body."""

    widgets: Annotated[
        list[Annotated[MetricWidget | TextWidget | AlarmWidget, Field(discriminator="type")]], Field(max_length=500)
    ]
    start: Relative | None = None
    end: StrictStr | None = None
    periodOverride: Literal["auto", "inherit"] = "auto"

    def metric_widgets(self) -> list[MetricWidget]:
        """List the widgets over metrics."""
        return [widget for widget in self.widgets if isinstance(widget, MetricWidget)]
