"""The page of a cost report stands alone in a browser, with every chart on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from bs4 import Tag

from agent_image.contract import Regime
from cost_model.diff import difference
from cost_model.prices import load_prices
from cost_model.report.chapters import report
from cost_model.report.findings import Findings, find
from cost_model.report.page import page
from cost_model.session_sizes import load_session_sizes
from tests.browser.chromium import Chromium, Opened
from tests.cost_model.conftest import TODAY
from tests.cost_model.report.reports import article, evil, findings, unknown

CHARTS = ("regimes", "meters", "sensitivity", "growth")
"""Of each environment."""


def compared() -> Findings:
    base, head = (findings(article(regime)).subjects[0].estimate for regime in (Regime.CONTENT, Regime.ARCHIVE))
    return find((article(),), load_prices(), TODAY, load_session_sizes(), difference([base], [head]))


def opened(browser: Chromium, folder: Path, found: Findings) -> Opened:
    written = folder / "report.html"
    written.write_text(page(report(found)))
    return browser.open(written)


@pytest.mark.parametrize(
    "found", [compared, lambda: findings(evil()), lambda: findings(unknown())], ids=["usual", "hostile", "dark"]
)
def test_the_page_is_opened_without_a_word(browser: Chromium, tmp_path: Path, found: Callable[[], Findings]) -> None:
    """No message, no request, no script; each id once, and each that is named is there."""
    seen = opened(browser, tmp_path, found())
    ids = Counter(element["id"] for element in seen.tree.find_all(id=True))
    named = {name for one in seen.tree.select("[aria-labelledby]") for name in str(one["aria-labelledby"]).split()}

    assert seen.console == ()
    assert seen.requests == ()
    assert seen.tree.find("script") is None
    assert set(ids.values()) == {1}
    assert named <= ids.keys()


def test_every_chart_is_there_and_labelled(browser: Chromium, tmp_path: Path) -> None:
    """Twice, for two widths: a title, a description, words on it, and figures that say themselves."""
    seen = opened(browser, tmp_path, compared())
    figures = {str(figure["id"]): figure for figure in seen.tree.find_all("figure")}

    expected = {"diff", *(f"part-1-{name}" for name in CHARTS), "article-steps", "measured-steps"}
    assert figures.keys() == expected
    for figure in figures.values():
        drawings = figure.find_all("svg")
        assert len(drawings) == 2
        for drawing in drawings:
            assert drawing["role"] == "img"
            assert all(len(text(drawing, tag)) > 20 for tag in ("title", "desc"))
            assert "USD a month" in {one.get_text() for one in drawing.find_all("text")}
            assert all(text(mark, "title") for mark in drawing.select("g.mark"))
            assert len(drawing.select("g.mark")) >= 4


def text(element: Tag, tag: str) -> str:
    found = element.find(tag)
    return "" if found is None else found.get_text().strip()
