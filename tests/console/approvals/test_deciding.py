"""A decision is made once, in time, in the audit before in the store; what came to nothing is said as it is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from agent_image.contract import Choice
from agent_image.errors import AuditError, StoreError
from agent_image.guard.approval_metrics import approvals
from agent_image.guard.audit_lines import line
from agent_image.guard.checkpoint import Case, Checkpoint, Decision, Progress, Resolution, State
from agent_image.guard.outlet import Folder
from agent_image.guard.people import PeopleStore
from agent_image.guard.records import StoreUnavailable
from agent_image.guard.verify import verify
from console.approvals.deciding import decide, resolve
from console.approvals.wish import Wish
from console.errors import BadInputError, ConsoleError
from tests.console.approvals.cases import APPROVE, CANCEL, NOON, REJECT, Clock, Office, checkpoint, edited

OPEN = checkpoint()
MILLISECOND = timedelta(milliseconds=1)
WISHES = (APPROVE, edited(amount=10), REJECT, CANCEL)
DOUBTFUL = replace(OPEN, progress=Progress.IN_DOUBT, owner="run-1", fence=1)


class FullOutlet:
    """An audit that takes nothing."""

    at_once = True

    def write(self, lines: Any, *, folder: Folder, run: str, seq: int) -> None:
        raise AuditError("audit_unwritable", "The audit's file cannot be written.")

    def sync(self) -> None:
        """Have nothing to wait for."""


class Interrupted(PeopleStore):
    """A store at which somebody else does something right before or after a decision is written."""

    def __init__(
        self, office: Office, *, before: Any = None, after: Any = None, breaks: Exception | None = None
    ) -> None:
        super().__init__(office.records)
        self.before, self.after, self.breaks = before, after, breaks
        self.blind = False

    def decide(self, decision: Decision) -> None:
        if self.before is not None:
            self.before()
        if self.breaks is not None and self.after is None:
            raise self.breaks
        super().decide(decision)
        if self.after is not None:
            self.after()
        if self.breaks is not None:
            raise self.breaks

    def case(self, checkpoint_id: str) -> Case | None:
        if self.blind:
            raise StoreUnavailable("store_unavailable", "The store did not answer.")
        return super().case(checkpoint_id)


def office_with(found: Checkpoint = OPEN, **parts: Any) -> Office:
    office = Office(**parts)
    office.open(found)
    return office


@pytest.mark.parametrize(
    ("wish", "state"),
    [
        (APPROVE, State.APPROVED),
        (edited(amount=10), State.APPROVED),
        (REJECT, State.REJECTED),
        (CANCEL, State.CANCELLED),
    ],
    ids=lambda value: str(getattr(value, "choice", value)),
)
def test_a_decision_is_kept_with_the_hash_of_its_event(wish: Wish, state: State) -> None:
    """Who, what, when and why; the record is anchored in the audit, and the audit in the record."""
    office = office_with()

    case = decide(office.desk(), OPEN.id[:10], wish)

    (event,) = office.events
    assert case.state(NOON) is state
    assert case.decision == Decision(
        checkpoint_id=OPEN.id,
        choice=wish.choice,
        approver="ana",
        at=NOON,
        reason=wish.reason,
        arguments=wish.arguments,
        event=event["hash"],
    )
    assert office.told() == [("decision", wish.choice.value, "attempt", "ana")]
    assert (event["chain"], event["waited_ms"], event["kind"]) == (f"decision/{OPEN.id}", 0, wish.choice.value)
    assert event["attributes"] == {"session.id": OPEN.session_id}
    found = verify(lines_of(office), {}, {OPEN.id: {event["hash"]}})
    assert (found.findings, found.anchored) == ((), 1)


def lines_of(office: Office) -> Any:
    return [line("memory", number, raw.rstrip(b"\n")) for number, raw in enumerate(office.outlet.lines, 1)]  # type: ignore[attr-defined]


def test_arguments_and_reason_are_in_the_audit() -> None:
    """As texts: what a person changed is not lost."""
    office = office_with()

    decide(office.desk(), OPEN.id, replace(edited(amount=10), reason="too much"))

    (event,) = office.events
    assert event["args"]["text"] == '{"amount":10,"order_id":"5501"}'
    assert event["reason"]["text"] == "too much"


@pytest.mark.parametrize("second", WISHES, ids=lambda wish: wish.choice.value)
@pytest.mark.parametrize("first", WISHES, ids=lambda wish: wish.choice.value)
def test_the_first_decision_holds(first: Wish, second: Wish) -> None:
    """The second is told whose the first was; both are in the audit, and the figures count one."""
    office = office_with()
    before = decide(office.desk("ana"), OPEN.id, first)

    with pytest.raises(ConsoleError, match=r"ana .* it at 2026-01-31T12:00:00\.000Z") as refused:
        decide(office.desk("bo"), OPEN.id, second)

    assert refused.value.status == 1
    assert PeopleStore(office.records).case(OPEN.id) == before
    assert office.told() == [
        ("decision", first.choice.value, "attempt", "ana"),
        ("decision", second.choice.value, "attempt", "bo"),
        ("decision", second.choice.value, "conflict", "bo"),
    ]
    ana, *bo = [event["run"] for event in office.events]
    assert len({*bo}) == 1
    assert ana not in bo


@pytest.mark.parametrize("again", ["ana", "bo"])
def test_figures_count_the_decision_that_holds(again: str) -> None:
    """Also where the same person tries once more."""
    office = office_with()
    decide(office.desk("ana"), OPEN.id, REJECT)
    with pytest.raises(ConsoleError):
        decide(office.desk(again), OPEN.id, APPROVE)

    found = approvals(office.events)

    assert (found.closed, found.too_late) == (1, 1)
    assert (found.rejection_rate, found.approval_rate) == (Decimal(1), Decimal(0))


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.choice.value)
@pytest.mark.parametrize(("offset", "refused"), [(-1, False), (0, True), (1, True)])
def test_what_comes_after_the_end_is_refused(wish: Wish, offset: int, *, refused: bool) -> None:
    """To the millisecond; it is shown as expired, never as rejected or approved, and the audit says so."""
    office = office_with(clock=Clock(OPEN.expires_at + offset * MILLISECOND))

    if refused:
        with pytest.raises(ConsoleError, match=r"is expired since 2026-01-31T16:00:00\.000Z: nobody decided in time"):
            decide(office.desk(), OPEN.id, wish)
        case = PeopleStore(office.records).case(OPEN.id)
        assert case is not None
        assert (case.decision, case.state(office.clock())) == (None, State.EXPIRED)
        assert [code for _, _, code, _ in office.told()] == ["attempt", "expired"]
        assert approvals(office.events).closed == 0
    else:
        assert decide(office.desk(), OPEN.id, wish).decision is not None


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.choice.value)
def test_a_faster_one_in_between_wins(wish: Wish) -> None:
    """Both had read that it was pending; the store decides, and the loser says so."""
    office = office_with()
    faster = Interrupted(office, before=lambda: decide(office.desk("bo"), OPEN.id, REJECT))

    with pytest.raises(ConsoleError, match=f"{OPEN.id} is rejected: bo rejected it"):
        decide(office.desk("ana", faster), OPEN.id, wish)

    assert office.told() == [
        ("decision", wish.choice.value, "attempt", "ana"),
        ("decision", "reject", "attempt", "bo"),
        ("decision", wish.choice.value, "conflict", "ana"),
    ]
    assert approvals(office.events).rejection_rate == 1


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.choice.value)
@pytest.mark.parametrize(("progress", "code"), [(Progress.EXPIRED, "expired"), (Progress.FAILED, "conflict")], ids=str)
def test_an_agent_that_closed_it_in_between_is_told(wish: Wish, progress: Progress, code: str) -> None:
    """The decision is written, and nothing comes of it: nobody is told that it counts."""
    office = office_with()
    closed = OPEN.advanced(progress, NOON)
    slower = Interrupted(office, before=lambda: office.move(OPEN, closed))
    follows = code == "conflict" and wish.releases

    if follows:
        assert decide(office.desk("ana", slower), OPEN.id, wish).state(NOON) is State.FAILED
    else:
        with pytest.raises(ConsoleError, match=f"too late: the agent had closed .* before, and it is {progress.value}"):
            decide(office.desk("ana", slower), OPEN.id, wish)
        assert office.told()[-1] == ("decision", wish.choice.value, code, "ana")


def test_an_agent_that_carries_it_out_at_once_is_no_conflict() -> None:
    """What was approved may be at work, or done, before the answer is read."""
    for progress in (Progress.EXECUTING, Progress.DONE, Progress.IN_DOUBT):
        office = office_with()
        at_once = Interrupted(office, after=lambda o=office, p=progress: o.move(OPEN, replace(OPEN, progress=p)))

        assert decide(office.desk("ana", at_once), OPEN.id, APPROVE).checkpoint.progress is progress


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.choice.value)
def test_what_the_audit_does_not_take_is_not_decided(wish: Wish) -> None:
    """Nobody decides unrecorded."""
    office = office_with(outlet=FullOutlet())

    with pytest.raises(AuditError):
        decide(office.desk(), OPEN.id, wish)

    case = PeopleStore(office.records).case(OPEN.id)
    assert case is not None
    assert case.decision is None


def test_a_refusal_is_told_though_the_audit_takes_nothing() -> None:
    """Both are: why nothing was decided, and that the audit does not know of it."""
    office = office_with(outlet=FullOutlet(), clock=Clock(OPEN.expires_at))

    with pytest.raises(ConsoleError, match=r"is expired since .*\n\(the audit does not hold this attempt: The audit's"):
        decide(office.desk(), OPEN.id, APPROVE)


@pytest.mark.parametrize(
    ("changes", "wish", "code"),
    [
        ({"requester": "ANA"}, APPROVE, "own_request"),
        ({"arguments": {"order_id": "5501", "amount": 9999}}, APPROVE, "checkpoint_changed"),
        ({"created_at": NOON + timedelta(minutes=6)}, REJECT, "clock_behind"),
        ({}, edited(amount=5000), "invalid_edit"),
    ],
)
def test_what_the_rules_forbid_is_in_the_audit_as_blocked(changes: dict[str, Any], wish: Wish, code: str) -> None:
    """It is nobody's answer: no figure counts it, and the checkpoint is as open as before."""
    office = office_with(replace(OPEN, **changes))

    with pytest.raises(ConsoleError) as refused:
        decide(office.desk(), OPEN.id, wish)

    assert office.told() == [("gate", "blocked", code, "ana")]
    assert office.events[0]["kind"] == wish.choice.value
    assert isinstance(refused.value, BadInputError) is (code == "invalid_edit")
    assert approvals(office.events).closed == 0
    case = PeopleStore(office.records).case(OPEN.id)
    assert case is not None
    assert case.decision is None


def test_a_store_that_breaks_off_after_it_wrote_is_read_again() -> None:
    """What is there tells what happened."""
    office = office_with()
    broken = StoreUnavailable("store_unavailable", "The store did not answer.")
    store = Interrupted(office, after=lambda: None, breaks=broken)

    assert decide(office.desk("ana", store), OPEN.id, APPROVE).decision is not None


def test_a_store_that_wrote_nothing_says_so() -> None:
    """As far as can be seen: nobody is told that something was decided."""
    office = office_with()
    store = Interrupted(office, breaks=StoreUnavailable("store_unavailable", "The store did not answer."))

    with pytest.raises(
        ConsoleError, match=f"did not take it, as far as can be seen; .* rastro approvals show {OPEN.id}"
    ):
        decide(office.desk("ana", store), OPEN.id, APPROVE)


def test_a_store_that_is_gone_leaves_a_doubt_that_is_told() -> None:
    """Written or not, nobody knows: it says how to find out."""
    office = office_with()
    store = Interrupted(office)
    store.after = lambda: setattr(store, "blind", True)

    with pytest.raises(ConsoleError, match=f"is not known; look: rastro approvals show {OPEN.id}"):
        decide(office.desk("ana", store), OPEN.id, APPROVE)


@pytest.mark.parametrize(("took_effect", "state"), [(True, State.DONE), (False, State.FAILED)])
def test_a_doubt_is_resolved_by_name(state: State, *, took_effect: bool) -> None:
    """Once, with a reason, and in the audit before; it says nothing of who approved."""
    office = office_with(DOUBTFUL)

    case = resolve(office.desk(), OPEN.id, took_effect=took_effect, reason="the bank says so")

    (event,) = office.events
    assert case.state(NOON) is state
    assert case.resolution == Resolution(
        checkpoint_id=OPEN.id,
        took_effect=took_effect,
        approver="ana",
        at=NOON,
        reason="the bank says so",
        event=event["hash"],
    )
    assert (event["event"], event["kind"], event["decision"]) == ("gate", "resolve", state.value)
    with pytest.raises(ConsoleError, match="ana found at"):
        resolve(office.desk("bo"), OPEN.id, took_effect=not took_effect, reason="no")
    assert verify(lines_of(office), {}, {OPEN.id: {event["hash"]}}).ok


def test_a_resolution_is_no_decision_in_the_figures() -> None:
    """Who approved, and resolved what came of it, has approved."""
    office = office_with()
    decide(office.desk(), OPEN.id, APPROVE)
    office.move(OPEN, DOUBTFUL)
    resolve(office.desk(), OPEN.id, took_effect=True, reason="the bank says so")
    with pytest.raises(ConsoleError):
        resolve(office.desk(), OPEN.id, took_effect=False, reason="no")

    found = approvals(office.events)

    assert (found.closed, found.approval_rate) == (1, Decimal(1))


def test_only_a_doubt_is_resolved() -> None:
    """What is pending needs a decision."""
    office = office_with()

    with pytest.raises(ConsoleError, match="is pending; only what is in doubt is resolved"):
        resolve(office.desk(), OPEN.id, took_effect=True, reason="x")

    assert office.told() == [("gate", "blocked", "not_in_doubt", "ana")]


def test_a_faster_resolution_wins() -> None:
    """The store holds one, and the loser is told."""
    office = office_with(DOUBTFUL)

    class Slower(PeopleStore):
        def resolve(self, resolution: Resolution) -> None:
            resolve(office.desk("bo"), OPEN.id, took_effect=False, reason="no")
            super().resolve(resolution)

    with pytest.raises(ConsoleError, match=r"is failed: bo found at .* that it had no effect"):
        resolve(office.desk("ana", Slower(office.records)), OPEN.id, took_effect=True, reason="yes")


@pytest.mark.parametrize("error", [StoreError("record_malformed", "A record cannot be read.")])
def test_a_store_that_cannot_be_read_decides_nothing(error: StoreError) -> None:
    """It says why, and the audit has nothing to say."""
    office = office_with()

    class Unreadable(PeopleStore):
        def case(self, checkpoint_id: str) -> Case | None:
            raise error

    with pytest.raises(StoreError):
        decide(office.desk("ana", Unreadable(office.records)), OPEN.id, APPROVE)
    assert office.events == []


@pytest.mark.parametrize("choice", Choice)
def test_nobody_types_in_who_he_is(choice: Choice) -> None:
    """The name comes with the desk; a wish has none."""
    assert "approver" not in Wish.__slots__
    assert Wish(choice=choice)
