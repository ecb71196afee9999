"""Run `python -m stacks` with programs of a test's own on PATH."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.conftest import ROOT

REAL_ACCOUNT = "210987654321"
VARIANTS = ROOT / "tests" / "stacks" / "variants"
DIGEST = f"sha256:{'ab' * 32}"

NEW_TERRAFORM = 'echo "Terraform v1.11.4"'


HELD = ("aws_dynamodb_table.table", "aws_s3_bucket.archive", "aws_iam_role.role")
RECORDING_TERRAFORM = """
case "$1" in
  version) echo "Terraform v1.11.4" ;;
  show) cat "$HELD" ;;
  output) echo '{"invoke_command": {"value": "aws bedrock-agentcore ..."}}' ;;
  *) echo "$@" >> "$LOG" ;;
esac
"""


def stacks(
    *arguments: str | Path, path: Path | str, typed: str = "", cwd: Path = ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stacks", *map(str, arguments)],
        cwd=cwd,
        env={"PATH": str(path), "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT), **variables},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )


def put_terraform(programs: Path, script: str) -> None:
    program = programs / "terraform"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def state(resources: Mapping[str, Mapping[str, object]]) -> str:
    listed = [{"address": address, "values": values} for address, values in resources.items()]
    return json.dumps({"values": {"root_module": {"resources": listed}}})
