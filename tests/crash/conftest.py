"""Give each test an empty store of a kind that processes share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.conformance.conftest import SHARED
from tests.conformance.place import Place, in_dynamodb, in_sqlite
from tests.crash.places import in_own_database
from tests.crash.world import World
from tests.loopback.aws import moto
from tests.loopback.postgres import Postgres, postgres


@pytest.fixture(scope="session")
def aws() -> Iterator[str]:
    with moto() as url:
        yield url


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    with postgres() as server:
        yield server


@pytest.fixture(params=SHARED)
def places(request: pytest.FixtureRequest) -> Callable[[Path], Place]:
    """Make an empty store as often as a test likes; a folder is for those that lie in one."""
    match request.param:
        case "sqlite":
            return in_sqlite
        case "postgresql":
            server = request.getfixturevalue("server")
            return lambda _: in_own_database(server)
        case _:
            url = request.getfixturevalue("aws")
            return lambda _: in_dynamodb(url)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a folder in memory where there is such a place: a killed process loses nothing that the kernel holds."""
    shared_memory = Path("/dev/shm")  # noqa: S108 - the folder below it is this test's own
    with TemporaryDirectory(prefix="rastro-crash-", dir=shared_memory if shared_memory.is_dir() else None) as made:
        yield Path(made)


@pytest.fixture
def world(places: Callable[[Path], Place], folder: Path) -> World:
    return World(places(folder), folder)


@pytest.fixture
def laptop(folder: Path) -> World:
    """Give the store that a laptop has."""
    return World(in_sqlite(folder), folder)
