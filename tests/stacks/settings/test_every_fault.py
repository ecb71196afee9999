"""Every fault of every file is shown at once, in a stable order, each on one printable line."""

from __future__ import annotations

import subprocess
import sys

from stacks.settings.fault import SettingsError
from tests.stacks.settings.folder import REPOSITORY, Folder

EXPECTED = (
    "environments/accounts/sandbox.toml: account_id",
    "environments/accounts/sandbox.toml: indexing_percentage",
    "environments/dev.toml: agent.name",
    "environments/dev.toml: guard.budget_usd",
    "environments/dev.toml: observability.content_reason",
    "environments/dev.toml: observability.masking.identifiers.0",
    "environments/dev.toml: observability.masking.patterns.bare-cpf",
    "environments/dev.toml: observability.retention_days",
    "environments/dev.toml: onwer",
    "environments/prod.toml",
    "environments/staging.toml: account",
    "environments/staging.toml: agent.image",
    "environments/staging.toml: agent.session.idle_timeout_seconds",
    "environments/staging.toml: network.security_groups",
    "environments/staging.toml: network.subnets",
)


def _spoil(folder: Folder) -> Folder:
    folder.replace("accounts/sandbox.toml", '"111122223333"', '"1111"')
    folder.replace("accounts/sandbox.toml", "indexing_percentage = 1", "indexing_percentage = 101")
    folder.replace("dev.toml", 'owner = "', 'onwer = 1\nowner = "')
    folder.replace("dev.toml", '"handbook_dev"', '"handbook-dev"')
    folder.replace("dev.toml", "retention_days = 7", "retention_days = 31")
    folder.replace("dev.toml", '["EmailAddress",', '["EmailAdress",')
    folder.replace("dev.toml", 'content_reason = "Made-up questions only: developers read whole prompts here."', "")
    folder.replace("dev.toml", '"[0-9]{3}[.]', '"(')
    folder.replace("dev.toml", "budget_usd = 0.50", 'budget_usd = "0.50"')
    folder.write("prod.toml", "account =")
    folder.replace("staging.toml", '"sandbox"', '"sandbocks"')
    folder.replace("staging.toml", f'"sha256:{"0" * 64}"', '"latest"')
    folder.replace("staging.toml", "idle_timeout_seconds = 900", "idle_timeout_seconds = 28801")
    folder.replace("staging.toml", '"PUBLIC"', '"VPC"')
    return folder


def test_every_fault_of_four_files_is_shown_at_once(folder: Folder) -> None:
    """Many faults in four files give exactly those faults: no file and no rule hides another."""
    faults = _spoil(folder).faults()
    assert tuple(f"{fault.file}: {fault.path}" if fault.path else fault.file for fault in faults) == EXPECTED


def test_the_text_counts_the_faults_and_gives_each_a_line(folder: Folder) -> None:
    """The error's text starts with the number of faults, and each fault follows on a line of its own."""
    faults = _spoil(folder).faults()
    head, *lines = str(SettingsError(faults)).split("\n")
    assert head == f"the settings have {len(EXPECTED)} faults, nothing was written:"
    assert [line.strip() for line in lines] == [str(fault) for fault in faults]


def test_the_order_is_that_of_files_and_keys_however_the_faults_come(folder: Folder) -> None:
    """The same faults in any order, or twice, give the same text."""
    faults = _spoil(folder).faults()
    assert str(SettingsError([*reversed(faults), *faults])) == str(SettingsError(faults))


def test_two_runs_give_the_same_text(folder: Folder) -> None:
    """Two processes, whose hashes differ, show the same faults in the same order."""
    folder.replace("dev.toml", "[agent.session]", "x = 1\n[agent.session]")
    folder.replace("dev.toml", 'owner = "', '"agent.x" = 2\nowner = "')  # the same key path, once more
    command = [sys.executable, "main.py", str(_spoil(folder).path)]
    runs = [
        subprocess.run(command, cwd=REPOSITORY, env={"PYTHONHASHSEED": seed}, capture_output=True, check=False)
        for seed in ("1", "2", "3")
    ]
    assert {run.stderr for run in runs} == {runs[0].stderr}
    assert runs[0].stderr.count(b"agent.x") == 2
    assert {run.returncode for run in runs} == {2}


def test_control_characters_of_a_file_never_reach_the_terminal(folder: Folder) -> None:
    """Escape sequences in values, keys and file names are shown as replacement characters."""
    folder.replace("dev.toml", '"handbook_dev"', r'"\u001b[2J\u202e\n\u0000"')
    folder.replace("dev.toml", 'owner = "', '"\\u001b[31m\\n" = 1\nowner = "')
    folder.write("e\x1b[2J\n.toml", "a =")
    faults = folder.faults()
    assert len(faults) == 4
    assert all(str(fault).isprintable() for fault in faults)
    assert 'environments/dev.toml: agent.name = "�[2J���": is not a name' in str(SettingsError(faults))
