"""The sample's tools have effects under a claim alone, once, and with amounts that are exact."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agent_image.contract import Zone
from agent_image.errors import NoEffect
from agent_image.guard.claim import Claim, arguments_digest, claimed
from agent_image.tools.ledger import Ledger
from agent_image.tools.open_ticket import OPEN_TICKET, open_ticket
from agent_image.tools.refund_order import REFUND_ORDER, amount_of, refund_order
from agent_image.tools.zoned import ZonedTool

REFUND = {"order_id": "5501", "amount": 150}
TICKET = {"subject": "A late parcel"}
TOOLS = [(refund_order, REFUND), (open_ticket, TICKET)]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl")


def claim_for(tool: str, arguments: Any, *, key: str = "k1", fence: int = 1) -> Claim:
    return Claim(key=key, fence=fence, session_id="s", tool=tool, digest=arguments_digest(arguments))


def run(zoned: ZonedTool, arguments: Any, claim: Claim | None = None) -> tuple[Any, BaseException | None]:
    """Give the result of a call, and what it raised."""

    async def last() -> Any:
        events = zoned.tool.stream({"name": zoned.tool.tool_name, "toolUseId": "t", "input": arguments}, {})
        return [event async for event in events][-1]

    if claim is None:
        event = asyncio.run(last())
    else:
        with claimed(claim):
            event = asyncio.run(last())
    return event.tool_result, event.exception


def test_their_zones_are_those_of_their_effects(ledger: Ledger) -> None:
    """A ticket can be closed again; money does not come back."""
    assert (open_ticket(ledger).zone, refund_order(ledger).zone) == (Zone.YELLOW, Zone.RED)
    assert (open_ticket(ledger).name, refund_order(ledger).name) == (OPEN_TICKET, REFUND_ORDER)


@pytest.mark.parametrize(("build", "arguments"), TOOLS)
def test_they_may_be_run_again_and_refuse_a_lost_owner(
    ledger: Ledger, build: Callable[[Ledger], ZonedTool], arguments: dict[str, Any]
) -> None:
    """They say that they honour the idempotency key, and take the token of a session's new owner."""
    tool = build(ledger)
    assert tool.idempotent
    assert tool.fence

    tool.fence("s", 2)
    _, error = run(tool, arguments, claim_for(tool.name, arguments, fence=1))

    assert isinstance(error, NoEffect)
    assert ledger.effects() == []


@pytest.mark.parametrize(("amount", "large"), [(500, False), (500.01, True), ("150", True)])
def test_a_large_refund_is_a_reason_of_its_own(ledger: Ledger, amount: object, large: object) -> None:
    """Which the approver reads beside the zone; an amount that is none counts as one."""
    (rule,) = refund_order(ledger).red_when

    assert (rule.code, rule.holds({**REFUND, "amount": amount})) == ("red_when:amount", large)


def test_a_refund_is_booked_and_reported(ledger: Ledger) -> None:
    """With its amount to the cent and its currency."""
    result, error = run(refund_order(ledger), REFUND, claim_for(REFUND_ORDER, REFUND))

    assert error is None
    assert result["content"] == [{"text": "Refund 1: 150.00 BRL go back for order 5501."}]
    (entry,) = ledger.effects()
    assert entry.items() >= {
        "kind": "refund", "key": "k1", "order_id": "5501", "amount": "150.00", "currency": "BRL",
    }.items()  # fmt: skip


def test_a_ticket_is_booked_and_reported(ledger: Ledger) -> None:
    """With its subject and what the person should know."""
    arguments = {"subject": " A late parcel ", "detail": "Order 5501."}
    result, error = run(open_ticket(ledger), arguments, claim_for(OPEN_TICKET, arguments))

    assert error is None
    assert result["content"] == [{"text": "Ticket 1 is open."}]
    (entry,) = ledger.effects()
    assert (entry["kind"], entry["subject"], entry["detail"]) == ("ticket", "A late parcel", "Order 5501.")


@pytest.mark.parametrize(("build", "arguments"), TOOLS)
def test_without_a_claim_nothing_happens(
    ledger: Ledger, build: Callable[[Ledger], ZonedTool], arguments: dict[str, Any]
) -> None:
    """And with that of another tool; what is raised says so."""
    for claim in (None, claim_for("another", arguments)):
        result, error = run(build(ledger), arguments, claim)

        assert result["status"] == "error"
        assert isinstance(error, NoEffect)
    assert ledger.effects() == []


@pytest.mark.parametrize(("build", "arguments"), TOOLS)
def test_the_same_call_takes_effect_once(
    ledger: Ledger, build: Callable[[Ledger], ZonedTool], arguments: dict[str, Any]
) -> None:
    """A second attempt gets the first one's answer; a stale owner gets none."""
    tool = build(ledger)
    name = tool.tool.tool_name
    first, _ = run(tool, arguments, claim_for(name, arguments))
    second, _ = run(tool, arguments, claim_for(name, arguments, fence=2))
    other, _ = run(tool, arguments, claim_for(name, arguments, key="k2", fence=2))
    _, stale = run(tool, arguments, claim_for(name, arguments, key="k3", fence=1))

    assert second == first
    assert other != first
    assert isinstance(stale, NoEffect)
    assert len(ledger.effects()) == 2


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        *((refund_order, {**REFUND, "amount": amount}) for amount in
          (0, -1, -0.0, 0.001, 150.505, 0.1 + 0.2, 1_000_000.01, 1e300, 10**5_000, True, None, "150", "x", [150],
           float("nan"), float("inf"))),
        *((refund_order, {**REFUND, "order_id": order}) for order in
          ("", "-1", "a b", "../x", "5501\n", "9" * 65, 5501)),
        *((open_ticket, arguments) for arguments in
          ({"subject": ""}, {"subject": " \n"}, {"subject": "s" * 201}, {"subject": "s", "detail": "d" * 4_001})),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(ledger: Ledger, tool: Any, arguments: dict[str, Any]) -> None:
    """Before a claim is looked at; the answer says what is allowed, and nothing of what came."""
    result, error = run(tool(ledger), arguments)

    assert (result["status"], error) == ("error", None)
    assert any(word in result["content"][0]["text"] for word in ("An order's number has", "A subject has"))
    assert ledger.effects() == []


@settings(deadline=None)
@given(st.decimals(min_value=Decimal("0.01"), max_value=1_000_000, places=2))
def test_amounts_are_exact_to_the_cent(amount: Decimal) -> None:
    """As they were written, whether JSON's number is read as a float or as a decimal."""
    assert amount_of(json.loads(str(amount))) == amount
    assert amount_of(json.loads(str(amount), parse_float=Decimal)) == amount
    assert str(amount_of(amount)) == f"{amount:.2f}"


@settings(deadline=None)
@given(st.floats() | st.decimals() | st.integers() | st.booleans() | st.text() | st.none())
def test_whatever_comes_is_an_amount_in_cents_or_none(value: object) -> None:
    """Nothing is rounded, and nothing raises."""
    amount = amount_of(value)

    assert amount is None or (0 < amount <= 1_000_000 and amount == Decimal(str(value)) and amount * 100 % 1 == 0)


@pytest.mark.parametrize(("build", "arguments"), TOOLS)
def test_what_a_person_edits_is_checked_by_a_schema(
    ledger: Ledger, build: Callable[[Ledger], ZonedTool], arguments: dict[str, Any]
) -> None:
    """It takes the sample's arguments, and nothing where one is missing or of another type."""
    schema = Draft202012Validator(build(ledger).tool.tool_spec["inputSchema"]["json"])

    assert schema.is_valid(arguments)
    assert not any(schema.is_valid({**arguments, name: None}) for name in arguments)
    assert not schema.is_valid({})
