"""Sixteen people decide at once: one of them did, on every store, and the others are told so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count
from pathlib import Path
from threading import Barrier
from time import sleep

import pytest

from agent_image.guard.approval_metrics import approvals
from agent_image.guard.audit_file import FileOutlet
from agent_image.guard.checkpoint import Checkpoint
from agent_image.guard.people import PeopleStore
from agent_image.guard.records import Records
from agent_image.guard.store import GuardStore
from agent_image.stores.dynamodb import DynamoRecords
from agent_image.stores.sql import SqlRecords
from console.approvals.deciding import decide
from console.errors import ConsoleError
from tests.console.approvals.cases import APPROVE, CANCEL, REJECT, Office, checkpoint, edited
from tests.loopback.aws import moto
from tests.loopback.table import client_at, make_table

TABLE = "rastro-races"
PEOPLE = 16
ROUNDS = 5
WISHES = (APPROVE, edited(amount=10), REJECT, CANCEL)

Opener = Callable[[], Records]


@contextmanager
def sqlite(folder: Path) -> Iterator[Opener]:
    yield lambda: SqlRecords(f"sqlite:///{folder / 'guard.db'}")


@contextmanager
def dynamodb(folder: Path) -> Iterator[Opener]:
    del folder
    with moto() as url:
        make_table(url, TABLE)
        yield lambda: DynamoRecords(TABLE, client_at(url, "dynamodb", attempts=3), None, pause=sleep)


@pytest.mark.parametrize("store", [sqlite, dynamodb])
def test_of_sixteen_who_decide_at_once_one_did(
    store: Callable[[Path], AbstractContextManager[Opener]], tmp_path: Path
) -> None:
    """Each with a connection of its own; the audit has one attempt each, and a conflict for each but one."""
    outlet = FileOutlet(tmp_path / "audit.jsonl", sleep)
    with ExitStack() as stack:
        opener = stack.enter_context(store(tmp_path))
        everybody = [stack.enter_context(opened(opener)) for _ in range(PEOPLE)]
        for number in range(ROUNDS):
            asked = checkpoint(number)
            GuardStore(everybody[0]).open(asked)
            won = decided_at_once(everybody, outlet, asked, number)

            case = PeopleStore(everybody[0]).case(asked.id)
            assert case is not None
            assert case.decision is not None
            assert won == [case.decision.approver]
            events = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
            of_this = [event for event in events if event["checkpoint_id"] == asked.id]
            assert [event["hash"] for event in of_this].count(case.decision.event) == 1
            assert sorted(event["code"] for event in of_this) == ["attempt"] * PEOPLE + ["conflict"] * (PEOPLE - 1)
            assert (found := approvals(of_this)).closed == 1
            assert found.too_late == PEOPLE - 1


@contextmanager
def opened(opener: Opener) -> Iterator[Records]:
    records = opener()
    try:
        yield records
    finally:
        records.close()


def decided_at_once(everybody: list[Records], outlet: FileOutlet, asked: Checkpoint, number: int) -> list[str]:
    """Let all of them go at the same moment; give the names of those who were told that they decided."""
    barrier = Barrier(len(everybody))

    def go(person: int) -> str | None:
        office = Office(records=everybody[person], outlet=outlet, ids=count(1000 * (PEOPLE * number + person)))
        desk = office.desk(f"person-{person}")
        barrier.wait(timeout=60)
        try:
            decide(desk, asked.id, WISHES[person % len(WISHES)])
        except ConsoleError:
            return None
        return f"person-{person}"

    with ThreadPoolExecutor(len(everybody)) as pool:
        return [name for name in pool.map(go, range(len(everybody))) if name is not None]
