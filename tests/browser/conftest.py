"""Share one browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.browser.chromium import Chromium

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
def browser(tmp_path: Path) -> Chromium:
    """Find a browser, or say that the test is skipped for want of one."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is on PATH; on Debian: apt-get install chromium")
    return Chromium(found, tmp_path / "browser")
