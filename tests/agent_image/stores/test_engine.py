"""How SQLite's file is made and written, and which URLs name a database."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from urllib.parse import quote

import pytest

from agent_image.contract import Item
from agent_image.errors import StoreError
from agent_image.guard.records import NEW
from agent_image.stores.engine import engine_at
from agent_image.stores.refusal import DAMAGED, FOREIGN
from agent_image.stores.sql import SqlRecords

KEY = f"{Item.SESSION}abc"
THREADS = 8
ROUNDS = 10


def test_the_file_is_its_owner_s_alone(tmp_path: Path) -> None:
    """It holds what users said: neither the umask nor the folder opens it to others, its log included."""
    before = os.umask(0)
    try:
        records = SqlRecords(f"sqlite:///{tmp_path / 'new' / 'folder' / 'guard.db'}")
        records.put(KEY, {}, expected=NEW)
    finally:
        os.umask(before)

    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "new" / "folder").iterdir()}
    records.close()
    assert modes == dict.fromkeys(("guard.db", "guard.db-wal", "guard.db-shm"), 0o600)


def test_every_commit_is_on_disk_before_it_counts(tmp_path: Path) -> None:
    """A log that is synchronised at every commit: what was said to be written outlives a power cut."""
    with engine_at(f"sqlite:///{tmp_path / 'guard.db'}").connect() as connection:
        asked = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")
        }

    assert asked == {"journal_mode": "wal", "synchronous": 2}


def test_a_writer_waits_for_another(tmp_path: Path) -> None:
    """Five seconds, as a rule; as long as it was told otherwise."""
    with engine_at(f"sqlite:///{tmp_path / 'guard.db'}").connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 5_000


def test_of_many_that_make_the_file_one_does(tmp_path: Path) -> None:
    """Whoever comes second takes the first one's file, and leaves none of its own."""
    for turn in range(ROUNDS):
        folder = tmp_path / str(turn)
        stores = [SqlRecords(f"sqlite:///{folder / 'guard.db'}") for _ in range(THREADS)]
        barrier = Barrier(THREADS)

        def write(number: int, stores: Sequence[SqlRecords] = stores, barrier: Barrier = barrier) -> None:
            barrier.wait()
            stores[number].put(f"{KEY}{number}", {}, expected=NEW)

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(write, range(THREADS)))

        assert all(store.get(f"{KEY}{number}") for store in stores for number in range(THREADS))
        for store in stores:
            store.close()
        assert [file.name for file in folder.iterdir()] == ["guard.db"]


def test_a_path_may_hold_any_character(tmp_path: Path) -> None:
    """A folder may be called what its owner likes; in a URL such characters are quoted."""
    path = tmp_path / "estado do agente #1?%41" / "guard.db"
    records = SqlRecords(f"sqlite:///{quote(str(path))}")
    records.put(KEY, {}, expected=NEW)
    records.close()

    assert path.exists()


def test_a_file_that_is_no_database_is_not_written_over(tmp_path: Path) -> None:
    """Somebody named the wrong folder: the file is not ours, and stays as it is."""
    path = tmp_path / "guard.db"
    path.write_bytes(text := b"The words of another program, and none of SQLite's. " * 100)
    records = SqlRecords(f"sqlite:///{path}")

    with pytest.raises(StoreError) as refused:
        records.get(KEY)
    records.close()

    assert refused.value.code == FOREIGN
    assert path.read_bytes() == text


def test_a_broken_file_is_said_to_be_broken(tmp_path: Path) -> None:
    """What is behind the first page is lost; it is neither an empty store nor one that does not answer."""
    path = tmp_path / "guard.db"
    records = SqlRecords(f"sqlite:///{path}")
    records.put(KEY, {}, expected=NEW)
    records.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))

    with pytest.raises(StoreError) as refused:
        records.get(KEY)
    records.close()

    assert refused.value.code == DAMAGED


CANARY = "CANARY"


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///guard.db",
        "sqlite:///./guard.db",
        "sqlite:///",
        "sqlite:////",
        "sqlite://",
        "sqlite::memory:",
        "sqlite:guard.db",
        f"postgresql://user:{CANARY}@host:no-port/db",
        f"postgresql+psycopg://user:{CANARY}@host/db",
        f"mysql://user:{CANARY}@host/db",
        "postgresql",
        "",
    ],
)
def test_other_urls_are_refused_and_not_repeated(url: str) -> None:
    """A path that depends on where a process was started would be two stores; a URL may hold a password."""
    with pytest.raises(ValueError, match=r"^allowed: sqlite:///<absolute path> or postgresql://") as refused:
        engine_at(url)

    assert CANARY not in str(refused.value)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None
