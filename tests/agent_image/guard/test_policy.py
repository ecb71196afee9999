"""What a call may do follows from its tool's zone and its arguments; the settings may tighten, or give a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import Level, Zone
from agent_image.errors import SettingsError
from agent_image.guard.policy import Classified, Policy
from agent_image.guard.rules import UNKNOWN, Rule, ToolRule
from agent_image.guard.settings import parse_guard


@dataclass(frozen=True)
class Tool:
    """A tool, as far as the policy looks at it."""

    name: str
    rule: ToolRule


OVER_100 = Rule("amount", over=Decimal(100))
SEARCH = Tool("search", ToolRule(zone=Zone.GREEN))
TICKET = Tool(
    "ticket",
    ToolRule(
        zone=Zone.YELLOW,
        price_usd=Decimal("0.02"),
        red_when=(OVER_100, Rule("urgent", equals=True)),
        min_interval_seconds=5,
        volatile=("nonce",),
        notify=True,
    ),
)
REFUND = Tool("refund", ToolRule(zone=Zone.RED))
TOOLS = (SEARCH, TICKET, REFUND)


def policy(tools: Mapping[str, Any] | None = None, *declared: Tool) -> Policy:
    return Policy.of(declared or TOOLS, parse_guard({"tools": tools or {}}))


def refusals(tools: Mapping[str, Any], *declared: Tool) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        policy(tools, *declared)
    return list(caught.value.faults)


def test_a_green_call_is_not_asked_for() -> None:
    """Nor a yellow one within its rules."""
    assert policy().classify("search", {"query": "x"}) == Classified(Zone.GREEN, Level.NOTIFY, (), SEARCH.rule)
    assert not policy().classify("ticket", {"amount": 100, "urgent": False}).asks


def test_a_red_call_is_asked_for() -> None:
    """And a person may change it, unless the tool says otherwise."""
    found = policy().classify("refund", {})

    assert (found.zone, found.level, found.reasons, found.asks) == (Zone.RED, Level.STEER, ("zone_red",), True)


@pytest.mark.parametrize("name", ["unknown", "", "Search", "search ", "refund\n"])
def test_a_tool_that_nobody_knows_is_red(name: str) -> None:
    """By whatever name the model calls it."""
    found = policy().classify(name, {})

    assert (found.zone, found.level, found.rule) == (Zone.RED, Level.STEER, UNKNOWN)
    assert found.reasons == ("unclassified", "zone_red")


def test_a_tool_that_nobody_classified_is_red() -> None:
    """Until the settings, or the code, say what it is."""
    explode = Tool("explode", UNKNOWN)

    assert policy({}, explode).classify("explode", {}).reasons == ("unclassified", "zone_red")
    assert policy({"explode": {"zone": "red"}}, explode).classify("explode", {}).reasons == ("zone_red",)


def test_all_reasons_are_given() -> None:
    """Not the first: the amount is too high, the call is urgent, and somebody wants to be asked anyway."""
    found = policy({"ticket": {"level": 2}}).classify("ticket", {"amount": 101, "urgent": True})

    assert found.zone is Zone.RED
    assert found.reasons == ("red_when:amount", "red_when:urgent", "level_block")
    assert policy({"ticket": {"zone": "red", "level": 3}}).classify("ticket", {}).reasons == (
        "zone_red",
        "red_when:amount",
        "red_when:urgent",
        "level_steer",
    )


def test_two_rules_over_one_argument_are_one_reason() -> None:
    """The code names the argument."""
    rules = (OVER_100, Rule("amount", equals=0))
    tool = Tool("pay", ToolRule(zone=Zone.GREEN, red_when=rules))

    assert policy({}, tool).classify("pay", {}).reasons == ("red_when:amount",)


@pytest.mark.parametrize("arguments", [None, "amount=1", ["amount"], 5, {"amount": float("nan"), "urgent": False}])
def test_arguments_that_are_no_object_are_red_where_a_rule_looks_at_them(arguments: object) -> None:
    """A model may send anything."""
    assert policy().classify("ticket", arguments).zone is Zone.RED


def test_a_level_asks_without_making_a_call_red() -> None:
    """Green stays green; a person is asked all the same."""
    found = policy({"search": {"level": 2}}).classify("search", {})

    assert (found.zone, found.level, found.reasons) == (Zone.GREEN, Level.BLOCK, ("level_block",))


@pytest.mark.parametrize(
    ("tool", "change"),
    [
        ("search", {"zone": "yellow"}),
        ("search", {"zone": "red"}),
        ("search", {"zone": "red", "level": 2}),
        ("search", {"level": 3}),
        ("ticket", {"price_usd": "0.03"}),
        ("ticket", {"price_usd": "0.02"}),
        ("ticket", {"red_when": [{"argument": "amount", "over": 99}]}),
        ("ticket", {"red_when": [{"argument": "amount", "over": 100}]}),
        ("ticket", {"red_when": [{"argument": "to", "outside": ["me"]}]}),
        ("ticket", {"min_interval_seconds": 6}),
        ("ticket", {"volatile": ["at"]}),
        ("search", {"notify": True}),
        ("search", {"poll": False}),
        ("refund", {"level": 3}),
    ],
)
def test_the_settings_may_tighten(tool: str, change: dict[str, Any]) -> None:
    """Nobody has to say why."""
    assert policy({tool: change}).rules[tool]


@pytest.mark.parametrize(
    ("tool", "change", "declared"),
    [
        ("ticket", {"zone": "green"}, "yellow"),
        ("refund", {"zone": "yellow"}, "red"),
        ("refund", {"zone": "green"}, "red"),
        ("refund", {"level": 2}, "3"),
        ("ticket", {"price_usd": "0.01"}, "0.02"),
        ("ticket", {"price_usd": 0}, "0.02"),
        ("ticket", {"red_when": [{"argument": "amount", "over": "100.01"}]}, "amount over 100"),
        ("search", {"poll": True}, "false"),
        ("ticket", {"min_interval_seconds": 4}, "5"),
        ("ticket", {"notify": False}, "true"),
    ],
)
def test_loosening_needs_a_written_reason(tool: str, change: dict[str, Any], declared: str) -> None:
    """Without one the fault names what the code says; with one it is allowed, and shown."""
    (key,) = change

    assert refusals({tool: change}) == [
        f"guard.tools.{tool}.{key} loosens what the code says ({declared}); allowed: with a reason"
    ]
    loosened = policy({tool: change | {"reason": "agreed in review 7"}})
    assert [row.why for row in loosened.rows() if row.tool == tool] == ["set by the settings: agreed in review 7"]


def test_every_fault_is_said_at_once() -> None:
    """Of all tools, those that are not there first."""
    assert refusals({"mail": {"zone": "red"}, "ticket": {"zone": "green", "price_usd": 0}, "refund": {"level": 1}}) == [
        "guard.tools.mail is no tool of this agent; allowed: refund, search, ticket",
        "guard.tools.ticket.zone loosens what the code says (yellow); allowed: with a reason",
        "guard.tools.ticket.price_usd loosens what the code says (0.02); allowed: with a reason",
        "guard.tools.refund.level is 1; allowed: 2 or 3, for a red tool is asked for before it runs",
        "guard.tools.refund.level loosens what the code says (3); allowed: with a reason",
    ]


def test_no_reason_lets_a_red_tool_run_unasked() -> None:
    """Red with level 1 is refused, whoever wants it."""
    assert refusals({"refund": {"level": 1, "reason": "we are in a hurry"}}) == [
        "guard.tools.refund.level is 1; allowed: 2 or 3, for a red tool is asked for before it runs"
    ]


def test_two_tools_of_one_name_are_refused() -> None:
    """Else the rules of one would hold for the other."""
    green = Tool("refund", ToolRule(zone=Zone.GREEN))

    assert refusals({}, REFUND, green) == ["refund is the name of two tools; allowed: one each"]


def test_a_bound_of_the_settings_takes_the_place_of_the_code_s() -> None:
    """With a reason it may be higher; other rules stay."""
    loosened = policy(
        {"ticket": {"red_when": [{"argument": "amount", "over": 500}], "reason": "prices went up"}},
    )

    assert loosened.classify("ticket", {"amount": 500, "urgent": False}).reasons == ()
    assert set(loosened.classify("ticket", {"amount": 501, "urgent": True}).reasons) == {
        "red_when:amount",
        "red_when:urgent",
    }


def test_the_lowest_bound_of_the_code_counts() -> None:
    """A bound between two of the code's would let more pass than the lower one."""
    tool = Tool("pay", ToolRule(zone=Zone.GREEN, red_when=(OVER_100, Rule("amount", over=Decimal(200)))))

    assert refusals({"pay": {"red_when": [{"argument": "amount", "over": 150}]}}, tool) == [
        "guard.tools.pay.red_when loosens what the code says (amount over 100); allowed: with a reason"
    ]


def test_a_bound_replaces_bounds_alone() -> None:
    """Another rule over the same argument stays."""
    tool = Tool("pay", ToolRule(zone=Zone.GREEN, red_when=(OVER_100, Rule("amount", equals=0))))
    tightened = policy({"pay": {"red_when": [{"argument": "amount", "over": 50}]}}, tool)

    assert [amount for amount in (0, 1, 50, 51, 100) if tightened.classify("pay", {"amount": amount}).asks] == [
        0,
        51,
        100,
    ]


def test_lists_of_code_and_settings_both_hold() -> None:
    """What is allowed is what both allow; adding a list loosens nothing."""
    tool = Tool("move", ToolRule(zone=Zone.GREEN, red_when=(Rule("to", outside=("a", "b")),)))
    narrowed = policy({"move": {"red_when": [{"argument": "to", "outside": ["b", "c"]}]}}, tool)

    assert [to for to in "abc" if not narrowed.classify("move", {"to": to}).asks] == ["b"]


def test_a_truth_and_a_one_are_two_rules() -> None:
    """Python takes them for equal; an argument does not."""
    tool = Tool("run", ToolRule(zone=Zone.GREEN, red_when=(Rule("force", equals=1),)))

    both = policy({"run": {"red_when": [{"argument": "force", "equals": True}]}}, tool)

    assert len(both.rules["run"].red_when) == 2


def test_a_level_that_the_code_meant_for_green_gives_way_to_red() -> None:
    """Tightening the zone is enough: the call is asked for."""
    quiet = Tool("quiet", ToolRule(zone=Zone.GREEN, level=Level.NOTIFY))

    assert policy({"quiet": {"zone": "red"}}, quiet).classify("quiet", {}).level is Level.STEER


def test_what_the_settings_leave_out_stays() -> None:
    """And ignored arguments add up."""
    changed = policy({"ticket": {"volatile": ["at", "nonce"], "price_usd": 1}}).rules["ticket"]

    assert changed.volatile == ("nonce", "at")
    assert changed.price_usd == 1
    assert (changed.zone, changed.red_when, changed.notify) == (Zone.YELLOW, TICKET.rule.red_when, True)


def test_the_rows_say_what_every_tool_may_do_and_who_says_so() -> None:
    """By name, so that two lists compare."""
    shown = policy(
        {"search": {"zone": "yellow"}, "ticket": {"zone": "green", "reason": "a sandbox"}, "refund": {}},
        *TOOLS,
        Tool("explode", UNKNOWN),
    )

    assert [(row.tool, row.zone, row.level, row.why) for row in shown.rows()] == [
        ("explode", Zone.RED, Level.STEER, "nobody classified it"),
        ("refund", Zone.RED, Level.STEER, "declared in the code"),
        ("search", Zone.YELLOW, Level.NOTIFY, "set by the settings"),
        ("ticket", Zone.GREEN, Level.NOTIFY, "set by the settings: a sandbox"),
    ]


def test_another_policy_has_another_version() -> None:
    """Whatever differs: a rule, a type, a reason, a limit, a tool. The order of tools does not."""
    loose = {"ticket": {"zone": "green", "reason": "a"}}
    others = [
        policy(),
        policy({}, SEARCH, TICKET),
        policy({"search": {"zone": "yellow"}}),
        policy({"search": {"red_when": [{"argument": "a", "equals": "1"}]}}),
        policy({"search": {"red_when": [{"argument": "a", "equals": 1}]}}),
        policy({"search": {"red_when": [{"argument": "a", "equals": True}]}}),
        policy(loose),
        policy({"ticket": {"zone": "green", "reason": "b"}}),
        Policy.of(TOOLS, parse_guard({"budget_usd": "0.51"})),
    ]

    assert len({one.version for one in others}) == len(others)
    assert policy({}, *reversed(TOOLS)).version == policy().version
    assert policy(loose).version == policy(loose).version


ZONES = st.sampled_from(list(Zone))
LEVELS = st.none() | st.sampled_from([2, 3])
BOUNDS = st.none() | st.integers(0, 200)


@given(ZONES, LEVELS, BOUNDS, ZONES | st.none(), LEVELS, BOUNDS, st.integers(0, 200))
def test_settings_without_a_reason_never_let_more_pass(
    zone: Zone,
    level: int | None,
    over: int | None,
    stated: Zone | None,
    asked: int | None,
    bound: int | None,
    amount: int,
) -> None:
    """Whatever they say, a call that the code asks for is still asked for."""
    rules = () if over is None else (Rule("amount", over=Decimal(over)),)
    tool = Tool("pay", ToolRule(zone=zone, level=None if level is None else Level(level), red_when=rules))
    red_when = None if bound is None else [{"argument": "amount", "over": bound}]
    change = {"zone": stated, "level": asked, "red_when": red_when}
    try:
        after = policy({"pay": change}, tool)
    except SettingsError:
        return
    before = policy({}, tool).classify("pay", {"amount": amount})
    found = after.classify("pay", {"amount": amount})

    assert list(Zone).index(found.zone) >= list(Zone).index(before.zone)
    # Of a call that is asked for anyway, level 2 says that nobody may change it.
    assert found.level >= min(before.level, Level.BLOCK)
    assert found.asks or not before.asks
