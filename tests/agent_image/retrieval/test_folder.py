"""A folder of documents answers without any service, and always from the documents as they are now."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from agent_image.errors import KnowledgeBaseError
from agent_image.retrieval.chunks import OVERLAP_DEFAULT, WINDOW_DEFAULT, Cut
from agent_image.retrieval.folder import Folder, FolderKnowledgeBase, parse_folder
from agent_image.retrieval.knowledge_base import Retrieval

Open = Callable[..., FolderKnowledgeBase]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "pt").mkdir(parents=True)
    (folder / "returns.md").write_text("# Returns\n\nGoods come back within thirty days. Refunds take a week.\n")
    (folder / "shipping.txt").write_text("Parcels travel five days in Europe.\n")
    (folder / "pt" / "devoluções #1.md").write_text("# Devoluções\n\nA devolução é grátis até 30 dias.\n")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8 returns")
    return folder


@pytest.fixture
def opened(shop: Path) -> Iterator[Open]:
    """Open knowledge bases, on the shop's folder unless told otherwise, and close them at the end."""
    bases: list[FolderKnowledgeBase] = []

    def open_one(folder: Path = shop, cut: Cut | None = None, **options: Any) -> FolderKnowledgeBase:
        bases.append(FolderKnowledgeBase(Folder(folder, cut or Cut()), **options))
        return bases[-1]

    yield open_one
    for base in bases:
        base.close()


def names(found: Retrieval) -> list[str]:
    return [Path(unquote(urlsplit(passage.uri).path)).name for passage in found.passages]


def notices(capfd: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capfd.readouterr().err.splitlines()]


def test_the_best_passages_come_first(opened: Open) -> None:
    """Documents are found in both languages, at any depth, by words in any number and accent."""
    base = opened()

    assert names(base.retrieve("When are refunds paid for returned goods?", 1)) == ["returns.md"]
    assert names(base.retrieve("qual o prazo de devolucao", 3)) == ["devoluções #1.md"]
    assert names(base.retrieve("parcel", 3)) == ["shipping.txt"]
    assert base.id == "folder:shop"


def test_scores_are_positive_and_fall(opened: Open) -> None:
    """BM25 is shown as a score: the higher the better."""
    scores = [passage.score or 0 for passage in opened().retrieve("days returns", 10).passages]

    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_equal_passages_keep_one_order(opened: Open, tmp_path: Path) -> None:
    """Ties break by path and position, whatever order the file system lists in."""
    folder = tmp_path / "copies"
    folder.mkdir()
    for name in ("c.md", "a.md", "b.md"):
        (folder / name).write_text("the same words")

    assert names(opened(folder).retrieve("words", 2)) == ["a.md", "b.md"]


def test_a_uri_leads_to_the_file(opened: Open, shop: Path) -> None:
    """Blanks, hashes and accents are encoded, so that the URI names this file and no other."""
    (passage,) = opened().retrieve("grátis", 1).passages

    assert passage.uri == (shop / "pt" / "devoluções #1.md").as_uri()
    assert passage.metadata == {"position": 0}
    assert "%20%231.md" in passage.uri


def test_nothing_found_is_an_answer(opened: Open) -> None:
    """Words that stand nowhere, and no words at all, find nothing and fail nothing."""
    base = opened()

    found = [base.retrieve(query, 5) for query in ("zebra", "", "?!", '"; DROP TABLE')]

    assert [one.passages for one in found] == [(), (), (), ()]
    assert len({one.index_version for one in found}) == 1
    assert found[0].index_version is not None


def test_an_empty_folder_is_no_error(opened: Open, tmp_path: Path) -> None:
    """A folder may be filled later, and is read then."""
    folder = tmp_path / "empty"
    folder.mkdir()
    base = opened(folder)
    before = base.retrieve("words", 5)
    (folder / "a.md").write_text("words")

    assert before.passages == ()
    assert names(base.retrieve("words", 5)) == ["a.md"]


def test_a_folder_that_is_not_there_is_not_found(opened: Open, shop: Path, tmp_path: Path) -> None:
    """Nor is a file in its place a folder; one that comes back answers again."""
    for place in (tmp_path / "nowhere", shop / "returns.md"):
        with pytest.raises(KnowledgeBaseError) as raised:
            opened(place).retrieve("words", 5)
        assert raised.value.code == "not_found"

    base = opened()
    base.retrieve("parcel", 1)
    shop.rename(tmp_path / "away")
    with pytest.raises(KnowledgeBaseError):
        base.retrieve("parcel", 1)
    (tmp_path / "away").rename(shop)
    assert names(base.retrieve("parcel", 1)) == ["shipping.txt"]


def test_every_change_is_in_the_next_retrieval(opened: Open, shop: Path) -> None:
    """Edited, added, renamed and deleted documents count at once, and each state has its version."""
    base = opened()
    versions = [base.retrieve("x", 1).index_version]

    (shop / "shipping.txt").write_text("Parcels travel six weeks by camel.\n")
    assert names(base.retrieve("camel", 1)) == ["shipping.txt"]
    versions.append(base.retrieve("x", 1).index_version)

    (shop / "new.md").write_text("Vouchers never expire.")
    assert names(base.retrieve("vouchers", 1)) == ["new.md"]
    versions.append(base.retrieve("x", 1).index_version)

    (shop / "new.md").rename(shop / "pt" / "newer.md")
    assert names(base.retrieve("vouchers", 1)) == ["newer.md"]
    versions.append(base.retrieve("x", 1).index_version)

    (shop / "returns.md").unlink()
    assert base.retrieve("refunds", 1).passages == ()
    versions.append(base.retrieve("x", 1).index_version)

    assert len(set(versions)) == 5


def test_the_version_follows_content_and_sizes_and_nothing_else(opened: Open, shop: Path, tmp_path: Path) -> None:
    """The same documents elsewhere, touched or read by another process, are the same version."""
    version = opened().retrieve("x", 1).index_version
    os.utime(shop / "returns.md", (0, 0))
    copy = tmp_path / "elsewhere"
    shop.rename(copy)

    assert opened(copy, index=str(tmp_path / "index.db")).retrieve("x", 1).index_version == version
    assert opened(copy, Cut(500, 100)).retrieve("x", 1).index_version != version
    assert (
        opened(copy, Cut(500, 99)).retrieve("x", 1).index_version
        != opened(copy, Cut(500, 100)).retrieve("x", 1).index_version
    )


def test_a_setting_overrides_the_version(opened: Open) -> None:
    """What an operator states is what the trail says."""
    assert opened(index_version="2026-11").retrieve("x", 1).index_version == "2026-11"


def test_an_index_file_is_used_again_and_shared(opened: Open, tmp_path: Path) -> None:
    """Two knowledge bases with other sizes on one file disturb neither's answers."""
    file = str(tmp_path / "index.db")
    wide, narrow = opened(index=file), opened(cut=Cut(40, 0), index=file)

    for _ in range(3):
        assert [len(passage.text) > 40 for passage in wide.retrieve("refunds", 1).passages] == [True]
        assert [len(passage.text) <= 40 for passage in narrow.retrieve("refunds", 1).passages] == [True]


def test_a_file_that_is_no_index_is_unavailable_and_left_alone(opened: Open, tmp_path: Path) -> None:
    """Whatever stands there may be somebody's."""
    file = tmp_path / "index.db"
    file.write_bytes(b"not a database, but somebody's words" * 100)

    with pytest.raises(KnowledgeBaseError) as raised:
        opened(index=str(file)).retrieve("x", 1)

    assert raised.value.code == "unavailable"
    assert file.read_bytes().startswith(b"not a database")


def test_an_index_that_another_process_holds_fails_no_more_than_one_retrieval(opened: Open, tmp_path: Path) -> None:
    """A lock that outlasts the wait is a code; once it is gone, the index is filled."""
    file = str(tmp_path / "index.db")
    base = opened(index=file, busy_seconds=0.01)
    other = sqlite3.connect(file, isolation_level=None)
    try:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(KnowledgeBaseError) as raised:
            base.retrieve("parcel", 1)
        other.execute("ROLLBACK")
    finally:
        other.close()

    assert raised.value.code == "unavailable"
    assert names(base.retrieve("parcel", 1)) == ["shipping.txt"]


def test_what_holds_no_document_is_skipped_and_told_once(
    opened: Open, shop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file in another encoding and a link to nowhere leave one notice each; a pipe is no document; nothing fails."""
    (shop / "latin.txt").write_bytes("devolução".encode("latin-1"))
    (shop / "lost ä.md").symlink_to(shop / "nowhere")
    os.mkfifo(shop / "pipe.md")
    base = opened()

    for _ in range(3):
        assert names(base.retrieve("parcel", 5)) == ["shipping.txt"]

    assert notices(capfd) == [
        {"notice": "document_not_utf8", "path": "latin.txt"},
        # Percent-encoded it is no token, so its length stands for it.
        {"notice": "document_unreadable", "path": {"bytes": 16}},
    ]


def test_hidden_files_and_folders_are_left_out(opened: Open, shop: Path) -> None:
    """What tools keep in a folder is no knowledge."""
    (shop / ".git").mkdir()
    (shop / ".git" / "a.md").write_text("secretword")
    (shop / ".draft.md").write_text("secretword")

    assert opened().retrieve("secretword", 5).passages == ()


def test_a_byte_order_mark_is_no_word(opened: Open, shop: Path) -> None:
    """Files from Windows read like any other."""
    (shop / "bom.txt").write_bytes("\ufeffMarked words".encode())

    assert opened().retrieve("marked", 1).passages[0].text == "Marked words"


def test_threads_and_edits_at_once(opened: Open, shop: Path, tmp_path: Path) -> None:
    """Each answer is of one state of the folder: its version and its words belong together."""
    base = opened(index=str(tmp_path / "index.db"))

    def ask(n: int) -> tuple[str | None, str]:
        if n % 10 == 0:
            (shop / "shipping.txt").write_text(f"Parcels travel {n} days.")
        found = base.retrieve("parcels", 1)
        return found.index_version, found.passages[0].text if found.passages else ""

    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(ask, range(200)))

    assert len({version for version, _ in found}) == len(found)


def test_the_url_names_folder_and_sizes() -> None:
    """Sizes that are left out have defaults; a path may hold anything, encoded where it must be."""
    assert parse_folder("folder:knowledge") == Folder(Path("knowledge"), Cut(WINDOW_DEFAULT, OVERLAP_DEFAULT))
    assert parse_folder("folder:/a b/ç%3F%25?window=500&overlap=50") == Folder(Path("/a b/ç?%"), Cut(500, 50))
    assert parse_folder("folder:x?overlap=0").cut == Cut(WINDOW_DEFAULT, 0)


def test_every_fault_of_the_url_is_told_at_once() -> None:
    """Each with the value and what is allowed."""
    with pytest.raises(ValueError, match="allowed") as raised:
        parse_folder("dir:?window=10&overlap=-1&colour=red")

    told = str(raised.value)
    assert len(told.splitlines()) == 4
    for part in ("names no folder", "window is 10; allowed: 40 to", "overlap is '-1'", "'colour' is no key"):
        assert part in told


@pytest.mark.parametrize("url", ["folder:", "folder://host/path", "folder:?window=100"])
def test_a_url_without_a_folder_is_refused(url: str) -> None:
    """A host is no folder of this machine."""
    with pytest.raises(ValueError, match="names no folder; allowed: folder:<path>"):
        parse_folder(url)
