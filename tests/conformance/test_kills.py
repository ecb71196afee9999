"""A writer that is killed leaves each record whole: as before its write, or as after it."""

from __future__ import annotations

import pytest

from agent_image.contract import Item
from agent_image.guard.records import Conflict, Record, Records
from tests.conformance.place import Place
from tests.conformance.processes import workers
from tests.loopback.table import unpackable

KEY = f"{Item.SESSION}abc"
KILLS = 4


def settled(records: Records) -> Record:
    """Write over what a killed writer left; a server may still be at work on that one's last write."""
    for _ in range(2):
        found = records.get(KEY)
        assert found is not None
        try:
            records.put(KEY, dict(found.document), expected=found.version)
        except Conflict:
            continue
        return found
    raise AssertionError


@pytest.mark.parametrize("size", [100, 400_000])
def test_a_writer_that_is_killed_leaves_whole_records(shared: Place, size: int) -> None:
    """What it said was written stands; at most the one write that it could not speak of stands beyond that."""
    for turn in range(KILLS):
        with workers(shared, 1) as (worker,):
            assert worker.heard() == "ready"
            worker.order(do="fill", key=KEY, size=size)
            said = [int(worker.heard()) for _ in range(turn + 1)]
            said += map(int, worker.kill())

        with shared.opened() as records:
            found = settled(records)
        assert found.version in {said[-1], said[-1] + 1}
        assert found.document == {"n": found.version, "text": f"{found.version}{unpackable(size)}"}
