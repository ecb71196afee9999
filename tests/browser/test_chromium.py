"""A page that is not what it should be is found out: without this the other tests here could not fail."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.browser.chromium import Chromium


def test_what_a_page_asks_for_is_seen(browser: Chromium, tmp_path: Path) -> None:
    """A picture from a server, and a style from a host that no name leads to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]  # whose server is gone when the page asks
    picture, style = f"http://127.0.0.1:{port}/x.png", "https://fonts.example.com/a.css"
    page = tmp_path / "asks.html"
    page.write_text(f'<!doctype html><link rel="stylesheet" href="{style}"><img src="{picture}">')

    assert set(browser.open(page).requests) == {picture, style}


def test_what_the_console_says_is_heard(browser: Chromium, tmp_path: Path) -> None:
    """A style that the page's own policy forbids, and a script that fails."""
    policy = "default-src 'none'; script-src 'unsafe-inline'"
    page = tmp_path / "says.html"
    page.write_text(
        f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<p style="color: red">red</p><script>nothing.there()</script>'
    )
    said = browser.open(page).console

    assert any("inline style" in line for line in said)
    assert any("ReferenceError" in line for line in said)
