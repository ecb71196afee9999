"""The guard's settings are read once, whole: every fault at once, and money exact."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import GUARD_NUMBERS, GuardSetting, Level, Quantity, Zone
from agent_image.errors import SettingsError
from agent_image.guard.budget import Amount, Limits
from agent_image.guard.rules import Rule
from agent_image.guard.settings import ModelPrice, ToolSettings, parse_guard

PRICE = {"input": "1", "output": "5", "source": "a contract", "date": "2026-01-31"}


def faults(document: dict[str, Any]) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        parse_guard(document)
    return list(caught.value.faults)


def test_what_is_left_out_has_its_default() -> None:
    """Half a dollar, four times as much at most, four hours to answer."""
    settings = parse_guard({})

    assert settings.limits == Limits(Amount(500_000_000, 200_000, 25), Amount(2_000_000_000, 800_000, 100))
    assert settings.minutes_to_answer(Zone.RED) == 240
    assert settings.execute_minutes == 60
    assert settings.lease_seconds == 60
    assert settings.sweep_limit == 20
    assert settings.max_output_tokens_reserved == 4096
    assert settings.alert_cooldown_minutes == 30
    assert settings.cost_per_minute_usd == Decimal("0.25")
    assert (settings.blocked_streak, settings.error_streak) == (2, 5)
    assert (settings.webhook, settings.webhook_secret_arn) == (None, None)
    assert (settings.tools, settings.prices, settings.approval_minutes_by_zone) == ({}, {}, {})


@pytest.mark.parametrize("usd", ["0.1", Decimal("0.1")])
def test_money_is_exact(usd: object) -> None:
    """A tenth of a dollar is 100,000,000 nano-dollars, as text or as a decimal."""
    assert parse_guard({"budget_usd": usd}).limits.soft.nano_usd == 100_000_000


def test_a_document_may_be_written_as_the_stack_writes_it() -> None:
    """JSON numbers come as whole numbers and decimals, money as text."""
    document = json.loads(
        '{"budget_usd": "0.50", "budget_tokens": 1000, "limit_tokens": 2000.0, "tools": {"pay": {"price_usd": 0.015}}}',
        parse_float=Decimal,
    )
    settings = parse_guard(document)

    assert settings.limits.hard.tokens == 2_000
    assert settings.tools["pay"].price_usd == Decimal("0.015")


BAD: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("budget_usd", ("-0.01", -1, "1e5", "NaN", "Infinity", "1_000", " 1", "", True, 0.5, [])),
    ("budget_usd", (Decimal(-1), Decimal("NaN"), "1000000.01", "٣", "0x1")),
    ("budget_tokens", (-1, "5", Decimal("1.5"), 10**10, False)),
    ("budget_steps", (0, -1, 10_001)),
    ("limit_usd", ("0.49", "-1")),
    ("approval_minutes", (0, 10_081, "240")),
    ("lease_seconds", (0, 4, 901)),
    ("blocked_streak", (0, 1)),
    ("error_streak", (1, Decimal("2.5"))),
    ("sweep_limit", (0, -1)),
    ("cost_per_minute_usd", ("-1", {})),
    ("tools", ([], "red", {"pay": "red"}, {"pay": None})),
    ("prices", ([], {"model": 1})),
    ("approval_minutes_by_zone", (240, {"blue": 1}, {"red": 0})),
    ("webhook", ("http://hooks.example", "ftp://x", "https://", "https://u:p@h.example", 5)),
    ("webhook_secret_arn", ("secret", "arn:aws:s3:::bucket", "")),
)


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in BAD for value in values])
def test_a_bad_value_is_refused_by_its_key(key: str, value: object) -> None:
    """The line names where it stands, and what is allowed."""
    (fault,) = faults({key: value})

    assert fault.startswith(f"guard.{key}")
    assert "; allowed: " in fault


def test_a_key_that_nobody_knows_is_refused() -> None:
    """A misspelt limit would be no limit."""
    assert faults({"budget_dollars": 1})[0].startswith("guard.budget_dollars is no setting; allowed: budget_usd,")
    assert faults({"tools": {"pay": {"zones": "red"}}})[0].startswith("guard.tools.pay.zones is no setting")


def test_every_fault_is_said_at_once() -> None:
    """Nobody mends one fault to meet the next."""
    document = {
        "budget_usd": "-1",
        "limit_steps": 3,
        "lease_seconds": Decimal("1.5"),
        "tools": {
            "pay": {"zone": "red", "level": 1, "volatile": "nonce", "poll": "yes", "notify": 1, "reason": " "},
            "mail": {"zone": "Red", "level": 4, "red_when": [{"argument": "to", "outside": "me"}, "over 5"]},
        },
        "prices": {"model": {"input": -1, "date": "2026-02-30"}},
    }

    assert faults(document) == [
        "guard.budget_usd is '-1'; allowed: a number as text or decimal, 0 to 1000000",
        "guard.limit_steps is 3; allowed: budget_steps, which is 25, or more",
        "guard.lease_seconds is 1.5; allowed: a whole number, 5 to 900",
        "guard.tools.pay.level is 1; allowed: 2 or 3, for a red tool is asked for before it runs",
        "guard.tools.pay.poll is 'yes'; allowed: true or false",
        "guard.tools.pay.volatile is 'nonce'; allowed: a list of texts",
        "guard.tools.pay.notify is 1; allowed: true or false",
        "guard.tools.pay.reason is ' '; allowed: why the settings may loosen what the code says",
        "guard.tools.mail.zone is 'Red'; allowed: green, yellow, red",
        "guard.tools.mail.level is 4; allowed: 1, 2, 3",
        "guard.tools.mail.red_when[0].outside is 'me'; allowed: a list; each a text, a number, true or false",
        "guard.tools.mail.red_when[1] is 'over 5'; allowed: an object",
        "guard.prices.model.input is -1; allowed: a number as text or decimal, 0 to 1000000",
        "guard.prices.model.output is missing; allowed: a number as text or decimal, 0 to 1000000",
        "guard.prices.model.source is missing; allowed: where the price stands",
        "guard.prices.model.date is '2026-02-30'; allowed: the day of the price, such as 2026-01-31",
    ]


def test_a_hard_limit_is_no_lower_than_its_budget() -> None:
    """It may be as high, and then an approval adds nothing."""
    assert parse_guard({"budget_usd": "3", "limit_usd": "3"}).limits.hard.nano_usd == 3 * 10**9
    assert faults({"budget_usd": "3", "limit_usd": "2.99"}) == [
        "guard.limit_usd is 2.99; allowed: budget_usd, which is 3, or more"
    ]


def test_a_budget_of_zero_is_a_budget() -> None:
    """And the limit that follows from it is zero too."""
    limits = parse_guard({"budget_usd": "0"}).limits

    assert (limits.soft.nano_usd, limits.hard.nano_usd) == (0, 0)


def test_zones_may_have_a_time_of_their_own() -> None:
    """The others keep the one for all."""
    settings = parse_guard({"approval_minutes": 100, "approval_minutes_by_zone": {"red": 30}})

    assert [settings.minutes_to_answer(zone) for zone in Zone] == [100, 100, 30]


def test_a_tool_has_what_is_stated_and_nothing_else() -> None:
    """What is left out leaves what the code says."""
    stated = {
        "zone": "red",
        "level": 2,
        "price_usd": "0.5",
        "red_when": [
            {"argument": "amount", "over": "99.90"},
            {"argument": "force", "equals": False},
            {"argument": "to.*", "outside": ["a", 1, True]},
        ],
        "poll": False,
        "min_interval_seconds": 0,
        "volatile": ["nonce"],
        "notify": True,
        "reason": "audit 12",
    }

    assert parse_guard({"tools": {"pay": {}}}).tools["pay"] == ToolSettings()
    assert parse_guard({"tools": {"pay": stated}}).tools["pay"] == ToolSettings(
        zone=Zone.RED,
        level=Level.BLOCK,
        price_usd=Decimal("0.5"),
        red_when=(
            Rule("amount", over=Decimal("99.90")),
            Rule("force", equals=False),
            Rule("to.*", outside=("a", 1, True)),
        ),
        poll=False,
        min_interval_seconds=0,
        volatile=("nonce",),
        notify=True,
        reason="audit 12",
    )


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ({"over": 1}, "argument is missing"),
        ({"argument": "a..b", "over": 1}, "argument is 'a..b'"),
        ({"argument": "a"}, "argument has no condition"),
        ({"argument": "a", "over": 1, "equals": 2}, "argument has over and equals"),
        ({"argument": "a", "over": "much"}, "over is 'much'"),
        ({"argument": "a", "over": 0.5}, "over is 0.5"),
        ({"argument": "a", "equals": []}, "equals is []"),
        ({"argument": "a", "equals": Decimal("NaN")}, "equals is NaN"),
        ({"argument": "a", "matches": "x"}, "matches is no setting"),
    ],
)
def test_a_malformed_rule_is_refused(rule: dict[str, Any], fault: str) -> None:
    """A rule that cannot be read would guard nothing."""
    assert faults({"tools": {"pay": {"red_when": [rule]}}})[0].startswith(f"guard.tools.pay.red_when[0].{fault}")


@pytest.mark.parametrize("level", [True, "2", 2.0, Decimal(2), 0, 4])
def test_a_level_is_one_of_three_numbers(level: object) -> None:
    """Nothing else that Python takes for one of them."""
    assert faults({"tools": {"pay": {"level": level}}})[0].endswith("; allowed: 1, 2, 3")


@pytest.mark.parametrize(
    "day", ["2026-02-30", "20260131", "2026-W05-6", "2026-01-31T00:00", "31.01.2026", "today", 2026]
)
def test_a_day_has_one_form(day: object) -> None:
    """Year, month, day."""
    assert faults({"prices": {"m": PRICE | {"date": day}}})[0].startswith("guard.prices.m.date is ")


def test_a_price_states_its_source_and_day() -> None:
    """A price that nobody can look up is none."""
    stated = PRICE | {"cache_read": "0.1"}

    assert parse_guard({"prices": {"m": stated}}).prices["m"] == ModelPrice(
        input=Decimal(1),
        output=Decimal(5),
        cache_read=Decimal("0.1"),
        cache_write=None,
        source="a contract",
        date="2026-01-31",
    )


@pytest.mark.parametrize("address", ["https://hooks.example/T0/B0/x", "http://127.0.0.1:8080/hook", "http://[::1]:1"])
def test_alerts_go_over_https_or_nowhere_else(address: str) -> None:
    """Without it only to this machine."""
    assert parse_guard({"webhook": address}).webhook == address


@pytest.mark.parametrize("address", ["http://hooks.example/T0/secret", "https://user:secret@hooks.example", ["secret"]])
def test_a_webhook_is_never_shown(address: object) -> None:
    """Whoever knows it may post there."""
    assert "secret" not in "".join(faults({"webhook": address}))


def test_alerts_have_one_address() -> None:
    """It stands in the settings or in a secret."""
    arn = "arn:aws:secretsmanager:us-east-1:111122223333:secret:hook-AbCdEf"

    assert parse_guard({"webhook_secret_arn": arn}).webhook_secret_arn == arn
    assert faults({"webhook": "https://hooks.example", "webhook_secret_arn": arn}) == [
        "guard.webhook_secret_arn stands beside webhook; allowed: one of the two"
    ]


def test_a_long_value_is_cut() -> None:
    """A fault is a line."""
    assert len(faults({"budget_usd": "9" * 10_000})[0]) < 200


@pytest.mark.parametrize("quantity", GUARD_NUMBERS, ids=lambda one: one.key)
def test_every_number_has_its_range(quantity: Quantity) -> None:
    """Both ends are within, the next number is not; budgets are out of the way of limits."""
    maximum = quantity.maximum
    assert maximum is not None
    free = {"budget_usd": "0", "budget_tokens": 0, "budget_steps": 1}

    parse_guard(free | {quantity.key: quantity.minimum})
    parse_guard(free | {quantity.key: maximum})
    faults(free | {quantity.key: quantity.minimum - 1})
    faults(free | {quantity.key: maximum + 1})


@given(
    st.dictionaries(
        st.sampled_from([*GuardSetting, "unknown"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.decimals() | st.floats() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["red", "zone", "red_when", "over", "x"]), inner, max_size=3)
            ),
            max_leaves=6,
        ),
    )
)
def test_any_document_is_read_or_refused(document: dict[str, Any]) -> None:
    """Nothing but faults comes of what cannot be read."""
    try:
        limits = parse_guard(document).limits
    except SettingsError:
        return

    assert limits.soft.nano_usd <= limits.hard.nano_usd
