"""What watches an environment is stated once, in terms that hold: each fault says what is wrong and what is taken."""

from __future__ import annotations

import pytest

from tests.stacks.settings.case import DEV, Case
from tests.stacks.settings.folder import Folder

BEFORE = "# What the cost model is told."
IAM = '[auth]\ntype = "IAM"'
JWT = '[auth]\ntype = "JWT"\ndiscovery_url = "https://l.example.com/.well-known/openid-configuration"\nclients = ["w"]'
ROLE = '[role]\narn = "arn:aws:iam::111122223333:role/x"'


def added(name: str, text: str, says: str) -> Case:
    return Case(name, DEV, BEFORE, f"{text}\n\n{BEFORE}", says)


REFUSED = (
    added(
        "an alarm on and off",
        '[alarms]\noff = ["loop_rate"]\non = ["loop_rate"]',
        "alarms.on: names loop_rate, which alarms.off names too; name it in one of the two",
    ),
    added(
        "a threshold of what is off",
        '[alarms]\noff = ["loop_rate"]\nthresholds = { loop_rate = 7 }',
        "alarms.thresholds.loop_rate: is the threshold of an alarm that is off; switch the alarm on, or leave it out",
    ),
    added(
        "a threshold of what is off by default",
        "[alarms.thresholds]\ndaily_cost = 7",
        "alarms.thresholds.daily_cost: is the threshold of an alarm that is off; switch the alarm on, or leave it out",
    ),
    added(
        "an alarm that nobody knows",
        '[alarms]\noff = ["loop_rat"]',
        'alarms.off.0 = "loop_rat": is not one of the choices; did you mean loop_rate?',
    ),
    added(
        "an alarm that nobody would guess",
        '[alarms]\noff = ["zzz"]',
        'alarms.off.0 = "zzz": is not one of the choices; allowed: alert_losses, ',
    ),
    added("an alarm twice", '[alarms]\noff = ["loop_rate", "loop_rate"]', "alarms.off"),
    added(
        "more than all of them",
        "[alarms.thresholds]\nloop_rate = 101",
        "alarms.thresholds.loop_rate = 101: is out of range; allowed: 0 to 100",
    ),
    added(
        "no mail address",
        '[alarms]\nemails = ["on call"]',
        'alarms.emails.0 = "on call": is not a mail address; allowed: an address such as oncall@example.com',
    ),
    added("a sweep too seldom", "[sweep]\nevery_minutes = 241", "sweep.every_minutes = 241: is out of range"),
    added("half a minute", "[sweep]\nevery_minutes = 0.5", "sweep.every_minutes = 0.5: is not a whole number"),
    added(
        "shares of no budget",
        "[budget]\nactual_percent = [50]",
        "budget.actual_percent: is a share of a budget, and there is none; set budget.monthly_usd, or leave it out",
    ),
    added("a share of nothing", "[budget]\nmonthly_usd = 10\nforecast_percent = [0]", "budget.forecast_percent.0 = 0"),
    added(
        "more shares than a budget takes",
        "[budget]\nmonthly_usd = 10\nactual_percent = [1, 2, 3, 4]",
        "budget.actual_percent: has 4 entries; allowed: at most 3",
    ),
    Case(
        "a schedule without a token",
        *(DEV, IAM, f"{JWT}\n\n[sweep]\nevery_minutes = 15"),
        "sweep.every_minutes = 15: sweeps by a schedule, which has no token of the provider that auth.type = JWT asks "
        "for; 0, and let a caller with a token sweep",
    ),
    Case(
        "a schedule without a role",
        *(DEV, IAM, f"{IAM}\n\n{ROLE}\n\n[sweep]\nevery_minutes = 15"),
        "sweep.every_minutes = 15: sweeps by a schedule, whose role would be made where role.arn says that none is; "
        "bring sweep.role_arn, or 0",
    ),
)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_cannot_hold_is_refused(case: Case, folder: Folder) -> None:
    """One fault, with its key path."""
    case.check(folder)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (IAM, JWT),
        (IAM, f"{JWT}\n\n[sweep]\nevery_minutes = 0"),
        (IAM, f"{IAM}\n\n{ROLE}"),
        (IAM, f'{IAM}\n\n{ROLE}\n\n[sweep]\nevery_minutes = 15\nrole_arn = "arn:aws:iam::111122223333:role/y"'),
        (BEFORE, f"[budget]\nmonthly_usd = 0.5e2\nactual_percent = []\n\n{BEFORE}"),
        (BEFORE, f'[alarms]\non = ["daily_cost"]\nthresholds = {{ daily_cost = 0.25 }}\n\n{BEFORE}'),
        (BEFORE, f'[alarms]\nemails = ["first.last+rastro@mail.example.co.uk"]\n\n{BEFORE}'),
    ],
)
def test_what_holds_is_taken(old: str, new: str, folder: Folder) -> None:
    """A schedule is off by itself where it cannot call."""
    folder.replace(DEV, old, new)

    folder.load()


def test_every_fault_of_the_tables_is_said_at_once(folder: Folder) -> None:
    """Each with its own line."""
    folder.replace(
        *(DEV, BEFORE),
        "[alarms]\noff = ['dead_trail']\non = ['dead_trail']\nemails = ['x']\n"
        f"[sweep]\nevery_minutes = -1\n[budget]\nmonthly_usd = 0\n\n{BEFORE}",
    )

    assert sorted(str(fault).split(": ")[1].split(" ")[0] for fault in folder.faults()) == [
        *("alarms.emails.0", "alarms.on", "budget.monthly_usd", "sweep.every_minutes"),
    ]
