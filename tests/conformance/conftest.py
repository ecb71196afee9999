"""Start each server once; give each test an empty store of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_image.guard.records import Records
from tests.conformance.place import Place, in_dynamodb, in_memory, in_postgresql, in_sqlite
from tests.loopback.aws import moto
from tests.loopback.postgres import Postgres, postgres

SHARED = ("sqlite", "postgresql", "dynamodb")
"""Stores that processes share."""


@pytest.fixture(scope="session")
def aws() -> Iterator[str]:
    with moto() as url:
        yield url


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    with postgres() as server:
        yield server


def _place(kind: str, request: pytest.FixtureRequest, folder: Path) -> Place:
    match kind:
        case "memory":
            return in_memory()
        case "sqlite":
            return in_sqlite(folder)
        case "postgresql":
            return in_postgresql(request.getfixturevalue("server"))
        case _:
            return in_dynamodb(request.getfixturevalue("aws"))


@pytest.fixture(params=("memory", *SHARED))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return _place(request.param, request, tmp_path)


@pytest.fixture(params=SHARED)
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return _place(request.param, request, tmp_path)


@pytest.fixture
def records(place: Place) -> Iterator[Records]:
    with place.opened() as records:
        yield records
