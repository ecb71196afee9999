"""Find where the guard of an agent keeps its records and its audit, and open them as a person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_image.contract import AUDIT_OBJECT_PREFIX, Discovery
from agent_image.guard.people import PeopleStore
from agent_image.guard.records import Records
from agent_image.stores.by_url import records_at
from console.errors import ConsoleError
from console.laptop import audit_file, store_file, store_url
from console.where import Where


@dataclass(frozen=True, slots=True)
class Place:
    """Say where the guard's parts are.

    Attributes:
        store: the records, by their URL.
        audit: its file, or `s3://<bucket>/<prefix>`.
        region: the AWS Region, or None on this machine.
        large: `s3://<bucket>`, where records lie that are too long for the table.
    """

    store: str
    audit: Path | str
    region: str | None = None
    large: str | None = None

    @property
    def in_aws(self) -> bool:
        """Tell whether it is AWS that holds it, and that knows who somebody is."""
        return self.region is not None


def place_of(where: Where) -> Place:
    """Find the place.

    Raises:
        BadInputError: no environment can have this name.
        ConsoleError: no agent worked on that folder, or the environment is not found.
    """
    if where.environment is None:
        if not store_file(where.state).exists():
            message = f"no agent has worked on {where.state} yet; start one: rastro dev --state {where.state}"
            raise ConsoleError(message)
        return Place(store_url(where.state), audit_file(where.state))
    # boto3 takes longer to import than a local answer takes.
    from console.environment import find  # noqa: PLC0415

    environment = find(where.environment)
    return Place(
        store=f"dynamodb://{environment.text(Discovery.TABLE)}",
        audit=f"s3://{environment.text(Discovery.AUDIT)}/{AUDIT_OBJECT_PREFIX}",
        region=environment.text(Discovery.REGION),
        large=f"s3://{environment.text(Discovery.ARCHIVE)}",
    )


@contextmanager
def records_of(place: Place) -> Iterator[Records]:
    """Open the records."""
    records = records_at(place.store, place.region, large=place.large)
    try:
        yield records
    finally:
        records.close()


@contextmanager
def people_at(place: Place) -> Iterator[PeopleStore]:
    """Open what people may read and write of them."""
    with records_of(place) as records:
        yield PeopleStore(records)
