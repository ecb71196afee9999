"""Every store of passages keeps one promise: each text once, and an erased one never again."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_image.errors import StoreError
from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.folder_store import FolderPassageStore
from agent_image.retrieval.store import PassageStore, State
from tests.agent_image.retrieval.trail_store import trail_store

Fresh = Callable[[], PassageStore]

TEXT = "Devoluções em até 30 dias.\n\nSem custo.".encode()
ONE, OTHER = fingerprint(TEXT.decode()).text, fingerprint("other").text


@pytest.fixture(params=["folder", "s3"])
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Fresh:
    """Make one place, and stores on it that know nothing of one another."""
    if request.param == "folder":
        return lambda: FolderPassageStore(tmp_path / "archive")
    return trail_store(request.getfixturevalue("aws_url")).store


def test_a_text_comes_back_as_it_was_retrieved(fresh: Fresh) -> None:
    """Byte for byte, under its fingerprint, for whoever comes later."""
    fresh().put(ONE, TEXT)

    assert fresh().get(ONE) == TEXT
    assert fresh().known([ONE, OTHER]) == {ONE: State.KNOWN}


def test_what_was_never_stored_is_not_there(fresh: Fresh) -> None:
    """Absence is an answer."""
    assert fresh().get(ONE) is None
    assert fresh().known([ONE]) == {}
    assert fresh().known([]) == {}


def test_the_first_text_stays(fresh: Fresh) -> None:
    """Texts of one fingerprint differ in white space at most."""
    fresh().put(ONE, TEXT)
    fresh().put(ONE, TEXT.replace(b"\n\n", b" "))

    assert fresh().get(ONE) == TEXT


def test_an_erased_text_stays_erased(fresh: Fresh) -> None:
    """Nobody who retrieves it again brings it back, and erasing it again changes nothing."""
    fresh().put(ONE, TEXT)
    fresh().erase(ONE)
    fresh().put(ONE, TEXT)
    fresh().erase(ONE)
    fresh().put(ONE, TEXT)

    assert fresh().get(ONE) is None
    assert fresh().known([ONE]) == {ONE: State.ERASED}


def test_a_text_never_stored_can_be_erased(fresh: Fresh) -> None:
    """Whoever wants a text gone need not ask whether it was read."""
    fresh().erase(ONE)
    fresh().put(ONE, TEXT)

    assert fresh().get(ONE) is None
    assert fresh().known([ONE]) == {ONE: State.ERASED}


def test_erasing_one_leaves_the_others(fresh: Fresh) -> None:
    """A fingerprint names one text."""
    fresh().put(ONE, TEXT)
    fresh().put(OTHER, b"other")
    fresh().erase(ONE)

    assert fresh().get(OTHER) == b"other"


def test_writers_at_once_leave_one_text(fresh: Fresh) -> None:
    """Sessions start together and read the same passages."""
    stores = [fresh() for _ in range(8)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda store: store.put(ONE, TEXT), stores))

    assert fresh().get(ONE) == TEXT
    assert fresh().known([ONE]) == {ONE: State.KNOWN}


def test_a_writer_and_an_eraser_at_once_end_in_erased(tmp_path: Path) -> None:
    """Whichever comes first, the text is gone once both are through; for S3, tests step in between two requests."""

    def fresh() -> PassageStore:
        return FolderPassageStore(tmp_path)

    for n in range(50):
        text = f"text {n}"
        one = fingerprint(text).text
        with ThreadPoolExecutor(2) as threads:
            writing = threads.submit(fresh().put, one, text.encode())
            erasing = threads.submit(fresh().erase, one)
            writing.result()
            erasing.result()

        assert fresh().get(one) is None
        assert fresh().known([one]) == {one: State.ERASED}


def test_a_folder_shows_whole_texts_only(tmp_path: Path) -> None:
    """What is being written has another name, and nothing of it is left behind."""
    store = FolderPassageStore(tmp_path)
    store.put(ONE, TEXT)
    store.put(ONE, TEXT)
    store.erase(OTHER)

    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {ONE: TEXT, OTHER: b""}


def test_a_folder_s_texts_are_private(tmp_path: Path) -> None:
    """Other users of the machine do not read the archive."""
    FolderPassageStore(tmp_path).put(ONE, TEXT)

    assert (tmp_path / ONE).stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_used_says_so(tmp_path: Path) -> None:
    """An error of the file system is a code, without a path."""
    (tmp_path / "archive").write_text("a file where the folder should be")
    store = FolderPassageStore(tmp_path / "archive")

    for act in (lambda: store.put(ONE, TEXT), lambda: store.erase(ONE), lambda: store.known([ONE])):
        with pytest.raises(StoreError) as raised:
            act()
        assert raised.value.code == "unavailable"
        assert os.fspath(tmp_path) not in raised.value.message
