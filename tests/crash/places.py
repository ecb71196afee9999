"""Make empty stores that live side by side, for rounds that do."""

from __future__ import annotations

from agent_image.stores.by_url import records_at
from tests.conformance.place import Place
from tests.loopback.postgres import Postgres
from tests.loopback.table import REGION


def in_own_database(server: Postgres) -> Place:
    """Make a database of a PostgreSQL server."""
    url = server.database()
    return Place(lambda: records_at(url, REGION), url)
