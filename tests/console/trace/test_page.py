"""A page stands alone: it runs nothing, fetches nothing, and shows every text as text."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import pytest

from agent_image.contract import Regime
from console.trace.page import is_link, page
from console.trace.session import OtherStep, PassageRead, Retrieval, Session, Words
from console.trace.trail import Scan
from tests.console.trace.sessions import ASKED, EVIL, RETRIEVAL, SESSION, START, WORDS, evil_session, finding
from tests.parsed_page import Parsed

ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section"),
    *("h1", "h2", "p", "span", "ol", "li", "details", "summary", "blockquote", "mark", "a"),
}


def written(session: Session, *, looked: bool = True) -> str:
    return page(session, finding if looked else None, Scan(), START)


def with_passage(passage: PassageRead) -> Session:
    retrieval: Retrieval = replace(RETRIEVAL, passages=(passage,))
    return replace(SESSION, turns=(replace(ASKED, steps=(retrieval,)),))


def test_a_page_says_what_the_tree_says() -> None:
    """The same words as in a terminal, and the words of the passages with them."""
    found = Parsed(written(SESSION))

    assert found.open == []
    for said in (
        f"session {SESSION.id}",
        "turn 1 prompt completed 2026-03-14 03:00:00 UTC",
        "text: from the archive source: changed (it stands in version v7 of 2026-03-01T00:00:00Z) index: re-indexed",
        "no words: not recovered (erased from the archive)",
        "goes on in turn 3 (run 99c291a6)",
        "unread_lines partial 1 line of the trail could not be read",
        "passages were looked up at 2026-03-14 03:00:00 UTC",
        " ".join(WORDS["returns.md"].split()),
        "Our promise.",
        "Ask at the desk.",
    ):
        assert said in found.all_text


def test_nothing_runs_and_nothing_is_fetched() -> None:
    """No script, no handler, no address of anything; and a policy that allows none, but this very style."""
    text = written(evil_session(), looked=False)
    found = Parsed(text)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    policy = next(attrs["content"] for tag, attrs in found.elements if "http-equiv" in attrs)

    assert {tag for tag, _ in found.elements} <= ALLOWED
    assert {name for _, attrs in found.elements for name in attrs} <= {
        *("lang", "charset", "http-equiv", "content", "name", "class", "id", "aria-labelledby", "open"),
    }
    assert style is not None
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert f"'sha256-{b64encode(sha256(style[1].encode()).digest()).decode()}'" in policy
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_every_text_of_a_trail_is_text() -> None:
    """Tags, quotes, templates, control and direction characters, wherever a span may hold them."""
    text = written(evil_session(), looked=False)
    found = Parsed(text)

    assert "<script" not in text
    assert "49" not in found.all_text
    assert "{{ 7 * 7 }}" in found.all_text
    assert "<script>alert(1)</script>\"' javascript:alert(1)" in found.all_text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)
    assert "\\x1b[2J\\u202e" in found.all_text
    assert found.open == []


@pytest.mark.parametrize(
    "text", ["<script>", "\"'><img src=x onerror=alert(1)>", "{% raw %}", "</style><script>", EVIL]
)
def test_a_text_leaves_its_place_nowhere(text: str) -> None:
    """The same elements as with a harmless text: only the words differ."""
    harmless, hostile = (
        replace(SESSION, id=one, turns=(replace(ASKED, question=Words(one, 5), answer=Words(one, 5)),))
        for one in ("x", text)
    )

    assert Parsed(written(hostile)).elements == Parsed(written(harmless)).elements


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "s3://bucket/key",
        "file:///etc/passwd",
        "https://a b",
        'https://a/"onclick=x',
        "https://user:secret@host/",
        "https://a/\u202e",
        "HTTPS://\x1b",
        "//host/x",
        "",
    ],
)
def test_only_a_web_address_is_a_link(uri: str) -> None:
    """Any other URI is text."""
    assert not is_link(uri)
    assert "<a " not in written(with_passage(replace(_first(), uri=uri)))


def test_a_link_tells_nobody_whence_it_was_followed() -> None:
    """A document on the web can be opened from the page."""
    uri = "https://docs.example.com:8443/a/b?c=d&e=%20f"
    found = Parsed(written(with_passage(replace(_first(), uri=uri))))
    links = [attrs for tag, attrs in found.elements if tag == "a"]

    assert len(links) == 1
    assert (links[0]["href"] or "").startswith(uri + "#")
    assert links[0]["rel"] == "noopener noreferrer nofollow"
    assert ("meta", {"name": "referrer", "content": "no-referrer"}) in found.elements


def test_metadata_is_said_on_the_page_as_well() -> None:
    """Nothing is guessed anywhere."""
    retrieval = replace(RETRIEVAL, passages=None)
    session = replace(SESSION, regimes=(Regime.METADATA,), turns=(replace(ASKED, steps=(retrieval,)),))

    assert "regime metadata: which passages these were cannot be known" in Parsed(written(session)).all_text


def test_lists_nest_as_deep_as_a_browser_follows() -> None:
    """10,000 spans, each within the one before, are a page all the same."""
    step = OtherStep(title="leaf")
    for number in range(10_000):
        step = OtherStep(title=f"span {number}", children=(step,))
    found = Parsed(written(replace(SESSION, turns=(replace(ASKED, steps=(step,)),)), looked=False))

    assert "leaf" in found.all_text
    assert found.open == []


def test_a_session_without_anything_is_a_page() -> None:
    """Not even an id."""
    assert "without an id" in Parsed(written(Session(""))).all_text


def _first() -> PassageRead:
    return (RETRIEVAL.passages or ())[0]
