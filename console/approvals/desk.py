"""Open the desk at which a person decides: the people's side of the store, the audit, and who that person is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from console.approvals.deciding import Desk
from console.approvals.trail import Trail
from console.audit.writing import new_id, outlet_of, text_of
from console.identity import approver_at
from console.moments import now
from console.place import Place, people_at


@contextmanager
def desk_at(place: Place) -> Iterator[Desk]:
    """Open a desk.

    Raises:
        ConsoleError: AWS does not say who is there.
    """
    approver = approver_at(place)
    trail = Trail(outlet_of(place), text_of(place), new_id)
    with people_at(place) as people:
        yield Desk(people, trail, approver, now, new_id)
