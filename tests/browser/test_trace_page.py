"""The page of a traced session stands alone in a browser, whatever its trail holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.trace.page import page
from console.trace.session import Session
from console.trace.trail import Scan
from tests.browser.chromium import Chromium
from tests.console.trace.sessions import SESSION, START, evil_session, finding


@pytest.mark.parametrize(("session", "looked"), [(SESSION, True), (evil_session(), False)], ids=["usual", "hostile"])
def test_the_page_is_opened_without_a_word(
    browser: Chromium, tmp_path: Path, session: Session, *, looked: bool
) -> None:
    """No message, no request; no script among its elements; and what it says is there."""
    written = tmp_path / "session.html"
    written.write_text(page(session, finding if looked else None, Scan(), START))
    opened = browser.open(written)

    assert opened.console == ()
    assert opened.requests == ()
    assert opened.tree.find("script") is None
    assert opened.tree.find("main") is not None
    assert len(opened.tree.find_all("section")) > 1
