"""The commands behind `make`: what they list, what they refuse, and how."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.stacks.operating import DIGEST, NEW_TERRAFORM, VARIANTS, put_terraform, stacks
from tests.synthesis import Synthesis


def test_the_list_counts_the_resources_of_each_stack(shipped: Synthesis, programs: Path) -> None:
    """One line a stack."""
    answer = stacks("list", "--out", shipped.folder, path=programs)

    lines = dict(line.split(maxsplit=1) for line in answer.stdout.splitlines())
    assert set(lines) == set(shipped.stacks)
    assert lines["agent-dev"] == f"{len(list(shipped['agent-dev'].each()))} resources"


def test_the_stacks_of_an_environment_begin_with_its_account(programs: Path) -> None:
    """`cdktf deploy` wants both."""
    assert stacks("of", "prod", path=programs).stdout.split() == ["account-production", "agent-prod"]


def test_an_unknown_environment_is_refused_with_the_nearest_name(programs: Path) -> None:
    """Status 2, one line, no traceback."""
    answer = stacks("of", "pord", path=programs)

    assert answer.returncode == 2
    assert answer.stderr.strip() == ("environment 'pord': there is no such file in environments/; did you mean prod?")


@pytest.mark.parametrize("command", [("check-terraform",), ("check-environment", "dev"), ("check-account", "sandbox")])
def test_a_missing_terraform_is_said_in_one_line(command: tuple[str, ...], programs: Path) -> None:
    """Together with whatever else is wrong."""
    answer = stacks(*command, path=programs)

    assert answer.returncode == 2
    assert answer.stderr.count("terraform is not on PATH: install Terraform 1.10 or newer") == 1


def test_a_terraform_too_old_for_the_lock_file_is_refused(programs: Path) -> None:
    """S3's native lock file came with 1.10."""
    put_terraform(programs, 'echo "Terraform v1.9.8"')

    answer = stacks("check-terraform", path=programs)

    assert (answer.returncode, answer.stderr.strip()) == (2, "Terraform v1.9.8: is too old; allowed: 1.10 or newer")


def test_a_new_terraform_passes_in_silence(programs: Path) -> None:
    """Nothing to say is nothing said."""
    put_terraform(programs, NEW_TERRAFORM)

    answer = stacks("check-terraform", path=programs)

    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_documentation_accounts_and_placeholder_images_are_not_deployed(programs: Path) -> None:
    """The shipped files are examples, and say so before Terraform is asked anything."""
    put_terraform(programs, NEW_TERRAFORM)

    environment = stacks("check-environment", "prod", path=programs)
    account = stacks("check-account", "sandbox", path=programs)

    assert environment.returncode == account.returncode == 2
    assert "environments/accounts/production.toml: account_id = 444455556666" in environment.stderr
    assert "environments/prod.toml: agent.image: is the placeholder" in environment.stderr
    assert "environments/accounts/sandbox.toml: account_id = 111122223333" in account.stderr


def test_a_placeholder_bundle_is_not_deployed(settings: Path, programs: Path) -> None:
    """The command that stores one is named."""
    put_terraform(programs, NEW_TERRAFORM)
    path = settings / "dev.toml"
    path.write_text(path.read_text().replace(f'image = "{DIGEST}"', f'artifact = "code"\nbundle = "{"0" * 32}"'))

    answer = stacks("check-environment", "dev", "--settings", settings, path=programs)

    assert answer.returncode == 2
    assert answer.stderr.strip() == (
        "environments/dev.toml: agent.bundle: is the placeholder; "
        "`make bundle ENV=dev` builds, stores and writes which one"
    )


def test_an_account_and_an_image_of_one_s_own_pass(settings: Path, programs: Path) -> None:
    """The check refuses examples, not deployments."""
    put_terraform(programs, NEW_TERRAFORM)

    assert stacks("check-environment", "dev", "--settings", settings, path=programs).returncode == 0
    assert stacks("check-account", "sandbox", "--settings", settings, path=programs).returncode == 0


def test_faults_in_the_settings_are_shown_by_every_command(settings: Path, programs: Path) -> None:
    """As `main.py` shows them."""
    (settings / "dev.toml").write_text("x = [")

    answer = stacks("of", "dev", "--settings", settings, path=programs)

    assert answer.returncode == 2
    assert "environments/dev.toml: is not readable TOML" in answer.stderr


def test_without_a_synthesis_the_next_step_is_named(tmp_path: Path, programs: Path) -> None:
    """An empty folder is not zero stacks."""
    answer = stacks("list", "--out", tmp_path / "nothing", path=programs)

    assert answer.returncode == 2
    assert answer.stderr.strip().endswith("holds no synthesised stacks; run `make synth`")


def test_a_broken_manifest_is_said_in_one_line(tmp_path: Path, programs: Path) -> None:
    """Whatever is wrong with it, the way out is named."""
    for text in (
        "{bad",
        "[]",
        '{"stacks": {"agent-dev": {}}}',
        '{"stacks": {"x": {"synthesizedStackPath": "nowhere"}}}',
    ):
        (tmp_path / "manifest.json").write_text(text)

        answer = stacks("list", "--out", tmp_path, path=programs)

        assert answer.returncode == 2
        assert "is not what a synthesis wrote" in answer.stderr
        assert "Traceback" not in answer.stderr


def test_what_a_brought_role_and_a_key_need_is_printed_before_the_first_deployment(programs: Path) -> None:
    """From the settings alone: nothing is synthesised, and Terraform is not asked."""
    variants = ROOT / "tests" / "stacks" / "variants"

    brought = stacks("needs", "brought", "--settings", variants, path=programs)
    locked = stacks("needs", "locked", "--settings", variants, path=programs)
    plain = stacks("needs", "plain", "--settings", variants, path=programs)
    code = stacks("needs", "code", "--settings", variants, path=programs)

    assert "trust policy of arn:aws:iam::777788889999:role/agents/brought-along:" in brought.stdout
    assert '"NeverDecide"' in brought.stdout
    assert '"CloudWatchLogsEncryptsAgentGroups"' in locked.stdout
    assert "permissions of whoever runs `make bundle` and `make deploy`:" in code.stdout
    assert '"arn:aws-us-gov:s3:::rastro-bundles-123456789012-us-gov-west-1/agent.zip"' in code.stdout
    assert '"UseBundleKey"' in code.stdout
    assert "`make bundle`" not in brought.stdout + locked.stdout
    assert plain.stdout == "plain: nothing; the stack makes its own role, and no key of yours is used\n"


@pytest.mark.parametrize("target", ["destroy", "deploy", "release", "diff", "needs"])
def test_an_environment_variable_named_env_is_not_taken_for_an_environment(target: str) -> None:
    """Shells and CI systems use the name for their own ends: what is destroyed is said on the command line."""
    answer = subprocess.run(
        ["make", "-n", target],  # noqa: S607
        cwd=ROOT,
        env={**os.environ, "ENV": "prod", "APPROVE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "prod" not in answer.stdout
    assert "--yes" not in answer.stdout
    assert "--auto-approve" not in answer.stdout.replace('destroy "agent-" --auto-approve', "")


@pytest.mark.parametrize(("account", "number"), [("gov", "123456789012"), ("unmanaged", "777788889999")])
def test_every_account_of_aws_s_documentation_is_refused(account: str, number: str, programs: Path) -> None:
    """Nobody owns them."""
    put_terraform(programs, NEW_TERRAFORM)

    answer = stacks("check-account", account, "--settings", VARIANTS, path=programs)

    assert answer.returncode == 2
    assert f"account_id = {number}: is one of AWS's documentation ids" in answer.stderr


def test_an_unknown_account_is_refused_with_the_nearest_alias(programs: Path) -> None:
    """Status 2, one line, no traceback."""
    answer = stacks("check-account", "sandbx", path=programs)

    assert answer.returncode == 2
    assert answer.stderr.strip() == (
        "account 'sandbx': there is no such file in environments/accounts/; did you mean sandbox?"
    )


def test_a_stack_that_was_not_synthesised_is_named(shipped: Synthesis, programs: Path, terraform_log: Path) -> None:
    """The settings may be newer than the synthesis."""
    answer = stacks("outputs", "plain", "--settings", VARIANTS, "--out", shipped.folder, path=programs)

    assert answer.returncode == 2
    assert answer.stderr.strip().endswith("holds no stack agent-plain; run `make synth`")
    assert not terraform_log.exists()


@pytest.mark.parametrize("command", ["outputs", "release", "adopt"])
def test_a_command_on_a_deployed_environment_needs_terraform(shipped: Synthesis, programs: Path, command: str) -> None:
    """One line, no traceback."""
    answer = stacks(command, "prod", "--out", shipped.folder, path=programs)

    assert answer.returncode == 2
    assert answer.stderr.startswith("terraform is not on PATH")
    assert "Traceback" not in answer.stderr
