"""Give each test a settings folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks.settings.folder import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Copy the shipped settings folder."""
    return Folder.shipped(tmp_path)
