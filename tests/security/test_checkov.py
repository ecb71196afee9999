"""checkov finds nothing in the shipped stacks but what is waived with a written reason."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.synthesis import Synthesis

CHECKOV = ROOT / ".venv-checkov" / "bin" / "checkov"
WAIVERS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("waivers.toml").read_text())


@pytest.fixture(scope="module")
def report(shipped: Synthesis) -> dict[str, Any]:
    assert CHECKOV.is_file(), "checkov has an environment of its own: run `make test`, or `make .make/checkov` first"
    options = ["--framework", "terraform_json", "--compact", "--quiet", "--skip-download", "--output", "json"]
    answer = subprocess.run(
        [CHECKOV, "--directory", shipped.folder / "stacks", *options], capture_output=True, text=True, check=False
    )
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def failed(report: dict[str, Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for check in report["results"]["failed_checks"]:
        # Some checks name a resource by its type, others say "resource" in its place.
        name = check["resource"].rpartition(".")[2]
        found.setdefault(check["check_id"], set()).add(name)
    return found


def test_it_has_really_looked(report: dict[str, Any]) -> None:
    """A scan with the wrong framework passes because it reads nothing."""
    assert report["summary"]["passed"] > 100
    assert report["summary"]["parsing_errors"] == 0


def test_what_fails_is_exactly_what_is_waived(report: dict[str, Any]) -> None:
    """A new finding fails, and so does a waiver that nothing needs any more."""
    waived = {
        check: {resource.rpartition(".")[2] for resource in waiver["resources"]} for check, waiver in WAIVERS.items()
    }

    assert failed(report) == waived


def test_every_waiver_says_why() -> None:
    """A sentence that a reviewer can disagree with."""
    assert all(len(waiver["reason"]) > 40 and waiver["reason"].endswith(".") for waiver in WAIVERS.values())
