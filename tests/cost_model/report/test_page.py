"""A report stands alone: it runs nothing, fetches nothing, shows every text as text, and hides nothing unknown."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from hashlib import sha256

import pytest

from agent_image.contract import Regime
from cost_model.estimate import NOT_PRICED
from cost_model.render.figures import UNKNOWN
from tests.cost_model.report.reports import EVIL, article, article_page, evil, findings, unknown, written
from tests.parsed_page import Parsed

ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "nav", "main", "footer", "section", "figure"),
    *(
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "a",
        "ul",
        "li",
        "dl",
        "dt",
        "dd",
        "div",
        "span",
        "details",
        "summary",
        "figcaption",
    ),
    *("table", "thead", "tbody", "tr", "th", "td", "svg", "g", "defs", "path", "text", "use", "desc"),
}
CHARTS = ("part-1-regimes", "part-1-meters", "part-1-sensitivity", "part-1-growth", "article-steps", "measured-steps")


def test_nothing_runs_and_nothing_is_fetched() -> None:
    """No script, no handler, no address but places within the page; a policy that allows this very style alone."""
    text = article_page()
    found = Parsed(text)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    policy = next(attrs["content"] for tag, attrs in found.elements if "http-equiv" in attrs)

    assert found.open == []
    assert {tag for tag, _ in found.elements} <= ALLOWED
    assert not {name for _, attrs in found.elements for name in attrs if name.startswith("on") or name == "style"}
    assert all(link.startswith("#") for name in ("href", "xlink:href", "src") for link in found.values(name))
    assert style is not None
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{b64encode(sha256(style[1].encode()).digest()).decode()}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in text
    assert "@import" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_every_chart_is_there_and_labelled() -> None:
    """Drawn for wide and for narrow screens, each with a title and what it shows in words."""
    found = Parsed(article_page())
    drawings = [attrs for tag, attrs in found.elements if tag == "svg"]
    ids = Counter(found.values("id"))

    assert [attrs["aria-labelledby"] for attrs in drawings] == [
        f"{name}-{width}-title {name}-{width}-words" for name in CHARTS for width in ("wide", "narrow")
    ]
    assert {attrs["role"] for attrs in drawings} == {"img"}
    assert {name for named in found.values("aria-labelledby") for name in named.split()} <= ids.keys()
    assert {link.removeprefix("#") for link in found.values("href")} <= ids.keys()
    assert max(ids.values()) == 1
    assert "A bar a regime, stacked by meter: metadata $32.31; address $60.87;" in found.all_text


def test_the_figures_are_those_of_the_model() -> None:
    """Totals, unit prices with their day and source, assumptions, notes, and what the bill holds beside."""
    said = Parsed(article_page()).all_text

    for text in (
        *("$32.31", "$60.87", "$62.90", "$239.40", "$38.51", "$0.35 / 0.20 / 0.15 per GB", "2026-08-30"),
        "AmazonCloudWatch Application-Signals-Bytes",
        "AWS Pricing API answers of 2025-10-28",
        "stored bytes are counted uncompressed",
        "the price is of 2025-10-28, 398 days ago",
        "us-east-1, regime archive, 1,000,000 sessions a month, 100 % of spans indexed, kept 30 days, not masked",
        "its audit, which the article does not have: $",
        "scanning passes ingestion: from 70 queries on",
        *(each.text for each in findings(article()).subjects[0].advice),
        "CloudWatch Logs documentation on field indexes",
        *NOT_PRICED,
    ):
        assert text in said


def test_what_depends_on_usage_is_said_and_never_drawn_as_nothing() -> None:
    """No bar, no total, no line of growth for what nobody stated; its unit price instead."""
    found = Parsed(written(unknown()))
    marks = [attrs for tag, attrs in found.elements if tag == "g" and attrs.get("class") == "mark"]
    stories = Parsed(article_page())

    assert "Span ingestion: depends on usage: $0.35 per GB" in found.all_text
    assert f"Logs Insights queries {UNKNOWN}" in found.all_text
    assert "Without what depends on usage: Span ingestion" in found.all_text
    assert 0 < len(marks) < sum(attrs.get("class") == "mark" for _, attrs in stories.elements)


def test_a_part_of_a_total_says_that_it_is_one() -> None:
    """At least: the rest depends on usage, by name."""
    scenario = article(Regime.CONTENT)
    less = type(scenario)(scenario.deployment, type(scenario.workload)(sessions=scenario.workload.sessions))
    found = findings(less)

    assert found.subjects[0].estimate.unknown
    said = Parsed(written(less)).all_text
    assert "at least $" in said
    assert "Without what depends on usage: Logs Insights queries" in said


def test_every_text_is_text() -> None:
    """Tags, quotes, templates, mathematics, control and direction characters in the names of a person's own."""
    text = written(evil())
    found = Parsed(text)

    assert found.open == []
    assert "<script" not in text
    assert "{{ 7 * 7 }} $x$ &" in found.all_text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize("text", ["</title>", "</svg><script>", "<!--", "{% raw %}", "]]>", EVIL])
def test_a_name_leaves_its_place_nowhere(text: str) -> None:
    """The same elements as with a harmless name: only the words differ."""
    scenario = evil()
    replaced = type(scenario)(type(scenario.deployment)("us-east-1", environment=text), scenario.workload)
    harmless = type(scenario)(type(scenario.deployment)("us-east-1", environment="x"), scenario.workload)

    def tags(one: str) -> list[str]:
        return [tag for tag, _ in Parsed(one).elements]

    assert tags(written(replaced)) == tags(written(harmless))


def test_the_same_findings_are_the_same_page() -> None:
    """Byte for byte: no moment, no counter, no order of chance."""
    assert written(article()) == article_page()
