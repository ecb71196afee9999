"""A session that read a passage and waits for a person, and what its store holds of the words."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from agent_image.contract import Choice
from agent_image.guard.erasing import ErasingStore, Rewritten
from agent_image.guard.records import Document, Records, StoreUnavailable
from agent_image.stores.memory import MemoryRecords
from tests.agent_image.grounds import RETURNS, SESSION, Clock, Stage
from tests.agent_image.guard.gate_grounds import Effects, paying
from tests.agent_image.scripted import Calls, Says, Turn

WORDS = RETURNS.text
MARK = "[erased]"
SEARCH = Calls("search_knowledge", '{"query": "returns"}', "call-0")
STORY: tuple[Turn, ...] = (SEARCH, paying(150), Says("Paid, as the handbook says."))
RED_SEARCH = {"tools": {"search_knowledge": {"zone": "red"}}}


def rewrite(text: str) -> str:
    return text.replace(WORDS, MARK)


def erased(records: Records, clock: Clock, session: str = SESSION) -> Rewritten:
    return ErasingStore(records).rewrite(session, rewrite, clock)


def waiting(effects: Effects, records: Records | None = None, turns: tuple[Turn, ...] = STORY) -> tuple[Stage, str]:
    """Let an agent read the passage and ask for a payment; give the checkpoint's id."""
    stage = Stage(turns, tools=[effects.pay()], records=records)
    asked = stage.ask("Pay order 1, as the handbook says.")
    assert asked["status"] == "suspended"
    return stage, asked["checkpoint_id"]


def read_after_approval(records: Records | None = None) -> tuple[Stage, str]:
    """Let a person approve the very reading: its result is kept with its checkpoint."""
    stage = Stage((SEARCH, Says("So it is.")), records=records, settings=RED_SEARCH)
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    assert stage.go_on(checkpoint)["status"] == "completed"
    return stage, checkpoint


def held_of(records: Records, *keys: str) -> str:
    """Give what lies under keys as one text in which words are found as they are."""
    found: list[Any] = [record.document for key in keys if (record := records.get(key)) is not None]
    # Parts hold JSON as text, and that holds more of it.
    return json.dumps(found, ensure_ascii=False).replace("\\", "")


@dataclass
class Watched(MemoryRecords):
    """A store that notes what is asked of it, and breaks off at a write: before it, or after."""

    inner: Records
    breaks_at: int = 0
    after: bool = False
    touched: list[tuple[str, str]] = field(default_factory=list)
    writes: int = 0

    def get(self, key: str) -> Any:
        self.touched.append(("get", key))
        return self.inner.get(key)

    def put(self, key: str, document: Document, **how: Any) -> None:
        self.touched.append(("put", key))
        self.writes += 1
        if self.writes == self.breaks_at and not self.after:
            raise BrokenOffError
        self.inner.put(key, document, **how)
        if self.writes == self.breaks_at:
            raise BrokenOffError


class BrokenOffError(Exception):
    """The process ends here: nothing that it would do afterwards happens."""


class Gone(Watched):
    """A store that takes nothing more once it has broken off: the process is dead."""

    def put(self, key: str, document: Document, **how: Any) -> None:
        if self.breaks_at and self.writes >= self.breaks_at:
            raise StoreUnavailable("unavailable", "dead")
        super().put(key, document, **how)


def owned(stage: Stage, by: str, until: timedelta) -> None:
    """Leave the session to a run whose lease ends so long from now."""
    held = stage.guard.store.session(SESSION)
    now = stage.clock()
    session = replace(held.session, owner=by, lease_until=now + until, renewed_at=min(now, now + until))
    stage.guard.store.put_session(session, held.version, now)
