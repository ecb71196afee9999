"""Write a report as a page that stands alone: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cost_model.render.figures import clean
from cost_model.report.layout import Report

_HERE: Final = PackageLoader("cost_model.report", ".")


def page(report: Report) -> str:
    """Write the page."""
    environment = Environment(
        loader=_HERE,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_cleaned,
    )
    style, _, _ = _HERE.get_source(environment, "page.css")
    return environment.get_template("page.html.j2").render(
        report=report,
        style=Markup(style),  # noqa: S704 - ours
        style_hash=f"sha256-{b64encode(sha256(style.encode()).digest()).decode()}",
    )


def _cleaned(value: object) -> object:
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
