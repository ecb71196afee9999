"""An event is one compact line of JSON, whatever its fields hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_image.contract import EventName, Field
from agent_image.guard.budget import Amount
from agent_image.guard.events import COMMON, LISTED, RULES, TEXTS, fields_of, members, money
from agent_image.guard.plain import Words, compact
from tests.agent_image.guard.chains import SESSION, event
from tests.agent_image.guard.test_plain import ANYTHING

TOLD = "<words>"


def told(_: Words) -> str:
    return compact(TOLD)


def rendered(**fields: Any) -> dict[str, Any]:
    common = {key: fields.pop(key) for key in ("trace_id", "span_id", "ts") if key in fields}
    line = members(event(EventName.TOOL_CALL, fields=fields_of(fields), **common), told)
    record: dict[str, Any] = json.loads(f"{{{line}}}", parse_float=Decimal)
    return record


def test_members_stand_in_the_contract_s_order_without_white_space() -> None:
    """So the seed's `grep '"tool":"x"'` finds what it looks for, and two lines compare."""
    line = members(
        event(fields=fields_of({"tool": "refund_order", "zone": "red", "args": {}, "is_error": False})), told
    )

    names = list(json.loads(f"{{{line}}}"))
    assert '"tool":"refund_order"' in line
    assert names == sorted(names, key=[field.value for field in Field].index)


def test_the_session_stands_where_the_free_index_finds_it() -> None:
    """CloudWatch indexes `attributes.session.id`, which a span's flat attributes have and these lines as well."""
    assert rendered()["attributes"] == {"session.id": SESSION}


@pytest.mark.parametrize(
    "evidence",
    [
        {"why": "her card, 4111"},
        {"her card, 4111": 1},
        {"calls": True},
        {"calls": 1.5},
        {"calls": {"deep": 1}},
        {f"code_{number}": number for number in range(LISTED + 1)},
        ["calls"],
        "calls",
        {},
    ],
    ids=repr,
)
def test_evidence_that_is_more_than_codes_and_numbers_is_a_text(evidence: object) -> None:
    """Whoever wrote it: a text is told as each outlet tells texts."""
    assert rendered(evidence=evidence)["evidence"] == TOLD


def test_time_is_utc_and_says_so() -> None:
    """The seed wrote local time without a zone."""
    lisbon = timezone(timedelta(hours=1))

    assert rendered(ts=datetime(2026, 6, 10, 14, 30, 0, 5000, tzinfo=lisbon))["ts"] == "2026-06-10T13:30:00.005Z"


def test_every_event_is_named_and_placed() -> None:
    """Which one, of which run, session and agent, and after which one: the seed's lines had no ids."""
    record = rendered(trace_id="t" * 32, span_id="s" * 16)

    assert {key: record[key] for key in ("event", "event_id", "seq", "chain", "run", "step", "agent")} == {
        "event": "tool_call",
        "event_id": "e-1",
        "seq": 1,
        "chain": "session",
        "run": "run-1",
        "step": 3,
        "agent": "support",
    }
    assert (record["trace_id"], record["span_id"]) == ("t" * 32, "s" * 16)


def test_outside_a_trace_no_trace_is_named() -> None:
    """An empty id would be looked for."""
    assert not {"trace_id", "span_id"} & rendered().keys()


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        (Decimal("3E-7"), "0.0000003"),
        (Decimal("1E+3"), "1000"),
        (Decimal("0.100"), "0.1"),
        (Decimal("-0.0"), "0"),
        (Amount(nano_usd=1).usd, "0.000000001"),
        (Amount(nano_usd=123456789012345678901).usd, "123456789012.345678901"),
        (0.1, "0.1"),
        (3e-7, "0.0000003"),
        ("0.25", "0.25"),
        (7, "7"),
        (None, "null"),
        (True, "null"),
        ("a lot", "null"),
        (float("nan"), "null"),
        (Decimal("Infinity"), "null"),
        (Decimal("1E+999999"), "null"),
        ([1], "null"),
    ],
)
def test_money_is_written_exactly(amount: object, written: str) -> None:
    """The seed rounded 3e-7 to nothing; an unknown amount is null, and never 0."""
    assert money(amount) == written


@given(st.lists(st.integers(min_value=0, max_value=10**15)))
def test_the_sum_of_written_amounts_is_the_sum_of_amounts(nanos: list[int]) -> None:
    """To the last nano-dollar, over any number of steps."""
    lines = [json.loads(money(Amount(nano_usd=nano).usd), parse_float=Decimal) for nano in nanos]

    assert sum(map(Decimal, lines), Decimal(0)) == Amount(nano_usd=sum(nanos)).usd


def test_what_is_unknown_is_null_and_what_is_not_there_is_left_out() -> None:
    """A call without a checkpoint has none; a call without a price has an unknown one."""
    record = rendered(cost_usd=None, tokens=None, latency_ms=None, checkpoint_id=None, approver=None, reason=None)

    assert (record["cost_usd"], record["tokens"], record["latency_ms"]) == (None, None, None)
    assert not {"checkpoint_id", "approver", "reason"} & record.keys()


def test_a_result_of_none_is_a_result() -> None:
    """The seed cut it with [:200] and died."""
    assert rendered(result=None)["result"] is None


@dataclass
class Used:
    input: int
    output: int


def test_tokens_are_counted_by_kind() -> None:
    """A kind that nobody counted is unknown."""
    assert rendered(tokens=Used(7, 2))["tokens"] == {"input": 7, "output": 2, "cache_read": None, "cache_write": None}
    assert rendered(tokens="many")["tokens"] is None


@pytest.mark.parametrize("code", ["refund order", "a\nb", "x" * 257, "ünïcode", "", {"a": 1}, b"\xff"])
def test_what_has_no_form_of_a_code_is_written_as_a_text(code: object) -> None:
    """A model may name a tool with a whole sentence; the outlet decides what is said of it."""
    assert rendered(tool=code)["tool"] == TOLD


@pytest.mark.parametrize(
    "code",
    ["arn:aws:sts::111122223333:assumed-role/On_Call/j.doe+1@example.com,x=y", "us.vendor.model-v1:0", "genai#1"],
)
def test_ids_of_people_and_models_are_codes(code: str) -> None:
    """They stay what can be looked for."""
    assert rendered(approver=code)["approver"] == code


def test_reasons_are_a_bounded_list_of_codes() -> None:
    """A single one is a list of one."""
    assert rendered(reasons=("zone_red", "over budget"))["reasons"] == ["zone_red", TOLD]
    assert rendered(reasons="zone_red")["reasons"] == ["zone_red"]
    assert len(rendered(reasons=["x"] * 1_000)["reasons"]) == LISTED


@pytest.mark.parametrize("name", ["colour", "seq", "hash", "prev", "attributes", "event_id"])
def test_a_field_that_no_event_takes_is_refused(name: str) -> None:
    """Neither an unknown one, nor one that the chain itself writes."""
    with pytest.raises(ValueError, match=name):
        fields_of({name: 1})


@pytest.mark.parametrize("field", sorted(TEXTS))
def test_what_may_be_anybody_s_words_goes_through_the_outlet(field: Field) -> None:
    """Even if it looks like a code."""
    assert rendered(**{field.value: "code"})[field.value] == TOLD


@settings(deadline=None)
@given(st.sampled_from(EventName), st.dictionaries(st.sampled_from(sorted(RULES)), ANYTHING, max_size=4))
def test_any_value_in_any_field_is_one_line(name: EventName, fields: dict[Field, object]) -> None:
    """Nothing that a tool returns can lose or split an event."""
    line = members(event(name, fields=fields), told)

    assert line.isprintable()
    assert json.loads(f"{{{line}}}")["event"] == name


def test_every_field_has_its_way() -> None:
    """Common to all events, or particular with a rule."""
    assert COMMON | RULES.keys() == set(Field)
    assert not COMMON & RULES.keys()
