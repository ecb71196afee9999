"""The `[guard]` table takes what the image's guard takes, and refuses the rest with its place and what is allowed."""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_image.contract import (
    GUARD_NUMBERS,
    PRICE_NUMBERS,
    RULE_NUMBERS,
    TOOL_NUMBERS,
    GuardSetting,
    PriceSetting,
    Quantity,
    RuleSetting,
    Setting,
    ToolSetting,
    Zone,
)
from agent_image.errors import SettingsError as ImageRefuses
from agent_image.guard.settings import parse_guard
from stacks.runtime.environment import settings_body
from stacks.settings.guard import Guard
from stacks.settings.load import EnvironmentSettings
from tests.stacks.settings.case import DEV, SANDBOX, Case
from tests.stacks.settings.folder import SHIPPED, SHIPPED_FILES, Folder
from tests.stacks.settings.values import TEXTS, Value, values, written

MINUTES = "approval_minutes = 240"
STORED = 'webhook_secret_arn = "arn:aws:secretsmanager:us-east-1:111122223333:secret:chat/alerts-d4E5f6"'
WEBHOOK = 'webhook = "https://chat.example.com/hooks/a"'
PRICE = "input = 1\noutput = 2\nsource = 'a contract'\ndate = 2026-11-01"


def added(name: str, text: str, says: str) -> Case:
    return Case(name, DEV, MINUTES, f"{MINUTES}\n{text}", says)


def of_tool(name: str, text: str, says: str) -> Case:
    return added(name, f"[guard.tools.refund_order]\n{text}", f"guard.tools.refund_order.{says}")


VALUES = (
    added("no time at all", "execute_minutes = 0", "guard.execute_minutes = 0: is out of range; allowed: 1 to 10080"),
    Case(
        "a negative budget",
        *(DEV, "budget_usd = 0.50", "budget_usd = -0.50"),
        "guard.budget_usd = -0.50: is out of range; allowed: 0 to 1000000",
    ),
    Case(
        "a budget finer than a nano-dollar's millionth",
        *(DEV, "budget_usd = 0.50", "budget_usd = 0.5000000000000001"),
        "guard.budget_usd = 0.5000000000000001: has too many decimal places; allowed: 15 of them",
    ),
    added(
        "minutes of a zone that there is not",
        "approval_minutes_by_zone = { blue = 3 }",
        "guard.approval_minutes_by_zone.blue = 3: is an unknown key; allowed: green, red, yellow",
    ),
    added(
        "minutes of a zone out of range",
        "approval_minutes_by_zone = { red = 0 }",
        "guard.approval_minutes_by_zone.red = 0: is out of range; allowed: 1 to 10080",
    ),
    added("a streak of one", "blocked_streak = 1", "guard.blocked_streak = 1: is out of range; allowed: 2 to 100"),
    added("an unknown key", "budjet_usd = 1", "guard.budjet_usd = 1: is an unknown key; did you mean budget_usd?"),
    *(
        added(
            f"a webhook {why}",
            f'webhook = "{address}"',
            f'guard.webhook = "{address}": is not the address of a webhook; '
            "allowed: https://<host>/<path> without user, query or fragment; an address that is a secret belongs",
        )
        for why, address in (
            ("in clear", "http://chat.example.com/hooks/a"),
            ("on this machine", "http://127.0.0.1:8080/hooks/a"),
            ("with a user", "https://key:secret@chat.example.com"),
            ("with a query", "https://chat.example.com/hooks?key=secret"),
        )
    ),
    added(
        "a webhook in the place of its secret's ARN",
        'webhook_secret_arn = "https://chat.example.com/hooks/a"',
        'guard.webhook_secret_arn = "https://chat.example.com/hooks/a": is not the ARN of a secret; allowed: arn:aws',
    ),
    added(
        "a tool's name with a space",
        '[guard.tools."refund order"]',
        'guard.tools.refund order = "refund order": is not a tool\'s name; allowed: 1 to 64 of a-z A-Z 0-9 _ -',
    ),
    of_tool(
        "a zone that there is not", 'zone = "blue"', 'zone = "blue": is not one of the choices; allowed: "green", "y'
    ),
    of_tool("a level that there is not", "level = 4", "level = 4: is not one of the choices; allowed: 1, 2, 3"),
    of_tool(
        "a level that is true",
        "level = true",
        "level = true: is not a whole number; allowed: a whole number, without quotes",
    ),
    of_tool("a level with a point", "level = 2.0", "level = 2.0: is not a whole number; allowed: a whole number"),
    of_tool("a negative price", "price_usd = -1", "price_usd = -1: is out of range; allowed: 0 to 1000000"),
    of_tool("a text for a flag", 'poll = "yes"', 'poll = "yes": is of another type; allowed: true or false'),
    of_tool("no reason at all", 'reason = " "', "reason: is empty; why it may do more than its code says"),
    of_tool("an unknown key of a tool", "zones = 1", "zones = 1: is an unknown key; did you mean zone?"),
    of_tool(
        "a rule over no argument",
        "red_when = [{ over = 1 }]",
        "red_when.0.argument: is required and missing; path of the argument, such as order.amount",
    ),
    of_tool(
        "a path with a hole",
        'red_when = [{ argument = "order..amount", over = 1 }]',
        'red_when.0.argument = "order..amount": is not the path of an argument; allowed: names joined by dots, *',
    ),
    of_tool(
        "a rule above no number",
        'red_when = [{ argument = "amount", over = "100" }]',
        'red_when.0.over = "100": is not a number; allowed: a number, without quotes',
    ),
    of_tool(
        "a value that is a list",
        'red_when = [{ argument = "amount", equals = [1] }]',
        "red_when.0.equals = [1]: is neither text nor a number; allowed: a text, a number, true or false",
    ),
    of_tool(
        "a value with more digits than JSON keeps",
        'red_when = [{ argument = "amount", equals = 0.12345678901234567890 }]',
        "red_when.0.equals = 0.12345678901234567890: has more digits than a JSON number keeps; allowed: 15 digits",
    ),
    of_tool(
        "no value that is allowed",
        'red_when = [{ argument = "to", outside = [] }]',
        "red_when.0.outside: is empty; red at any value but these",
    ),
    added(
        "a price from nowhere",
        f"[guard.prices.m]\n{PRICE.replace('source', '# source')}",
        "guard.prices.m.source: is required and missing; where the price stands",
    ),
    added(
        "a price of no day",
        "[guard.prices.m]\n" + PRICE.replace("2026-11-01", '"2026-13-01"'),
        'guard.prices.m.date = "2026-13-01": is not a day; allowed: a day such as 2026-11-30',
    ),
    added(
        "half a price",
        f"[guard.prices.m]\n{PRICE.replace('output = 2', '')}",
        "guard.prices.m.output: is required and missing; USD/million tokens written",
    ),
)

ACROSS = (
    added(
        "a limit below its budget",
        "limit_usd = 0.49",
        "guard.limit_usd = 0.49: is below budget_usd: a session would stop before it asks; allowed: 0.50 or more",
    ),
    Case(
        "a limit below the budget that holds where none is stated",
        *(DEV, "budget_steps = 25", "limit_steps = 24"),
        "guard.limit_steps = 24: is below budget_steps: a session would stop before it asks; allowed: 25 or more",
    ),
    added(
        "two webhooks",
        f"{WEBHOOK}\n{STORED}",
        'guard.webhook_secret_arn = "arn:aws:secretsmanager:us-east-1:111122223333:secret:chat/alerts-d4E5f6": '
        "stands beside webhook: alerts go to one address; keep one of the two",
    ),
    added(
        "a secret of another account",
        STORED.replace("111122223333", "999988887777"),
        'guard.webhook_secret_arn = "arn:aws:secretsmanager:us-east-1:999988887777:secret:chat/alerts-d4E5f6": '
        "belongs to another account; allowed: account 111122223333",
    ),
    of_tool(
        "a red tool that people hear of afterwards",
        'zone = "red"\nlevel = 1',
        "level = 1: tells people of a red tool afterwards; allowed: 2, 3",
    ),
    of_tool(
        "a rule with two conditions",
        'red_when = [{ argument = "amount", over = 1, equals = 2 }]',
        "red_when.0: states over and equals; allowed: one of over, equals, outside",
    ),
    of_tool(
        "a rule with none",
        'red_when = [{ argument = "amount" }]',
        "red_when.0: states no condition; allowed: one of over, equals, outside",
    ),
)


@pytest.mark.parametrize("case", [*VALUES, *ACROSS], ids=lambda case: case.name)
def test_what_the_guard_cannot_heed_is_refused(case: Case, folder: Folder) -> None:
    """Each bad value and each contradiction gives one fault: key path, value, what is wrong and what is allowed."""
    case.check(folder)


@pytest.mark.parametrize(
    "text",
    [
        "limit_usd = 0.50",
        WEBHOOK,
        STORED,
        '[guard.tools.refund_order]\nzone = "red"\nlevel = 2',
        '[guard.tools.refund_order]\nzone = "yellow"\nlevel = 1',
        f"[guard.prices.m]\n{PRICE}",
        "[guard.prices.m]\n" + PRICE.replace("2026-11-01", '"2026-11-01"'),
    ],
)
def test_what_it_can_heed_is_taken(text: str, folder: Folder) -> None:
    """A limit equal to its budget, either webhook, a red tool that is asked for, a day of TOML's or in quotes."""
    folder.replace(DEV, MINUTES, f"{MINUTES}\n{text}")
    assert folder.faults() == ()


def test_every_key_of_the_contract_is_a_setting() -> None:
    """In the contract's order, and no other: the image refuses what it does not know."""
    schema = Guard.model_json_schema()
    tables = {name: list(table["properties"]) for name, table in schema["$defs"].items()}

    assert list(schema["properties"]) == list(GuardSetting)
    assert tables == {
        "MinutesByZone": list(Zone),
        "ToolSettings": list(ToolSetting),
        "RedRule": list(RuleSetting),
        "ModelPrice": list(PriceSetting),
    }


def test_a_number_that_is_left_out_of_a_tool_is_not_zero() -> None:
    """A default would overwrite the price that the tool's code states."""
    tool = Guard.model_validate({"tools": {"refund_order": {}}}).tools["refund_order"]

    assert tool.model_dump(exclude_none=True) == {"red_when": [], "volatile": []}


def _numbers(quantity: Quantity) -> st.SearchStrategy[Decimal]:
    low, high = quantity.minimum, quantity.maximum or Decimal(10**6)
    if quantity.whole:
        return st.integers(int(low), int(high)).map(Decimal)
    return st.integers(int(low * 10**15), int(high * 10**15)).map(lambda units: Decimal(units).scaleb(-15))


def _maybe(quantities: tuple[Quantity, ...]) -> dict[str, st.SearchStrategy[Value]]:
    return {str(quantity.key): _numbers(quantity) for quantity in quantities}


SCALARS = st.one_of(
    TEXTS.filter(lambda text: "${" not in text and "%{" not in text),
    st.booleans(),
    st.integers(-(10**15), 10**15),
    st.decimals(-(10**9), 10**9, places=5),
)
NAMES = st.from_regex(r"[a-zA-Z0-9_-]{1,12}", fullmatch=True)
RULES = st.builds(
    lambda argument, condition: {RuleSetting.ARGUMENT.value: argument, **condition},
    st.from_regex(r"[a-z]{1,5}([.]([a-z]{1,5}|[*])){0,2}", fullmatch=True),
    st.one_of(
        st.fixed_dictionaries({RuleSetting.OVER.value: _numbers(RULE_NUMBERS[0])}),
        st.fixed_dictionaries({RuleSetting.EQUALS.value: SCALARS}),
        st.fixed_dictionaries({RuleSetting.OUTSIDE.value: st.lists(SCALARS, min_size=1, max_size=3)}),
    ),
)
TOOLS = st.fixed_dictionaries(
    {},
    optional={
        **_maybe(TOOL_NUMBERS),
        ToolSetting.ZONE.value: st.sampled_from([zone.value for zone in Zone]),
        ToolSetting.LEVEL.value: st.sampled_from([2, 3]),
        ToolSetting.RED_WHEN.value: st.lists(RULES, max_size=3),
        ToolSetting.POLL.value: st.booleans(),
        ToolSetting.VOLATILE.value: st.lists(NAMES, max_size=3),
        ToolSetting.NOTIFY.value: st.booleans(),
        ToolSetting.REASON.value: NAMES,
    },
)
PRICES = st.fixed_dictionaries(
    {
        **{key: held for key, held in _maybe(PRICE_NUMBERS).items() if key in {"input", "output"}},
        PriceSetting.SOURCE.value: NAMES,
        PriceSetting.DATE.value: st.dates().map(str),
    },
    optional={key: held for key, held in _maybe(PRICE_NUMBERS).items() if key not in {"input", "output"}},
)
GUARDS = st.fixed_dictionaries(
    {},
    optional={
        **_maybe(GUARD_NUMBERS),
        GuardSetting.APPROVAL_MINUTES_BY_ZONE.value: st.dictionaries(
            st.sampled_from([zone.value for zone in Zone]), st.integers(1, 10_080)
        ),
        GuardSetting.WEBHOOK.value: st.just("https://chat.example.com:8443/hooks/a-b_c~d.e"),
        GuardSetting.TOOLS.value: st.dictionaries(NAMES, TOOLS, max_size=2),
        GuardSetting.PRICES.value: st.dictionaries(NAMES, PRICES, max_size=2),
    },
)
ANY_GUARD = st.dictionaries(
    st.sampled_from([key.value for key in GuardSetting]),
    values(st.sampled_from([*ToolSetting, *RuleSetting, *PriceSetting, *Zone, "refund_order"]).map(str)),
    max_size=4,
)
UNHURRIED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def alone(folder: Folder) -> Folder:
    """Leave one environment and its account in the folder: each example loads them anew."""
    for file in SHIPPED_FILES:
        if file not in {DEV, SANDBOX}:
            (folder.path / file).unlink()
    return folder


def _with_guard(folder: Folder, guard: dict[str, Value]) -> None:
    table = tomllib.loads((SHIPPED / DEV).read_text(encoding="utf-8"), parse_float=Decimal)
    lines = (f"{written(key)} = {written(value)}" for key, value in {**table, "guard": guard}.items())
    folder.write(DEV, "\n".join(lines))


def _document(environment: EnvironmentSettings) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(settings_body(environment), parse_float=Decimal)[Setting.GUARD]
    return found


@UNHURRIED
@given(guard=GUARDS)
def test_what_the_settings_let_through_the_image_takes_as_it_was_written(alone: Folder, guard: dict[str, Any]) -> None:
    """Numbers and money to the last digit, over TOML, the settings document and back."""
    _with_guard(alone, guard)
    if any(fault.path.startswith("guard.limit_") for fault in alone.faults()):
        return
    (dev,) = alone.load().environments

    read = parse_guard(_document(dev))

    for name, tool in guard.get(GuardSetting.TOOLS, {}).items():
        assert read.tools[name].price_usd == tool.get(ToolSetting.PRICE_USD)
        assert read.tools[name].zone == tool.get(ToolSetting.ZONE)
        rules = tool.get(ToolSetting.RED_WHEN, [])
        found = [(rule.argument, rule.over, rule.equals, rule.outside) for rule in read.tools[name].red_when]
        assert found == [
            (
                rule[RuleSetting.ARGUMENT],
                rule.get(RuleSetting.OVER),
                rule.get(RuleSetting.EQUALS),
                tuple(rule[RuleSetting.OUTSIDE]) if RuleSetting.OUTSIDE in rule else None,
            )
            for rule in rules
        ]
    for model, price in guard.get(GuardSetting.PRICES, {}).items():
        assert (read.prices[model].input, read.prices[model].cache_read) == (price["input"], price.get("cache_read"))
    assert read.approval_minutes == guard.get(GuardSetting.APPROVAL_MINUTES, 240)
    assert read.cost_per_minute_usd == guard.get(GuardSetting.COST_PER_MINUTE_USD, Decimal("0.25"))


@UNHURRIED
@given(guard=ANY_GUARD)
def test_whatever_a_guard_holds_it_is_refused_here_or_taken_there(alone: Folder, guard: dict[str, Value]) -> None:
    """A deployment that starts with a refusal of the image would be found out only when it runs."""
    _with_guard(alone, guard)
    if alone.faults():
        return
    (dev,) = alone.load().environments
    try:
        parse_guard(_document(dev))
    except ImageRefuses as error:
        pytest.fail(str(error))
