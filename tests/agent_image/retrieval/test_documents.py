"""A folder is looked at before every retrieval, and read only when it may have changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_image.retrieval.documents import SETTLED_NS, Document, Documents


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "a.md"
    file.write_text("five days")
    return file


def documents(file: Path, age_ns: int) -> Documents:
    """Watch the file's folder, with a clock on which the file's last change is so old."""
    return Documents(file.parent, lambda: file.stat().st_ctime_ns + age_ns)


def test_a_settled_folder_is_not_read_again(file: Path) -> None:
    """Touching nothing changes nothing; every change that leaves a trace is seen."""
    watched = documents(file, SETTLED_NS + 1)
    assert watched.changed()
    assert watched.read() == (Document("a.md", "five days"),)
    assert not watched.changed()

    (file.parent / "b.txt").write_text("new")
    assert watched.changed()


def test_an_edit_that_hides_is_seen(file: Path) -> None:
    """With size and modification time put back, the change time gives it away."""
    watched = documents(file, SETTLED_NS + 1)
    watched.read()
    before = file.stat()
    file.write_text("nine days")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert watched.changed()
    assert watched.read() == (Document("a.md", "nine days"),)


def test_a_file_that_has_only_just_changed_is_not_trusted(file: Path) -> None:
    """Two edits within one tick of the file system's clock leave one trace: until a file settles, it is read again."""
    watched = documents(file, SETTLED_NS)
    watched.read()

    assert watched.changed()


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """It is not taken for an empty one."""
    with pytest.raises(FileNotFoundError):
        Documents(tmp_path / "nowhere", lambda: 0).read()
