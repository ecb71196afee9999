"""A pipeline is let in by names that are written whole, and makes roles with its own boundary."""

from __future__ import annotations

import pytest

from stacks.limits import within_limits
from stacks.settings.fault import SettingsError
from tests.stacks.settings.case import DEV, SANDBOX, Case
from tests.stacks.settings.folder import Folder

PIPELINE_TABLE = '[pipeline]\nrepository = "octo-org/octo-agents"\nbranches = ["main"]\n'
BOUNDARY = "arn:aws:iam::111122223333:policy/edge"


def declared(lines: str) -> tuple[str, str, str]:
    return SANDBOX, "[state]\n", f"{lines}\n[state]\n"


FAULTS = (
    Case(
        "nobody may deploy",
        *declared('[pipeline]\nrepository = "octo-org/octo-agents"'),
        "pipeline.environments: nobody may deploy: the list is empty, and so is pipeline.branches; name a GitHub",
    ),
    Case(
        "a wildcard in a branch",
        *declared('[pipeline]\nrepository = "octo-org/octo-agents"\nbranches = ["*"]'),
        'pipeline.branches.0 = "*": is not the name of one branch; allowed: letters, digits and _./- only',
    ),
    Case(
        "a wildcard in a repository",
        *declared('[pipeline]\nrepository = "octo-org/*"\nbranches = ["main"]'),
        'pipeline.repository = "octo-org/*": is not a GitHub repository; allowed: owner/name, or owner@id/name@id',
    ),
    Case(
        "half of the ids",
        *declared('[pipeline]\nrepository = "octo-org@123456/octo-agents"\nbranches = ["main"]'),
        'pipeline.repository = "octo-org@123456/octo-agents": is not a GitHub repository; allowed: owner/name, or',
    ),
    Case(
        "an environment with a colon",
        *declared('[pipeline]\nrepository = "octo-org/octo-agents"\nenvironments = ["prod:x"]'),
        'pipeline.environments.0 = "prod:x": is not the name of a GitHub environment; allowed: letters, digits',
    ),
    Case(
        "an account without a file",
        *(SANDBOX, 'region = "us-east-1"\n', 'region = "us-east-1"\npromotes_to = ["prodution"]\n'),
        'promotes_to.0 = "prodution": no account file has this alias; did you mean production?',
    ),
    Case(
        "images that are there already",
        *(SANDBOX, 'region = "us-east-1"\n', 'region = "us-east-1"\npromotes_to = ["sandbox"]\n'),
        'promotes_to.0 = "sandbox": is this account itself; leave it out',
    ),
    Case(
        "a boundary of another account",
        *declared(f'{PIPELINE_TABLE}permissions_boundary_arn = "arn:aws:iam::999999999999:policy/edge"'),
        'pipeline.permissions_boundary_arn = "arn:aws:iam::999999999999:policy/edge": belongs to another account',
    ),
)


@pytest.mark.parametrize("case", FAULTS[:-1], ids=lambda case: case.name)
def test_a_pipeline_that_would_let_in_others_or_nobody_is_refused(case: Case, folder: Folder) -> None:
    """With what to write."""
    case.check(folder)


def test_a_boundary_of_another_account_is_refused(folder: Folder) -> None:
    """IAM takes boundaries of its own account alone."""
    case = FAULTS[-1]
    folder.replace(case.file, case.old, case.new)

    assert f"environments/{SANDBOX}: {case.says}" in "\n".join(map(str, folder.faults()))


def test_an_environment_has_the_boundary_that_the_pipeline_may_set(folder: Folder) -> None:
    """Its role could else not be made."""
    folder.replace(*declared(f'{PIPELINE_TABLE}permissions_boundary_arn = "{BOUNDARY}"'))

    assert [fault.file for fault in folder.faults()] == ["environments/dev.toml", "environments/staging.toml"]
    assert str(folder.faults()[0]) == (
        "environments/dev.toml: role.permissions_boundary_arn: the pipeline of accounts/sandbox.toml makes roles with "
        f"its own boundary alone; allowed: {BOUNDARY}"
    )
    for file in (DEV, "staging.toml"):
        folder.replace(file, "[guard]", f'[role]\npermissions_boundary_arn = "{BOUNDARY}"\n[guard]')
    assert folder.faults() == ()


def test_two_regions_of_an_account_declare_one_provider(folder: Folder) -> None:
    """IAM knows no Region."""
    folder.replace(*declared(PIPELINE_TABLE))
    other = (folder.path / SANDBOX).read_text().replace("us-east-1", "eu-west-1")
    folder.write("accounts/second.toml", other)

    (fault,) = folder.faults()

    assert str(fault) == (
        "environments/accounts/second.toml: pipeline.create_provider: environments/accounts/sandbox.toml declares the "
        "identity provider of account 111122223333 too, and there is one; write false in one of the two files"
    )
    folder.write("accounts/second.toml", other.replace("[pipeline]\n", "[pipeline]\ncreate_provider = false\n"))
    assert folder.faults() == ()


def test_rights_that_fit_no_policy_are_refused_before_anything_is_synthesised(folder: Folder) -> None:
    """AWS would refuse them in the middle of a deployment."""
    folder.replace(*declared(PIPELINE_TABLE))
    text = (folder.path / DEV).read_text()
    for number in range(20):
        folder.write(f"dev{number}.toml", text.replace("handbook_dev", f"handbook_{number:0>32}"))

    with pytest.raises(SettingsError, match=r"sandbox.toml: pipeline: makes the policy makes-runs \d,\d{3} characters"):
        within_limits(folder.load())
