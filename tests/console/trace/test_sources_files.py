"""Files of this machine are read where they are files, and said of another machine where they are its."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from urllib.parse import quote

import pytest

from console.trace.sources.by_scheme import ByScheme
from console.trace.sources.files import Files, OtherMachine
from console.trace.sources.source import Content, Why, missing, unreadable


@pytest.mark.parametrize("name", ["a.md", "my file #1?.md", "50% ä.md", "a%20b.md", os.fsdecode(b"latin-\xe9.md")])
def test_a_file_is_read_by_the_uri_that_the_image_writes(tmp_path: Path, name: str) -> None:
    """Percent-encoded bytes, whatever they mean to a URL or to Unicode."""
    (tmp_path / name).write_bytes(b"Words.")

    read = Files().read(f"{tmp_path.as_uri()}/{quote(os.fsencode(name))}")

    assert read == Content(b"Words.", name)


def test_what_is_not_there_is_missing(tmp_path: Path) -> None:
    """And so is what lies below a file."""
    (tmp_path / "file").touch()

    assert Files().read(f"{tmp_path.as_uri()}/none.md") == missing(Why.NOT_FOUND)
    assert Files().read(f"{tmp_path.as_uri()}/file/none.md") == missing(Why.NOT_FOUND)


def test_what_may_not_be_read_is_unreadable(tmp_path: Path) -> None:
    """Not missing: somebody else may read it."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    closed = tmp_path / "closed.md"
    closed.write_text("Words.")
    closed.chmod(0)
    if not os.access(closed, os.R_OK):
        assert Files().read(closed.as_uri()) == unreadable(Why.ACCESS_DENIED)

    assert Files().read(f"{tmp_path.as_uri()}/loop").state is unreadable("").state  # type: ignore[union-attr]


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """A pipe would wait for ever, a device never ends, a folder is none; a link to a file is as good as the file."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to-zero").symlink_to("/dev/zero")
    (tmp_path / "file.md").write_text("Words.")
    (tmp_path / "link.md").symlink_to(tmp_path / "file.md")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for name in ("pipe", "to-zero", "socket", ""):
            assert not isinstance(Files().read(f"{tmp_path.as_uri()}/{name}"), Content)

    assert isinstance(Files().read(f"{tmp_path.as_uri()}/link.md"), Content)


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/self/../self/cmdline", "/sys/kernel/notes", "/dev/null"])
def test_what_the_system_makes_up_is_not_read(tmp_path: Path, path: str) -> None:
    """They look like files and hold secrets of this very process; no way leads there."""
    if not Path(path).exists():
        pytest.skip(f"this system has no {path}")
    (tmp_path / "link.md").symlink_to(path)
    (tmp_path / "folder").symlink_to("/proc/self")

    assert Files().read(f"file://{path}") == unreadable(Why.NOT_ALLOWED)
    assert Files().read(f"{tmp_path.as_uri()}/link.md") == unreadable(Why.NOT_ALLOWED)
    assert Files().read(f"{tmp_path.as_uri()}/folder/environ") == unreadable(Why.NOT_ALLOWED)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    """At the limit it is."""
    file = tmp_path / "a.md"
    file.write_bytes(b"x" * 1_001)

    assert Files(1_000).read(file.as_uri()) == unreadable(Why.TOO_LARGE)
    assert isinstance(Files(1_001).read(file.as_uri()), Content)


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("file://server/share/a.md", Why.OTHER_MACHINE),
        ("file:relative.md", Why.BAD_URI),
        ("file:", Why.BAD_URI),
        ("file:///a%00b", Why.BAD_URI),
        ("file://[/x", Why.BAD_URI),
        (f"file:///{'x' * 5_000}", Why.FAILED),
    ],
)
def test_a_uri_may_be_anything(uri: str, why: Why) -> None:
    """A trail says what it says."""
    assert Files().read(uri) == unreadable(why)


def test_a_file_of_a_deployed_agent_is_of_another_machine(tmp_path: Path) -> None:
    """Even where this machine has one of that name."""
    file = tmp_path / "a.md"
    file.write_text("Words.")

    assert OtherMachine().read(file.as_uri()) == unreadable(Why.OTHER_MACHINE)
    assert OtherMachine().older(file.as_uri(), "") == ()


def test_a_scheme_decides_who_reads(tmp_path: Path) -> None:
    """In small letters or not; what nobody reads is said."""
    file = tmp_path / "a.md"
    file.write_text("Words.")
    sources = ByScheme({"file": Files()})

    assert isinstance(sources.read(f"FILE://{file}"), Content)
    assert sources.older(file.as_uri(), "") == ()
    for uri in ("bedrock://KB12345678/unknown", "s3://bucket/a.md", "", "no scheme", "javascript:alert(1)"):
        assert sources.read(uri) == unreadable(Why.NO_SCHEME)
        assert sources.older(uri, "") == ()
