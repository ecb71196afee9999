"""A wish is refused for a reason that is said: too late, not allowed, or not what it seems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agent_image.contract import Choice, Level
from agent_image.guard.checkpoint import Action, Case, Decision, Progress, Resolution
from console.approvals.rules import Refusal, past, refused, schema_faults, unresolvable
from console.approvals.wish import Wish
from tests.console.approvals.cases import APPROVE, CANCEL, NOON, REJECT, SCHEMA, checkpoint, edited
from tests.console.loopback import Scripted, serving

MILLISECOND = timedelta(milliseconds=1)
OPEN = checkpoint()
WISHES = (APPROVE, edited(amount=10), REJECT, CANCEL)


def decided(choice: Choice = Choice.APPROVE, **changes: Any) -> Decision:
    return Decision(
        **{"checkpoint_id": OPEN.id, "choice": choice, "approver": "bo", "at": NOON + timedelta(minutes=1), **changes}
    )


def code_of(refusal: Refusal | None) -> str | None:
    return None if refusal is None else refusal.code


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.choice.value)
@pytest.mark.parametrize(("offset", "code"), [(-1, None), (0, "expired"), (1, "expired")])
def test_time_is_kept_to_the_millisecond(wish: Wish, offset: int, code: str | None) -> None:
    """A moment before the end is in time; the end itself is over."""
    assert code_of(refused(Case(OPEN), wish, "ana", OPEN.expires_at + offset * MILLISECOND)) == code


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.choice.value)
@pytest.mark.parametrize(("seconds", "code"), [(-301, "clock_behind"), (-300, None), (0, None)])
def test_a_clock_far_behind_the_agent_s_decides_nothing(wish: Wish, seconds: int, code: str | None) -> None:
    """Five minutes are usual; beyond them the answer would lie before its question."""
    assert code_of(refused(Case(OPEN), wish, "ana", NOON + timedelta(seconds=seconds))) == code


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.choice.value)
@pytest.mark.parametrize("choice", Choice)
def test_what_is_decided_stays_so(wish: Wish, choice: Choice) -> None:
    """The first answer holds, whoever comes next; it is said whose that was, and what."""
    refusal = refused(Case(OPEN, decided(choice)), wish, "ana", NOON + timedelta(minutes=2))

    assert code_of(refusal) == "conflict"
    assert refusal is not None
    assert "bo " in refusal.text
    assert "at 2026-01-31T12:01:00.000Z" in refusal.text


@pytest.mark.parametrize(
    ("case", "code", "said"),
    [
        (Case(OPEN), "expired", "is expired since 2026-01-31T16:00:00.000Z: nobody decided in time"),
        (Case(OPEN, decided()), "expired", "bo approved it at .* and it was not carried out by 2026-01-31T13:01:00"),
        (Case(OPEN, decided(at=OPEN.expires_at)), "expired", "bo approved it at .*, which was too late"),
        (Case(OPEN, decided(Choice.REJECT)), "conflict", "is rejected: bo rejected it at"),
        (Case(OPEN, decided(Choice.CANCEL)), "conflict", "is cancelled: bo cancelled it at"),
        (Case(replace(OPEN, progress=Progress.EXPIRED)), "expired", "nobody decided in time"),
        (Case(replace(OPEN, progress=Progress.DONE), decided(Choice.EDIT)), "conflict", "bo edited and approved it"),
        (Case(replace(OPEN, progress=Progress.CANCELLED)), "conflict", "is cancelled$"),
        (Case(OPEN, decided(Choice.REJECT, approver="\x1b[2J")), "conflict", r"\\x1b\[2J rejected it"),
    ],
)
def test_what_became_of_it_is_told(case: Case, code: str, said: str) -> None:
    """Late, expired, or decided: each in its own words, none of which steers a terminal."""
    refusal = past(case, OPEN.expires_at)

    assert refusal.code == code
    assert refusal.text.startswith(OPEN.id)
    with pytest.raises(ValueError, match=said):
        raise ValueError(refusal.text)


@pytest.mark.parametrize(
    ("wish", "code"),
    [(APPROVE, "checkpoint_changed"), (edited(amount=1), "checkpoint_changed"), (REJECT, None), (CANCEL, None)],
)
def test_what_was_tampered_with_can_only_be_turned_down(wish: Wish, code: str | None) -> None:
    """Its arguments are not those that its id was made from."""
    tampered = replace(OPEN, arguments={"order_id": "5501", "amount": 9999})

    assert code_of(refused(Case(tampered), wish, "ana", NOON)) == code


@pytest.mark.parametrize(("wish", "refusal"), [(APPROVE, "own_request"), (edited(amount=1), "own_request")])
@pytest.mark.parametrize(
    ("approver", "requester", "same"),
    [
        ("ana", "ana", True),
        ("ana", "Ana", True),
        ("ana", "bo", False),
        ("ana", None, False),
        ("arn:aws:sts::111122223333:assumed-role/Approver/ana", "ana", True),
        ("arn:aws:sts::111122223333:assumed-role/A/ana", "arn:aws:sts::111122223333:assumed-role/B/ana", True),
        ("arn:aws:iam::111122223333:user/ops/ana", "arn:aws:sts::111122223333:assumed-role/B/ana", True),
        ("arn:aws:sts::111122223333:assumed-role/A/ana", "arn:aws:sts::111122223333:assumed-role/A/bo", False),
    ],
)
def test_nobody_approves_what_he_asked_for(
    wish: Wish, refusal: str, approver: str, requester: str | None, *, same: bool
) -> None:
    """Where both are known, by whatever role somebody came."""
    case = Case(replace(OPEN, requester=requester))

    assert code_of(refused(case, wish, approver, NOON)) == (refusal if same else None)
    assert refused(case, REJECT, approver, NOON) is None
    assert refused(case, CANCEL, approver, NOON) is None


@pytest.mark.parametrize(
    ("changes", "wish", "code"),
    [
        ({}, edited(amount=10), None),
        ({"level": Level.BLOCK}, edited(amount=10), "not_editable"),
        ({"level": Level.BLOCK}, APPROVE, None),
        ({"action": Action.BUDGET, "level": Level.BLOCK}, edited(amount=10), "not_editable"),
        ({"action": Action.BUDGET, "level": Level.STEER}, edited(amount=10), "not_editable"),
        ({"action": Action.BUDGET}, APPROVE, None),
        ({}, edited(amount=1001), "invalid_edit"),
        ({}, edited(amount="10"), "invalid_edit"),
        ({}, edited(more=1), "invalid_edit"),
        ({}, Wish(choice=Choice.EDIT, arguments={}), "invalid_edit"),
    ],
)
def test_only_what_may_be_edited_is(changes: dict[str, Any], wish: Wish, code: str | None) -> None:
    """At level 3, a call of a tool, and within the tool's schema; an empty edit is an edit."""
    assert code_of(refused(Case(replace(OPEN, **changes)), wish, "ana", NOON)) == code


def test_every_fault_of_an_edit_is_told() -> None:
    """With its path; what the approver typed is shown without steering the terminal."""
    assert sorted(schema_faults(SCHEMA, {"order_id": 5, "amount": "\x1b[2J", "more": 1})) == [
        "$.amount: '\\x1b[2J' is not of type 'number'",
        "$.order_id: 5 is not of type 'string'",
        "$: Additional properties are not allowed ('more' was unexpected)",
    ]


@contextmanager
def elsewhere() -> Iterator[tuple[str, list[Any]]]:
    with serving(lambda _: Scripted([b"{}"], headers={"Content-Type": "application/json"})) as (port, asked):
        yield f"http://127.0.0.1:{port}/schema", asked


def test_a_schema_out_of_the_store_fetches_nothing() -> None:
    """An agent that was taken over must not make an approver's machine call anybody."""
    with elsewhere() as (url, asked):
        assert schema_faults({"$ref": url}, {}) == ["the tool's schema cannot be read"]

    assert asked == []


@pytest.mark.parametrize(
    "schema", [{"type": "nothing"}, {"properties": {"a": {"pattern": "("}}}, {"properties": 5}, {"$ref": "#/nowhere"}]
)
def test_a_schema_that_cannot_be_read_fits_nothing(schema: dict[str, Any]) -> None:
    """What nobody can check does not run."""
    assert schema_faults(schema, {"a": "b"}) == ["the tool's schema cannot be read"]


@pytest.mark.parametrize(
    ("progress", "resolution", "code", "said"),
    [
        (Progress.IN_DOUBT, None, None, ""),
        (Progress.IN_DOUBT, True, "conflict", "is done: bo found at 2026-01-31T12:01:00.000Z that it took effect"),
        (Progress.IN_DOUBT, False, "conflict", "is failed: bo found at .* that it had no effect"),
        (Progress.OPEN, None, "not_in_doubt", "is pending; only what is in doubt is resolved$"),
        (Progress.EXECUTING, None, "not_in_doubt", "if its agent is gone, rastro approvals sweep says so"),
        (Progress.DONE, None, "not_in_doubt", "is done; only what is in doubt is resolved$"),
    ],
)
def test_only_what_is_in_doubt_is_resolved(
    progress: Progress,
    resolution: bool | None,  # noqa: FBT001 - a column
    code: str | None,
    said: str,
) -> None:
    """Once; and nobody resolves what may still be at work."""
    found = (
        None
        if resolution is None
        else Resolution(
            checkpoint_id=OPEN.id,
            took_effect=resolution,
            approver="bo",
            at=NOON + timedelta(minutes=1),
            reason="the bank says so",
        )
    )
    refusal = unresolvable(Case(replace(OPEN, progress=progress), None, found), NOON + timedelta(minutes=2))

    assert code_of(refusal) == code
    if refusal is not None:
        with pytest.raises(ValueError, match=said):
            raise ValueError(refusal.text)
