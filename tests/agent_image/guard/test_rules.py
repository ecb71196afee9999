"""A rule makes a call red by one of its arguments, and by whatever it cannot compare."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import Level, Zone
from agent_image.guard.rules import Rule, ToolRule

OVER = Rule("amount", over=Decimal(100))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("amount", [0, 100, 100.0, 99.99, -5, Decimal("100.00"), 0.1 + 0.2])
def test_an_amount_up_to_the_bound_is_not_red(amount: Any) -> None:
    """The bound itself is within."""
    assert not OVER.holds({"amount": amount})


@pytest.mark.parametrize("amount", [101, 100.01, 1e300, Decimal("100.000000000000000000001"), 10**400])
def test_an_amount_above_the_bound_is_red(amount: Any) -> None:
    """By however little, and however large it is."""
    assert OVER.holds({"amount": amount})


@pytest.mark.parametrize(
    "arguments",
    [
        *({}, None, "amount", [1], {"Amount": 1}, {"amount.": 1}),
        *({"amount": value} for value in (None, "5", "", True, False, [5], {"value": 5})),
        *({"amount": value} for value in (float("nan"), float("inf"), float("-inf"), Decimal("NaN"), Decimal("sNaN"))),
    ],
)
def test_what_is_absent_or_no_number_is_red(arguments: Any) -> None:
    """A tool may read it as it likes: as its default, or a text as a number."""
    assert OVER.holds(arguments)


def test_the_digits_that_the_model_wrote_count() -> None:
    """0.1 is a tenth, not the binary fraction a little above it."""
    assert not Rule("amount", over=Decimal("0.1")).holds({"amount": 0.1})
    assert not Rule("rate", outside=(Decimal("0.1"),)).holds({"rate": 0.1})


@pytest.mark.parametrize("value", ["delete", "DELETE", " Delete ", "\uff44elete", True, None, 3, ["delete"], {}])
def test_a_refused_value_is_red_however_it_is_spelt(value: Any) -> None:
    """Case, white space, full-width letters; and what is no text may still be read as one."""
    assert Rule("mode", equals="delete").holds({"mode": value})


def test_a_value_that_is_surely_another_is_not_red() -> None:
    """Of the same type, and not the same."""
    assert not Rule("mode", equals="delete").holds({"mode": "undelete"})
    assert not Rule("force", equals=True).holds({"force": False})
    assert not Rule("count", equals=0).holds({"count": 1})


@pytest.mark.parametrize("value", ["true", 1, 1.0, None, "yes", True])
def test_a_switch_is_red_unless_it_is_surely_off(value: Any) -> None:
    """A tool's schema may let "true" and 1 pass for true."""
    assert Rule("force", equals=True).holds({"force": value})


@pytest.mark.parametrize("value", ["dev", "test"])
def test_what_is_on_the_list_is_not_red(value: str) -> None:
    """Exactly as the list writes it."""
    assert not Rule("target", outside=("dev", "test")).holds({"target": value})


@pytest.mark.parametrize("value", ["prod", "Dev", "dev ", "", None, 1, True, ["dev"], {"dev": 1}])
def test_what_is_not_on_the_list_is_red(value: Any) -> None:
    """Nothing is close enough."""
    assert Rule("target", outside=("dev", "test", 0)).holds({"target": value})


def test_an_empty_list_lets_nothing_pass() -> None:
    """A list of nobody is not a list of everybody."""
    assert Rule("target", outside=()).holds({"target": "dev"})


def test_numbers_truths_and_texts_are_three_things() -> None:
    """1 is 1.0, and neither true nor "1"."""
    rule = Rule("n", outside=(1,))

    assert not rule.holds({"n": 1.0})
    assert rule.holds({"n": True})
    assert rule.holds({"n": "1"})


def test_a_path_leads_into_objects_and_through_lists() -> None:
    """One element that is red makes the call red; so does one that lacks what the rule looks at."""
    rule = Rule("orders.*.total", over=Decimal(100))

    assert not rule.holds({"orders": [{"total": 1}, {"total": 100}]})
    assert rule.holds({"orders": [{"total": 1}, {"total": 101}]})
    assert rule.holds({"orders": [{"total": 1}, {"sum": 101}]})
    assert rule.holds({"orders": [{"total": 1}, 7]})
    assert rule.holds({"orders": []})
    assert rule.holds({"orders": {"total": 1}})


def test_a_key_that_is_called_as_each_element_is_a_key() -> None:
    """A star finds the elements of a list, and in an object what is called so."""
    assert not Rule("*", over=Decimal(1)).holds({"*": 1})
    assert not Rule("*", over=Decimal(1)).holds([1, 0])
    assert Rule("*", over=Decimal(1)).holds({"a": 1})


@given(JSON, st.sampled_from([OVER, Rule("*.x", equals="y"), Rule("a.b", outside=("c", 1, True)), Rule("*", equals=0)]))
def test_a_rule_answers_whatever_the_arguments_are(arguments: Any, rule: Rule) -> None:
    """No shape of arguments makes it fail."""
    assert rule.holds(arguments) in {True, False}


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_a_bound_is_a_bound(amount: float) -> None:
    """For every number, red is what is more."""
    assert OVER.holds({"amount": amount}) == (amount > 100)


@pytest.mark.parametrize(
    "stated",
    [
        {"argument": "amount"},
        {"argument": "amount", "over": Decimal(1), "equals": 1},
        {"argument": "", "over": Decimal(1)},
        {"argument": "order..total", "over": Decimal(1)},
        {"argument": "amount", "over": Decimal("NaN")},
        {"argument": "amount", "over": Decimal("Infinity")},
        {"argument": "amount", "over": True},
    ],
)
def test_a_rule_says_one_thing(stated: dict[str, Any]) -> None:
    """No condition, two, no path, no number: refused where it is written."""
    with pytest.raises(ValueError, match=r"path|one of|number"):
        Rule(**stated)


@pytest.mark.parametrize(
    "stated",
    [
        {"zone": Zone.RED, "level": Level.NOTIFY},
        {"zone": Zone.GREEN, "price_usd": Decimal("-0.01")},
        {"zone": Zone.GREEN, "price_usd": Decimal("NaN")},
        {"zone": Zone.GREEN, "price_usd": 0.1},
        {"zone": Zone.GREEN, "min_interval_seconds": -1},
    ],
)
def test_rules_that_contradict_themselves_are_refused(stated: dict[str, Any]) -> None:
    """A red tool that nobody is asked for, a negative price, a price that is a float."""
    with pytest.raises(ValueError, match=r"red|price|interval"):
        ToolRule(**stated)


@pytest.mark.parametrize(
    ("level", "green", "red"),
    [
        (None, Level.NOTIFY, Level.STEER),
        (Level.NOTIFY, Level.NOTIFY, Level.STEER),
        (Level.BLOCK, Level.BLOCK, Level.BLOCK),
        (Level.STEER, Level.STEER, Level.STEER),
    ],
)
def test_a_call_that_turns_red_is_asked_for(level: Level | None, green: Level, red: Level) -> None:
    """Whatever level its tool has; where nobody said, a person may change the call."""
    rule = ToolRule(zone=Zone.GREEN, level=level)

    assert rule.level_of(Zone.GREEN) is green
    assert rule.level_of(Zone.YELLOW) is green
    assert rule.level_of(Zone.RED) is red
