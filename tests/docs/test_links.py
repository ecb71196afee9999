"""Every link between pages leads somewhere, and every page can be reached."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.blocks import PAGES, named, prose_of

LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def slugs(headings: list[str]) -> Iterator[str]:
    """Name headings as GitHub does: lower case, no punctuation, hyphens for blanks; a second one gets a number."""
    seen: Counter[str] = Counter()
    for heading in headings:
        text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading.strip())
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        yield f"{slug}-{seen[slug]}" if seen[slug] else slug
        seen[slug] += 1


@cache
def anchors(page: Path) -> frozenset[str]:
    return frozenset(slugs(HEADING.findall(prose_of(page))))


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """List where a page leads: a file, and an anchor or nothing."""
    for file, anchor in LINK.findall(prose_of(page)):
        yield (page.parent / file).resolve() if file else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_to_a_file_and_every_anchor_to_a_heading(page: Path) -> None:
    """As GitHub names headings."""
    assert [str(file) for file, _ in links(page) if not file.exists()] == []
    assert [
        f"{named(file)}#{anchor}"
        for file, anchor in links(page)
        if anchor and file.suffix == ".md" and anchor not in anchors(file)
    ] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    """A page that nobody leads to is read by nobody."""
    reached, open_ = set[Path](), [ROOT / "README.md"]
    while open_:
        page = open_.pop()
        if page not in reached:
            reached.add(page)
            open_ += [file for file, _ in links(page) if file.suffix == ".md" and file.exists()]

    assert [named(page) for page in PAGES if page not in reached] == []


def test_headings_are_named_as_github_names_them() -> None:
    """Case, punctuation, code, links and repetition."""
    headings = ["Why a trail need not cost much", "`rastro trace`: how?", "[X](y.md) & Z", "Time", "Time"]

    assert list(slugs(headings)) == [
        *("why-a-trail-need-not-cost-much", "rastro-trace-how", "x--z", "time", "time-1"),
    ]
