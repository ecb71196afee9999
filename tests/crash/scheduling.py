"""Let threads take turns at a store, one call at a time, in an order that chance decides and a seed repeats."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from queue import Queue
from random import Random
from typing import Any

from agent_image.contract import Item
from agent_image.guard.records import Document, Record, Records

PATIENCE_SECONDS = 60.0


class Actor:
    """Run in a thread, and stand still before every call of the store until it is let go."""

    def __init__(self, name: str, act: Callable[[Records], object], records: Records, told: Queue[Actor]) -> None:
        self.name = name
        self.ended = False
        self.raised: BaseException | None = None
        self._act = act
        self._records = TakingTurns(records, self)
        self._told = told
        self._turn = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name=name)

    def start(self) -> None:
        self._thread.start()

    def stand(self) -> None:
        """Say that it stands, and wait."""
        self._told.put(self)
        assert self._turn.acquire(timeout=PATIENCE_SECONDS)

    def go(self) -> None:
        self._turn.release()

    def join(self) -> None:
        self._thread.join(PATIENCE_SECONDS)

    def _run(self) -> None:
        self.stand()
        try:
            self._act(self._records)
        except BaseException as error:  # noqa: BLE001 - the test says what it is
            self.raised = error
        self.ended = True
        self._told.put(self)


class TakingTurns:
    """Records at which an actor waits for its turn before every call."""

    def __init__(self, records: Records, actor: Actor) -> None:
        self._records = records
        self._actor = actor

    def get(self, key: str) -> Record | None:
        self._actor.stand()
        return self._records.get(key)

    def put(
        self,
        key: str,
        document: Document,
        *,
        expected: int,
        due: datetime | None = None,
        forget_at: datetime | None = None,
    ) -> None:
        self._actor.stand()
        self._records.put(key, document, expected=expected, due=due, forget_at=forget_at)

    def due(self, item: Item, *, before: datetime | None, limit: int) -> Sequence[Record]:
        self._actor.stand()
        return self._records.due(item, before=before, limit=limit)

    def close(self) -> None:
        self._records.close()


def interleaved(acts: Mapping[str, Callable[[Records], Any]], records: Records, chance: Random) -> str:
    """Let everybody act over one store, in a random order of its calls; give that order."""
    told: Queue[Actor] = Queue()
    actors = [Actor(name, act, records, told) for name, act in acts.items()]
    for actor in actors:
        actor.start()
    standing = [told.get(timeout=PATIENCE_SECONDS) for _ in actors]
    order = []
    while standing:
        # Sorted: which thread came first is not the seed's doing.
        chosen = chance.choice(sorted(standing, key=lambda actor: actor.name))
        order.append(chosen.name)
        chosen.go()
        told.get(timeout=PATIENCE_SECONDS)
        if chosen.ended:
            standing.remove(chosen)
    for actor in actors:
        actor.join()
        if actor.raised is not None:
            raise actor.raised
    return " ".join(order)
