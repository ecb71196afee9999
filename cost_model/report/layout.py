"""Describe a page without its markup: chapters of cards, each with a chart, a table and remarks."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from cost_model.render.document import Remarks, Table
from cost_model.report.charts import Legend


@dataclass(frozen=True, slots=True)
class Chart:
    """Hold a chart drawn twice, for wide and for narrow screens; without drawings, what is said in their place."""

    name: str
    wide: Markup | None
    narrow: Markup | None
    absent: str = ""
    legend: tuple[Legend, ...] = ()
    captions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """Hold one answer: a chart, a table, remarks, or some of them. `open` shows the table at once."""

    name: str
    title: str
    said: str = ""
    chart: Chart | None = None
    table: Table | None = None
    open: bool = False
    remarks: tuple[Remarks, ...] = ()


@dataclass(frozen=True, slots=True)
class Tile:
    """Hold one figure that is seen first, and a word beside it."""

    label: str
    figure: str
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Chapter:
    """Hold what belongs together; `name` leads to it from the top of the page."""

    name: str
    title: str
    said: str = ""
    tiles: tuple[Tile, ...] = ()
    cards: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Hold a page."""

    title: str
    subtitle: str
    chapters: tuple[Chapter, ...]
    footer: str
