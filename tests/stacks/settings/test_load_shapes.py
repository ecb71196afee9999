"""Loading the settings refuses lists, types and keys that no settings file takes."""

from __future__ import annotations

import pytest

from tests.stacks.settings.case import DEV, SANDBOX, Case
from tests.stacks.settings.folder import Folder

RETENTION = "retention_days = 7"
ACCOUNT_ID = 'account_id = "111122223333"'
OWNER = 'owner = "agent-platform"'
FIELDS = (
    'indexed_fields = ["name", "event", "status.code", "attributes.gen_ai.operation.name", '
    '"attributes.rag.index_version", "attributes.rag.answer"]'
)
IAM = 'type = "IAM"'
BACKEND = 'backend = "local"'
TOP_KEYS = (
    "account, agent, alarms, auth, budget, cost_center, dashboard, guard, hooks, network, observability, on_destroy,"
    " owner, role, sweep, usage"
)
MISFIT = "is of another type; allowed:"


def _list(count: int) -> str:
    return ", ".join(f'"f{number}"' for number in range(count))


LISTS = (
    Case(
        "a default field",
        *(DEV, FIELDS, 'indexed_fields = ["attributes.session.id"]'),
        'observability.indexed_fields.0 = "attributes.session.id": is indexed by default, free of charge: '
        "listing it only spends one of 20 places; leave it out",
    ),
    Case(
        "21 fields",
        *(DEV, FIELDS, f"indexed_fields = [{_list(21)}]"),
        f"observability.indexed_fields = {str([f'f{number}' for number in range(21)])[:80]}…: "
        "has 21 fields; allowed: at most 20 fields",
    ),
    Case(
        "a field twice",
        *(DEV, FIELDS, 'indexed_fields = ["name", "name"]'),
        "observability.indexed_fields = ['name', 'name']: names name twice; name each once",
    ),
    Case(
        "a field of 101 characters",
        *(DEV, FIELDS, f'indexed_fields = ["{"f" * 101}"]'),
        f'observability.indexed_fields.0 = "{"f" * 79}…: is not a field name; allowed: 1 to 100 characters',
    ),
    Case(
        "a subnet twice",
        *(
            DEV,
            '"PUBLIC"',
            '"VPC"\nsecurity_groups = ["sg-12345678"]\nsubnets = ["subnet-12345678", "subnet-12345678"]',
        ),
        "network.subnets = ['subnet-12345678', 'subnet-12345678']: names subnet-12345678 twice; name each once",
    ),
    Case(
        "a VPC without subnets",
        *(DEV, '"PUBLIC"', '"VPC"\nsecurity_groups = ["sg-12345678"]'),
        "network.subnets: is required and missing; 1 to 16 subnets of one VPC",
    ),
    Case(
        "a VPC with no subnets",
        *(DEV, '"PUBLIC"', '"VPC"\nsecurity_groups = ["sg-12345678"]\nsubnets = []'),
        "network.subnets: is empty; 1 to 16 subnets of one VPC",
    ),
)

TYPES = (
    Case(
        "text for days", DEV, RETENTION, 'retention_days = "7"', f'observability.retention_days = "7": {MISFIT} a whole'
    ),
    Case(
        "a fraction for days", DEV, RETENTION, "retention_days = 7.0", f"observability.retention_days = 7.0: {MISFIT} a"
    ),
    Case(
        "a bool for days",
        DEV,
        RETENTION,
        "retention_days = true",
        f"observability.retention_days = true: {MISFIT} a who",
    ),
    Case(
        "text for money",
        *(DEV, "budget_usd = 0.50", 'budget_usd = "0.50"'),
        'guard.budget_usd = "0.50": is not a number; allowed: a number, without quotes',
    ),
    Case(
        "a bool for a count",
        *(DEV, "sessions = 2_000", "sessions = true"),
        "usage.sessions = true: is not a number; allowed: a number, without quotes",
    ),
    Case("a number for text", DEV, OWNER, "owner = 3", f"owner = 3: {MISFIT} text, in quotes"),
    Case("a date for text", DEV, OWNER, "owner = 2026-11-30", f"owner = 2026-11-30: {MISFIT} text, in quotes"),
    Case("a number for an id", SANDBOX, ACCOUNT_ID, "account_id = 12", f"account_id = 12: {MISFIT} text, in quotes"),
    Case(
        "a list for an alias", DEV, 'account = "sandbox"', "account = [1]", f"account = [1]: {MISFIT} text, in quotes"
    ),
    Case(
        "text for a list",
        DEV,
        FIELDS,
        'indexed_fields = "name"',
        f'observability.indexed_fields = "name": {MISFIT} a list',
    ),
    Case(
        "text for a bool",
        SANDBOX,
        "search = true",
        'search = "on"',
        f'manage_transaction_search = "on": {MISFIT} true or',
    ),
    Case("a list for a table", DEV, "[auth]", "[[auth]]", f"auth = [{{'type': 'IAM'}}]: {MISFIT} a table"),
    Case("a number for a union", SANDBOX, f"[state]\n{BACKEND}", "state = 0.5", f"state = 0.5: {MISFIT} a table"),
    Case(
        "a date for a union",
        SANDBOX,
        f"[state]\n{BACKEND}",
        "state = 2026-11-30",
        f"state = 2026-11-30: {MISFIT} a table",
    ),
    Case(
        "a list for a branch",
        DEV,
        '"PUBLIC"',
        '["VPC"]',
        "network.mode = ['VPC']: is not one of the choices; allowed: \"P",
    ),
    Case(
        "a table without its branch",
        DEV,
        'mode = "PUBLIC"',
        "",
        'network.mode: is required and missing; allowed: "PUBLIC"',
    ),
    Case(
        "a huge number for text", DEV, OWNER, f"owner = 0x{'f' * 5_000}", f"owner = (too long to show): {MISFIT} text"
    ),
)

UNKNOWN = "is an unknown key;"
KEYS = (
    Case("at the top", DEV, OWNER, f"{OWNER}\nonwer = 1", f"onwer = 1: {UNKNOWN} did you mean owner?"),
    Case("in a table", DEV, IAM, f"{IAM}\ntipe = 1", f"auth.tipe = 1: {UNKNOWN} did you mean type?"),
    Case(
        "in an account",
        SANDBOX,
        BACKEND,
        f"{BACKEND}\nbuckett = 1",
        f"state.buckett = 1: {UNKNOWN} did you mean bucket?",
    ),
    Case(
        "of another branch",
        SANDBOX,
        BACKEND,
        f'{BACKEND}\nbucket = "ours"',
        'state.bucket = "ours": does not go with "local"; allowed: with backend = "s3"',
    ),
    Case(
        "of a branch that was not chosen",
        DEV,
        '"PUBLIC"',
        '"PUBLIC"\nsubnets = []',
        'network.subnets = []: does not go with "PUBLIC"; allowed: with mode = "VPC"',
    ),
    Case("far from any", DEV, OWNER, f"{OWNER}\nzzz = 1", f"zzz = 1: {UNKNOWN} allowed: {TOP_KEYS}"),
    Case(
        "in a branch", DEV, '"PUBLIC"', '"PUBLIC"\nsubnet = 1', f"network.subnet = 1: {UNKNOWN} did you mean subnets?"
    ),
    Case(
        "in a list of tables",
        *(DEV, "runs_per_month = 40", "runs_per_month = 40\nwindow_day = 1"),
        f"usage.queries.0.window_day = 1: {UNKNOWN} did you mean window_days?",
    ),
    *(
        Case(
            f"named as pydantic names {key}",
            DEV,
            OWNER,
            f'{OWNER}\n"{key}" = 1',
            f"{key} = 1: {UNKNOWN} allowed: {TOP_KEYS}",
        )
        for key in ("IAM", "VPC", "s3", "int", "[key]")
    ),
)


@pytest.mark.parametrize("case", [*LISTS, *TYPES], ids=lambda case: case.name)
def test_a_list_or_value_of_the_wrong_shape_is_refused(case: Case, folder: Folder) -> None:
    """Each list out of bounds and each value of another type gives one fault that says what is taken."""
    case.check(folder)


@pytest.mark.parametrize("case", KEYS, ids=lambda case: case.name)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(case: Case, folder: Folder) -> None:
    """An unknown key is refused with the nearest known key, or all known keys where none is near."""
    case.check(folder)
