"""A checkpoint is named by its id, or by the beginning of one that is open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_image.contract import Item
from agent_image.guard.checkpoint import Checkpoint, Progress
from agent_image.guard.codec import encode
from agent_image.guard.people import PeopleStore
from agent_image.guard.records import NEW
from agent_image.stores.memory import MemoryRecords
from console.approvals.finding import find
from console.errors import BadInputError, ConsoleError
from tests.console.approvals.cases import NOON, checkpoint

ONE, OTHER = checkpoint(1), checkpoint(2)


def people(*checkpoints: Checkpoint) -> PeopleStore:
    records = MemoryRecords()
    for one in checkpoints:
        key, due = f"{Item.CHECKPOINT}{one.id}", None if one.closed else one.due_at
        records.put(key, encode(one), expected=NEW, due=due)
    return PeopleStore(records)


@pytest.mark.parametrize("named", [ONE.id, ONE.id[:8], ONE.id[:63], ONE.id.upper(), f" {ONE.id[:12]}\n"])
def test_an_open_one_is_found_by_its_beginning(named: str) -> None:
    """Eight digits or more, in letters of any size."""
    assert find(people(ONE, OTHER), named).checkpoint == ONE


def test_a_closed_one_is_found_by_its_whole_id_alone() -> None:
    """A beginning means what waits, and nothing that ended."""
    closed = replace(ONE, progress=Progress.DONE, closed_at=NOON)

    assert find(people(closed, OTHER), ONE.id).checkpoint == closed
    with pytest.raises(ConsoleError, match=f"no open checkpoint begins with {ONE.id[:12]}") as refused:
        find(people(closed, OTHER), ONE.id[:12])
    assert refused.value.status == 1


def test_a_beginning_of_several_names_none() -> None:
    """All of them are listed, and nothing is guessed."""
    twins = [replace(ONE, id="c0ffee00" + digit * 56) for digit in "12"]

    with pytest.raises(BadInputError, match="c0ffee00 begins the ids of 2 open checkpoints") as refused:
        find(people(*twins), "c0ffee00")

    assert all(twin.id in str(refused.value) for twin in twins)


@pytest.mark.parametrize(
    "named", ["", "c0ffee0", "g" * 64, ONE.id + "0", "c0ffee00 x", "\x1b[2J", "../../../etc", "é" * 8]
)
def test_what_is_no_id_is_refused(named: str) -> None:
    """Bad input, before anything is read; what was typed steers no terminal."""
    with pytest.raises(BadInputError, match="is no checkpoint's id; allowed: 64 hexadecimal digits") as refused:
        find(people(ONE), named)

    assert "\x1b" not in str(refused.value)


def test_an_id_that_nobody_has_is_said() -> None:
    """With how to see those that are open."""
    with pytest.raises(ConsoleError, match=f"there is no checkpoint {'0' * 64}; rastro approvals list") as refused:
        find(people(ONE), "0" * 64)

    assert refused.value.status == 1


def test_a_checkpoint_under_another_s_id_is_none() -> None:
    """Whoever moved it there would have it approved in the other's name."""
    records = MemoryRecords()
    records.put(f"{Item.CHECKPOINT}{ONE.id}", encode(OTHER), expected=NEW, due=OTHER.due_at)

    with pytest.raises(ConsoleError, match="the store was tampered with"):
        find(PeopleStore(records), ONE.id)
