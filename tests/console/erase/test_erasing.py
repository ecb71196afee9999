"""Said before it is done, the archive last, and wherever it breaks off it can be done again."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent_image.contract import Choice, EventName
from agent_image.digest import Digest
from agent_image.errors import AuditError, StoreError
from agent_image.guard.audit import AuditText
from agent_image.guard.audit_lines import line
from agent_image.guard.erasing import ErasingStore
from agent_image.guard.outlet import MemoryOutlet
from agent_image.guard.records import Document, StoreUnavailable
from agent_image.guard.signs import Sign
from agent_image.guard.store import session_key
from agent_image.guard.verify import verify
from agent_image.retrieval.failure import Failure
from agent_image.retrieval.fingerprint import normalised
from agent_image.retrieval.folder_store import FolderPassageStore
from agent_image.retrieval.store import State, refusal
from console.erase.erasing import Eraser, Fate, Outcome, Plan
from console.erase.events import ATTEMPT, DONE, INCOMPLETE, Erasure, Events
from console.erase.words import mark
from tests.agent_image.grounds import RETURNS, SESSION, Stage
from tests.agent_image.guard.erased import WORDS, BrokenOffError, Gone, held_of, owned, waiting
from tests.agent_image.guard.gate_grounds import Effects

FORM = RETURNS.fingerprint
OTHER = "session-" + "9" * 32
KEYS = tuple(f"{session_key(SESSION)}{part}" for part in ("", "#conversation", "#batch"))


@dataclass
class Breaking:
    """An archive that is not there when it is needed, or ends the process before or after."""

    store: FolderPassageStore
    raises: list[Exception] = field(default_factory=list)
    after: bool = False

    def known(self, fingerprints: Collection[str]) -> Mapping[str, State]:
        return self.store.known(fingerprints)

    def put(self, fingerprint: str, data: bytes) -> None:
        self.store.put(fingerprint, data)

    def get(self, fingerprint: str) -> bytes | None:
        return self.store.get(fingerprint)

    def erase(self, fingerprint: str) -> None:
        if self.raises and not self.after:
            raise self.raises.pop(0)
        self.store.erase(fingerprint)
        if self.raises:
            raise self.raises.pop(0)


@dataclass
class Refusing(MemoryOutlet):
    """An audit that takes some events and no more, or ends the process there."""

    takes: int = 99
    error: Exception = field(default_factory=lambda: AuditError("audit_full", "The audit is full."))

    def __post_init__(self) -> None:
        super().__init__()

    def write(self, lines: Any, **where: Any) -> None:
        if len(self.lines) >= self.takes:
            raise self.error
        super().write(lines, **where)


class World:
    """Hold an agent that read the passage, an archive that has it, and a person who erases."""

    def __init__(self, folder: Path, archived: str | None = WORDS) -> None:
        self.effects = Effects()
        self.stage, self.checkpoint = waiting(self.effects)
        self.archive = Breaking(FolderPassageStore(folder / "archive"))
        if archived is not None:
            self.archive.put(FORM.text, archived.encode())
        self.audit = Refusing()
        self.records: Any = self.stage.records

    @property
    def eraser(self) -> Eraser:
        numbers = iter(range(100))
        digest = Digest(b"k" * 32)
        events = Events(self.audit, AuditText(lambda value: value, digest), lambda: f"event-{next(numbers)}")
        return Eraser(self.archive, ErasingStore(self.records), events, self.stage.clock)

    def look(self, *sessions: str) -> Plan:
        return self.eraser.look(FORM.text, sessions or (SESSION,), ())

    def erase(self, plan: Plan | None = None, reason: str = "") -> Outcome:
        return self.eraser.erase(Erasure("run-1", FORM.text, "ana", reason), plan or self.look())

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.audit.lines]

    @property
    def left(self) -> str:
        return held_of(self.stage.records, *KEYS)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_passage_goes_from_the_archive_and_from_every_session(world: World) -> None:
    """What is counted before is what is counted after."""
    plan = world.look(SESSION, OTHER, SESSION)

    outcome = world.erase(plan)

    assert plan.archived is State.KNOWN
    assert [(one.session_id, one.fate, one.copies) for one in plan.sessions] == [
        (SESSION, Fate.ERASED, 2),
        (OTHER, Fate.FORGOTTEN, 0),
    ]
    assert outcome.plan.sessions == plan.sessions
    assert outcome.done
    assert world.archive.known([FORM.text]) == {FORM.text: State.ERASED}
    assert world.archive.get(FORM.text) is None
    assert WORDS not in world.left
    assert mark(FORM.text) in world.left


def test_both_ends_are_in_the_audit_and_the_words_are_not(world: World) -> None:
    """Who, why, which passage, what it came to; and the audit can be verified with them in it."""
    outcome = world.erase(reason="asked by its author")

    first, second = world.events
    assert [one["event"] for one in world.events] == [EventName.ERASURE] * 2
    assert [one["code"] for one in world.events] == [ATTEMPT, DONE]
    assert {one["run"] for one in world.events} == {"run-1"}
    assert {one["chain"] for one in world.events} == {f"erasure/{FORM.text}"}
    assert first["approver"] == "ana"
    assert first["reason"]["text"] == "asked by its author"
    assert second["evidence"] == {
        "fingerprint": FORM.text,
        "sessions": 1,
        "copies": 2,
        "left": 0,
        "not_located": 0,
        "in_use": 0,
        "failed": 0,
    }
    assert outcome.event == first["hash"]
    assert WORDS.encode() not in b"".join(world.audit.lines)
    found = verify([line("audit", n, raw.rstrip()) for n, raw in enumerate(world.audit.lines)], {})
    assert {one.sign for one in found.findings} == {Sign.NO_ANCHOR}
    assert found.ok


def test_without_an_event_nothing_is_touched(world: World) -> None:
    """Neither the archive nor a session."""
    world.audit.takes = 0

    with pytest.raises(AuditError):
        world.erase()

    assert world.archive.get(FORM.text) == WORDS.encode()
    assert WORDS in world.left


def test_an_end_that_cannot_be_said_is_owned_up_to(world: World) -> None:
    """All is erased, and the audit knows only that it began."""
    world.audit.takes = 1

    outcome = world.erase()

    assert (outcome.unsaid, outcome.done) == ("audit_full", False)
    assert WORDS not in world.left


def test_a_session_in_use_is_left_and_keeps_nothing_else_alive(world: World) -> None:
    """The archive is erased all the same; a second run finds the copies without its help."""
    plan = world.look()
    owned(world.stage, "run-9", timedelta(0))

    first = world.erase(plan)
    before = world.left
    world.stage.clock.turn(minutes=6)
    second = world.erase()

    assert [one.fate for one in first.plan.sessions] == [Fate.IN_USE]
    assert not first.done
    assert WORDS in before
    assert world.archive.get(FORM.text) is None
    assert [(one.fate, one.copies) for one in second.plan.sessions] == [(Fate.ERASED, 2)]
    assert second.done
    assert WORDS not in world.left
    assert [one["code"] for one in world.events] == [ATTEMPT, INCOMPLETE, ATTEMPT, DONE]


def test_a_run_in_use_is_told_before_anything_is_done(world: World) -> None:
    """A dry run shows it."""
    owned(world.stage, "run-9", timedelta(0))

    assert [(one.fate, one.copies) for one in world.look().sessions] == [(Fate.IN_USE, 2)]


def killed_at(world: World, step: str, *, after: bool) -> None:
    """Let the process end at a step: before what it does, or after."""
    match step.split():
        case ["write", number]:
            world.records = Gone(world.stage.records, int(number), after)
        case ["archive"]:
            world.archive.raises, world.archive.after = [BrokenOffError()], after
        case _:
            world.audit.error, world.audit.takes = BrokenOffError(), int(after)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ["event", *(f"write {at}" for at in range(1, 5)), "archive"])
def test_an_erasing_that_is_killed_ends_the_same_when_it_is_done_again(
    world: World,
    step: str,
    after: bool,  # noqa: FBT001 - a column of the table above
) -> None:
    """At each step: nothing is lost, nothing comes back, and what waited for a person is carried out once."""
    killed_at(world, step, after=after)
    with pytest.raises(BrokenOffError):
        world.erase()
    world.records, world.audit.takes, world.archive.raises = world.stage.records, 99, []

    outcome = world.erase()

    assert outcome.done
    assert world.archive.known([FORM.text]) == {FORM.text: State.ERASED}
    assert WORDS not in world.left
    assert [one["code"] for one in world.events][-2:] == [ATTEMPT, DONE]
    world.stage.decide(world.checkpoint, Choice.APPROVE)
    assert world.stage.go_on(world.checkpoint)["status"] == "completed"
    assert len(world.effects.done) == 1


def test_what_fails_is_named_and_the_rest_goes_on(world: World) -> None:
    """A store that does not answer leaves the archive's erasing alone, and the other way round."""

    class Silent(Gone):
        def put(self, key: str, document: Document, **how: Any) -> None:
            raise StoreUnavailable("unavailable", "The store does not answer.")

    plan = world.look()
    world.records = Silent(world.stage.records)
    sessions = world.erase(plan)
    world.records = world.stage.records
    world.archive.raises.append(refusal(Failure.THROTTLED))
    archive = world.erase()

    assert [(one.fate, one.why) for one in sessions.plan.sessions] == [(Fate.FAILED, "unavailable")]
    assert (sessions.archive_why, sessions.done) == ("", False)
    assert (archive.archive_why, archive.done) == ("throttled", False)
    assert [one.fate for one in archive.plan.sessions] == [Fate.ERASED]


def test_a_session_that_cannot_be_read_is_named_before(world: World) -> None:
    """Nobody can say that it holds nothing."""
    key = KEYS[1]
    found = world.stage.records.get(key)
    assert found is not None
    world.stage.records.put(key, {"messages": "{"}, expected=found.version)

    (only,) = world.look().sessions

    assert (only.fate, only.why) == (Fate.FAILED, "record_malformed")


def test_words_that_the_archive_never_had_are_found_in_the_session(tmp_path: Path) -> None:
    """And the mark keeps them out of it from now on."""
    world = World(tmp_path, archived=None)

    outcome = world.erase()

    assert outcome.plan.archived is None
    assert outcome.plan.words == normalised(WORDS)
    assert WORDS not in world.left
    assert world.archive.known([FORM.text]) == {FORM.text: State.ERASED}
    world.archive.put(FORM.text, WORDS.encode())
    assert world.archive.get(FORM.text) is None


def test_what_was_erased_before_is_told_from_what_was_never_found(tmp_path: Path) -> None:
    """A session that was reading the passage, in which no copy is, is no proof that there is none."""
    world = World(tmp_path)
    world.erase()
    again = world.look()
    part = world.stage.records.get(KEYS[1])
    assert part is not None
    document = {**part.document, "messages": "[]"}
    world.stage.records.put(KEYS[1], document, expected=part.version)
    kept = world.stage.records.get(KEYS[2])
    assert kept is not None
    world.stage.records.put(KEYS[2], {**kept.document, "results": {}}, expected=kept.version)

    assert [one.fate for one in again.sessions] == [Fate.CLEAN]
    assert [one.fate for one in world.look().sessions] == [Fate.NOT_LOCATED]


def test_other_words_in_the_archive_s_place_are_not_looked_for(tmp_path: Path) -> None:
    """Whoever could write there must not choose what is taken out of sessions."""
    world = World(tmp_path, archived="A refund is paid within 5 days of the return.")

    plan = world.look()
    world.erase(plan)

    assert plan.words == normalised(WORDS)
    assert "A refund is paid within 5 days of the return." in world.left
    assert WORDS not in world.left


def test_an_archive_that_cannot_be_asked_ends_it(world: World) -> None:
    """Before anything is done."""

    class Unreachable(Breaking):
        def known(self, fingerprints: Collection[str]) -> Mapping[str, State]:
            raise refusal(Failure.ACCESS_DENIED)

    world.archive = Unreachable(world.archive.store)

    with pytest.raises(StoreError):
        world.look()
    assert world.events == []


def test_the_next_turn_of_an_erased_session_has_the_mark_and_not_the_words(tmp_path: Path) -> None:
    """An agent is built from the store for each invocation: nothing in a process brings the words back."""
    world = World(tmp_path)
    stage: Stage = world.stage
    world.erase()
    stage.decide(world.checkpoint, Choice.REJECT)

    assert stage.go_on(world.checkpoint)["status"] == "completed"

    assert WORDS not in str(stage.model.seen[-1])
    assert mark(FORM.text) in str(stage.model.seen[-1])
    assert WORDS not in world.left
