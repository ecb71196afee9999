"""Of two people who decide at once one did, the other is told, and the audit shows both; who is late did nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agent_image.contract import Choice, EventName, Field
from agent_image.guard.approval_metrics import approvals
from agent_image.guard.audit_lines import Line, line, read_file
from agent_image.guard.checkpoint import SKEW, Case, Decision, State
from agent_image.guard.outlet import MemoryOutlet
from agent_image.guard.people import PeopleStore
from agent_image.guard.records import Records
from agent_image.guard.store import GuardStore
from agent_image.guard.verify import verify
from agent_image.invocation import Sweep
from agent_image.stores.memory import MemoryRecords
from console.approvals.wish import Wish
from tests.agent_image.grounds import Stage, closing
from tests.agent_image.guard.gate_grounds import Effects, paying
from tests.agent_image.scripted import Says
from tests.conformance.place import in_sqlite
from tests.console.approvals.cases import APPROVE, CANCEL, NOON, REJECT, checkpoint, edited
from tests.crash import approving
from tests.crash.approving import Orders, decided, desk_over
from tests.crash.scheduling import interleaved
from tests.crash.world import World, barrier, forked

INTERLEAVINGS = 1_000
ROUNDS = 250
PEOPLE = ("ana", "budi")
WISHES = (APPROVE, edited(amount=10), REJECT, CANCEL)
WORTH = {
    Choice.APPROVE: State.APPROVED,
    Choice.EDIT: State.APPROVED,
    Choice.REJECT: State.REJECTED,
    Choice.CANCEL: State.CANCELLED,
}
MILLISECOND = timedelta(milliseconds=1)


def lines_of(outlet: MemoryOutlet) -> list[Line]:
    return [line("audit", number, raw.rstrip()) for number, raw in enumerate(outlet.lines, 1)]


def hold(case: Case | None, wishes: Mapping[str, Wish], granted: Mapping[str, bool], lines: Sequence[Line]) -> None:
    """Hold what is in the store and in the audit to what both were told."""
    assert case is not None
    assert case.decision is not None
    winner = case.decision.approver
    wish = wishes[winner]
    assert {name for name, told in granted.items() if told} == {winner}
    assert (case.decision.choice, case.decision.arguments) == (wish.choice, wish.arguments)
    assert case.state(case.decision.at) is WORTH[wish.choice]
    events = [one.record for one in lines if one.record is not None]
    codes = {name: [event["code"] for event in events if event["approver"] == name] for name in wishes}
    assert codes == {name: ["attempt"] if name == winner else ["attempt", "conflict"] for name in wishes}
    assert [event["hash"] for event in events].count(case.decision.event) == 1
    assert verify(lines, {}, {case.checkpoint.id: [case.decision.event]}).faults == ()


def test_two_people_decide_in_every_order_that_chance_finds() -> None:
    """Each call of the store is a step, and chance says whose step comes next: a thousand orders of them."""
    orders = set()
    for number in range(INTERLEAVINGS):
        chance = Random(number)  # noqa: S311 - no secret depends on it
        records, outlet, asked = MemoryRecords(), MemoryOutlet(), checkpoint(number)
        GuardStore(records).open(asked)
        wishes = {name: chance.choice(WISHES) for name in PEOPLE}
        granted: dict[str, bool] = {}

        def act(name: str) -> Any:
            def decide(records: Records) -> None:
                desk = desk_over(records, outlet, name, lambda: NOON)  # noqa: B023 - it runs before the next round
                granted[name] = decided(desk, asked.id, wishes[name])  # noqa: B023 - the same

            return decide

        orders.add(interleaved({name: act(name) for name in PEOPLE}, records, chance))

        hold(PeopleStore(records).case(asked.id), wishes, granted, lines_of(outlet))
    # Chance did find many.
    assert len(orders) > INTERLEAVINGS / 20


def test_two_processes_decide_at_the_same_moment(folder: Path) -> None:
    """Both over one SQLite file and one audit file, let go at the same moment each time."""
    world, chance = World(in_sqlite(folder), folder), Random(1)  # noqa: S311 - no secret depends on it
    numbers = range(ROUNDS)
    asked = [checkpoint(number, created_at=world.now, expires_at=world.now + timedelta(hours=4)) for number in numbers]
    with world.opened() as records:
        for one in asked:
            GuardStore(records).open(one)
    wishes = {name: [(one.id, chance.choice(WISHES)) for one in asked] for name in PEOPLE}
    gate = barrier(len(PEOPLE))

    assert world.place.url is not None
    running = {
        name: forked(
            approving.main,
            Orders(
                url=world.place.url,
                audit=folder / "audit.jsonl",
                approver=name,
                ahead=world.ahead,
                wishes=wishes[name],
                gate=gate,
            ),
        )
        for name in PEOPLE
    }
    granted = {name: one.answer() for name, one in running.items()}

    audit: dict[str, list[Line]] = defaultdict(list)
    for said in read_file(folder / "audit.jsonl"):
        audit[said.text(Field.CHECKPOINT_ID)].append(said)
    with world.opened() as records:
        for number, one in enumerate(asked):
            hold(
                PeopleStore(records).case(one.id),
                {name: wishes[name][number][1] for name in PEOPLE},
                {name: granted[name][number] for name in PEOPLE},
                audit[one.id],
            )
    # Both came first now and then, or nothing was raced.
    assert all(0 < sum(told) < ROUNDS for told in granted.values())


def test_a_decision_and_the_end_of_its_time_in_every_order() -> None:
    """The agent's clock says that the time is over, the approver's does not: who is told no is not taken at their word.

    Who is told yes may be too late nevertheless, where the agent had looked before: then it is shown as expired.
    """
    outcomes = set()
    for number in range(200):
        chance = Random(number)  # noqa: S311 - no secret depends on it
        records, outlet, wish = MemoryRecords(), MemoryOutlet(), chance.choice(WISHES)
        asked = checkpoint(number)
        GuardStore(records).open(asked)
        granted: list[bool] = []

        def decide(records: Records) -> None:
            desk = desk_over(records, outlet, "ana", lambda: asked.expires_at - MILLISECOND)  # noqa: B023 - see above
            granted.append(decided(desk, asked.id, wish))  # noqa: B023 - see above

        def sweep(records: Records) -> None:
            stage = Stage([Says("")], records=records)
            stage.clock.now = asked.expires_at  # noqa: B023 - see above
            closing(stage.sweep("sweep", Sweep()))

        interleaved({"ana": decide, "agent": sweep}, records, chance)

        case = PeopleStore(records).case(asked.id)
        assert case is not None
        state = case.state(asked.expires_at)
        assert state in ({WORTH[wish.choice], State.EXPIRED} if granted[0] else {State.EXPIRED})
        outcomes.add((granted[0], state is State.EXPIRED))
    assert {(True, False), (False, True)} <= outcomes


@pytest.mark.parametrize("late", [-1, 0, 1])
@pytest.mark.parametrize("wish", WISHES, ids=[wish.choice.value for wish in WISHES])
def test_a_decision_counts_until_the_millisecond_before_the_end(wish: Wish, late: int) -> None:
    """At the end and after it, it is refused, shown as expired, and is neither an approval nor a rejection."""
    records, outlet, asked = MemoryRecords(), MemoryOutlet(), checkpoint()
    GuardStore(records).open(asked)
    moment = asked.expires_at + late * MILLISECOND

    granted = decided(desk_over(records, outlet, "ana", lambda: moment), asked.id, wish)

    case = PeopleStore(records).case(asked.id)
    assert case is not None
    assert granted is (late < 0)
    assert (case.decision is None) is (late >= 0)
    assert case.state(moment) is (WORTH[wish.choice] if late < 0 else State.EXPIRED)
    events = [json.loads(raw) for raw in outlet.lines]
    assert [event["code"] for event in events] == (["attempt"] if late < 0 else ["attempt", "expired"])
    found = approvals(events)
    assert (found.closed, found.too_late) == ((1, 0) if late < 0 else (0, 1))


@pytest.mark.parametrize("late", [-1, 0, 1])
@pytest.mark.parametrize("choice", Choice)
def test_a_late_decision_in_the_store_is_worth_nothing(choice: Choice, late: int) -> None:
    """Whoever wrote it past the console, with a right to write decisions, was too late all the same."""
    effects = Effects()
    stage = Stage([paying(), Says("Done.")], tools=[effects.pay()])
    stage.ask()
    (asked,) = (case.checkpoint for case in stage.people.waiting(2))
    arguments = {"amount": 1} if choice is Choice.EDIT else None
    moment = asked.expires_at + late * MILLISECOND
    stage.clock.now = moment
    decision = Decision(checkpoint_id=asked.id, choice=choice, approver="ana", at=moment, arguments=arguments)
    stage.people.decide(decision)

    assert Case(asked, decision).state(moment) is (WORTH[choice] if late < 0 else State.EXPIRED)
    stage.clock.turn(minutes=1)
    stage.go_on(asked.id)

    ran = late < 0 and WORTH[choice] is State.APPROVED
    assert len(effects.done) == (1 if ran else 0)
    case = stage.guard.store.case(asked.id)
    assert case is not None
    closed = {State.APPROVED: State.DONE}.get(WORTH[choice], WORTH[choice]) if late < 0 else State.EXPIRED
    assert case.state(stage.clock()) is closed
    gates = [event["decision"] for event in stage.events if event["event"] == EventName.GATE]
    assert gates[1:] == ([] if ran else [closed.value])


@pytest.mark.parametrize(("early", "state"), [(-1, State.APPROVED), (0, State.APPROVED), (1, State.EXPIRED)])
def test_an_approver_s_clock_may_be_behind_by_five_minutes(early: int, state: State) -> None:
    """Further behind, an answer is from before its question."""
    asked = checkpoint()
    moment = asked.created_at - SKEW - early * MILLISECOND
    decision = Decision(checkpoint_id=asked.id, choice=Choice.APPROVE, approver="ana", at=moment)

    assert Case(asked, decision).state(asked.created_at) is state
