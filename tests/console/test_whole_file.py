"""A file is written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.errors import BadInputError
from console.whole_file import write_whole


def test_a_file_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    """For its owner alone; a link is replaced, and what it led to stays."""
    old, link = tmp_path / "old", tmp_path / "page.html"
    old.write_text("old")
    link.symlink_to(old)

    write_whole(link, "new \ud800")

    assert (link.is_symlink(), link.read_text(), old.read_text()) == (False, "new \\ud800", "old")
    assert link.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["nowhere/page.html", "folder", "x" * 300])
def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, name: str) -> None:
    """No folder, a folder in its place, a name that none can have."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInputError, match="cannot be written"):
        write_whole(tmp_path / name, "text")

    assert [one.name for one in tmp_path.iterdir()] == ["folder"]
