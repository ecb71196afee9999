"""`make rehearse` says with whom it rehearsed, what was left out, and why it could not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.rehearsal.plugins import SOURCE, MissingError, find, platform
from tests.rehearsal.provider import install
from tests.rehearsal.stage import ACCOUNT, NEEDS_TERRAFORM
from tests.rehearsal.trimming import UNKNOWN_TO_MOTO, trim
from tests.terraform_schema.schema import load_schema


def rehearse(**variables: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if name != "RASTRO_PLUGIN_DIR"}
    return subprocess.run(
        [sys.executable, "-m", "tests.rehearsal"],
        cwd=ROOT,
        env={**known, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def put_plugin(folder: Path, version: str, on: str = platform()) -> Path:
    binary = folder / SOURCE / version / on / f"terraform-provider-aws_v{version}_x5"
    binary.parent.mkdir(parents=True)
    binary.touch(mode=0o755)
    return binary


def test_the_newest_provider_for_this_machine_is_found(tmp_path: Path) -> None:
    """As numbers, not as texts; what another machine runs does not count, nor what nobody can start."""
    put_plugin(tmp_path, "6.9.0")
    put_plugin(tmp_path, "6.10.0")
    put_plugin(tmp_path, "7.0.0", on="plan9_mips")
    put_plugin(tmp_path, "8.0.0").chmod(0o644)

    assert find(tmp_path).version == "6.10.0"


def test_a_folder_without_a_provider_is_said(tmp_path: Path) -> None:
    """With what was looked for."""
    with pytest.raises(MissingError, match=r"holds no provider for this machine; looked for registry\.terraform\.io"):
        find(tmp_path)


def test_what_is_unknown_goes_with_what_refers_to_it_and_nothing_else() -> None:
    """What only waited for it stays; outputs that name it go; each with its reason."""
    stack: dict[str, Any] = {
        "resource": {
            "aws_new": {"one": {"name": "n"}},
            "aws_group": {"two": {"name": "${aws_new.one.id}-live"}},
            "aws_filter": {"three": {"group": "${aws_group.two.name}"}},
            "aws_table": {"four": {"name": "t", "depends_on": ["aws_new.one", "aws_role.five"]}},
            "aws_role": {"five": {"name": "r", "//": {"metadata": {"path": "aws_new.one"}}}},
        },
        "output": {"gone": {"value": "${aws_group.two.arn}"}, "kept": {"value": "${aws_role.five.arn}"}},
        "//": {"outputs": {"agent-x": {"gone": "gone", "kept": "kept"}}},
        "removed": [{"from": "aws_new.old"}, {"from": "aws_role.old"}],
    }

    assert trim(stack, {"aws_new": "is new"}) == {
        "aws_new.one": "is new",
        "aws_group.two": "refers to aws_new.one",
        "aws_filter.three": "refers to aws_group.two",
    }
    assert stack["resource"].keys() == {"aws_table", "aws_role"}
    assert stack["resource"]["aws_table"]["four"]["depends_on"] == ["aws_role.five"]
    assert list(stack["output"]) == list(stack["//"]["outputs"]["agent-x"]) == ["kept"]
    assert stack["removed"] == [{"from": "aws_role.old"}]


def test_what_moto_lacks_are_types_of_the_provider() -> None:
    """A name that is misspelt would leave nothing out."""
    assert UNKNOWN_TO_MOTO.keys() <= load_schema().resources.keys()


@NEEDS_TERRAFORM
def test_without_a_provider_binary_it_is_said_that_the_provider_is_a_pretend_one() -> None:
    """Nobody takes it for AWS's own word."""
    answer = rehearse()

    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert answer.stdout.startswith("PRETENDED: RASTRO_PLUGIN_DIR names no folder with a provider")
    assert answer.stdout.endswith("rehearsed: deployed, planned again without changes, destroyed\n")


@NEEDS_TERRAFORM
def test_with_a_provider_binary_it_is_used_and_what_is_left_out_is_listed(tmp_path: Path) -> None:
    """Another version than the stacks ask for, on a pretend AWS that lacks some services."""
    variables = install(tmp_path, "5.100.0")
    del variables["TF_CLI_CONFIG_FILE"]

    answer = rehearse(RASTRO_PLUGIN_DIR=str(tmp_path / "mirror"), PRETEND_ACCOUNT_ID=ACCOUNT, **variables)

    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert answer.stdout.startswith(f"hashicorp/aws 5.100.0 of {tmp_path / 'mirror'} works on a pretend AWS (moto) at")
    left_out = [line.split() for line in answer.stdout.splitlines() if line.startswith("  left out")]
    assert ["left", "out", "account-sandbox", "aws_xray_indexing_rule.indexing:"] in [line[:4] for line in left_out]
    assert "PRETENDED" not in answer.stdout


@NEEDS_TERRAFORM
def test_a_folder_that_holds_no_provider_is_a_status_of_its_own(tmp_path: Path) -> None:
    """It neither passed nor failed."""
    answer = rehearse(RASTRO_PLUGIN_DIR=str(tmp_path))

    assert answer.returncode == 3
    assert answer.stdout.startswith(f"cannot rehearse: {tmp_path}: holds no provider for this machine")


def test_without_terraform_it_says_so(tmp_path: Path) -> None:
    """And does not try."""
    answer = rehearse(PATH=str(tmp_path))

    assert (answer.returncode, answer.stdout) == (3, "cannot rehearse: terraform is not on PATH\n")


@NEEDS_TERRAFORM
def test_a_step_that_fails_is_named_with_terraform_s_own_words() -> None:
    """Credentials of another account: nothing is deployed."""
    answer = rehearse(TF_CLI_ARGS_apply="-no-such-option")

    assert answer.returncode == 1, answer.stdout
    assert "the rehearsal failed: cdktf deploy (status 1)" in answer.stdout
