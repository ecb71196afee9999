"""Cut the power of a process that only seems to be one: from then on, none of its ports does anything any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_image.contract import Item
from agent_image.guard.outlet import Folder, Outlet
from agent_image.guard.records import Document, Record, Records


class PowerCut(BaseException):
    """Say that there is no process any more. Nothing that handles errors handles this."""


@dataclass
class Power:
    """Hold for how many writes and effects the power lasts, and whether the last one still happens.

    Attributes:
        left: None where it lasts.
    """

    left: int | None = None
    last_happens: bool = False
    on: bool = True

    def check(self) -> None:
        if not self.on:
            raise PowerCut

    def spend(self) -> bool:
        """Do one step; tell whether the power goes right after it.

        Raises:
            PowerCut: it was gone, or goes before this step.
        """
        self.check()
        if self.left is None:
            return False
        self.left -= 1
        if self.left > 0:
            return False
        self.on = False
        if not self.last_happens:
            raise PowerCut
        return True


@dataclass
class Powered:
    """Records of a process: they outlive it.

    Attributes:
        recorded: the calls whose results the store holds.
    """

    records: Records
    power: Power
    recorded: set[str] = field(default_factory=set)

    def get(self, key: str) -> Record | None:
        self.power.check()
        return self.records.get(key)

    def put(
        self,
        key: str,
        document: Document,
        *,
        expected: int,
        due: datetime | None = None,
        forget_at: datetime | None = None,
    ) -> None:
        over = self.power.spend()
        self.records.put(key, document, expected=expected, due=due, forget_at=forget_at)
        self._remember(key, document)
        if over:
            raise PowerCut

    def due(self, item: Item, *, before: datetime | None, limit: int) -> Sequence[Record]:
        self.power.check()
        return self.records.due(item, before=before, limit=limit)

    def close(self) -> None:
        self.records.close()

    def _remember(self, key: str, document: Mapping[str, Any]) -> None:
        if key.endswith("#batch"):
            self.recorded |= set(document["results"])


class PoweredOutlet:
    """An audit of a process: it outlives it."""

    at_once = True

    def __init__(self, outlet: Outlet, power: Power) -> None:
        self._outlet = outlet
        self._power = power

    def write(self, lines: Sequence[bytes], *, folder: Folder, run: str, seq: int) -> None:
        over = self._power.spend()
        self._outlet.write(lines, folder=folder, run=run, seq=seq)
        if over:
            raise PowerCut

    def sync(self) -> None:
        self._power.check()
        self._outlet.sync()
