"""Write a traced session as a page that stands alone: no script, nothing from elsewhere, every value escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from console.terminal import shown
from console.trace import phrases
from console.trace.display import Line
from console.trace.ending import scanned
from console.trace.reads import Finding
from console.trace.session import Session
from console.trace.trail import Scan
from console.trace.tree import tree

DEEPEST_NESTED: Final = 16
"""Lists within lists; browsers give up far beyond, and readers long before."""
WORDS_SHOWN: Final = 200_000
"""Characters of a question or an answer."""
_LINK: Final = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:[/?#][!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]*)?")


@dataclass(slots=True)
class Row:
    """Hold a line, those that go on with it, and how it nests.

    Attributes:
        parent: the next row belongs to it.
        closes: how many rows above it end with it.
    """

    line: Line
    below: list[Line] = field(default_factory=list)
    parent: bool = False
    closes: int = 0


@dataclass(slots=True)
class Section:
    """Hold what stands under one line that stands alone."""

    head: Row
    rows: list[Row] = field(default_factory=list)


def page(session: Session, finding: Finding | None, scan: Scan, now: datetime) -> str:
    """Write the page; `now` is when the passages were looked up."""
    environment = Environment(
        loader=PackageLoader("console.trace", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_spelt_out,
    )
    environment.filters["is_link"] = is_link
    style = _text(environment, "page.css")
    return environment.get_template("page.html.j2").render(
        session_id=session.id or "without an id",
        sections=list(_nested(_sections(tree(session, finding, most=WORDS_SHOWN)))),
        style=Markup(style),  # noqa: S704 - ours
        style_hash=f"sha256-{b64encode(sha256(style.encode()).digest()).decode()}",
        footer=_footer(finding, scan, now),
    )


def is_link(text: str) -> bool:
    """Tell whether a text is a web address and nothing else, so that it may be followed."""
    return _LINK.fullmatch(text) is not None


def _footer(finding: Finding | None, scan: Scan, now: datetime) -> str:
    looked = "passages were looked up at" if finding else "the trail alone, as it was at"
    read = scanned(scan)
    return f"rastro trace: {looked} {phrases.moment(now)}{f'; read {read}' if read else ''}"


def _spelt_out(value: object) -> object:
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _text(environment: Environment, name: str) -> str:
    source, _, _ = PackageLoader("console.trace", ".").get_source(environment, name)
    return source


def _sections(lines: Iterable[Line]) -> Iterator[Section]:
    section: Section | None = None
    for line in lines:
        if section is not None and line.below:
            (section.rows[-1] if section.rows else section.head).below.append(line)
        elif section is not None and line.depth:
            section.rows.append(Row(line))
        elif line.cells:
            if section is not None:
                yield section
            section = Section(Row(line))
    if section is not None:
        yield section


def _nested(sections: Iterable[Section]) -> Iterator[Section]:
    for section in sections:
        depths = [min(row.line.depth, DEEPEST_NESTED) for row in section.rows]
        for row, depth, following in zip(section.rows, depths, [*depths[1:], 1], strict=False):
            row.parent, row.closes = following > depth, max(0, depth - following)
        yield section
