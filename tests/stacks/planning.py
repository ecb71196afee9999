"""Lay a project that a pipeline may plan: state in S3, synthesised stacks, and a Terraform that plays along."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.stacks.operating import DIGEST, REAL_ACCOUNT, put_terraform, stacks

ANOTHER_ACCOUNT = "109876543210"
STACKS = ("account-sandbox", "agent-dev")
UPDATE = {
    "resource_changes": [
        {"address": "aws_sns_topic.alerts", "change": {"actions": ["update"]}},
        {"address": "aws_s3_bucket.archive", "change": {"actions": ["no-op"]}},
        {"address": "data.aws_caller_identity.me", "change": {"actions": ["read"]}},
    ],
    "output_changes": {"invoke_command": {"actions": ["update"]}, "region": {"actions": ["no-op"]}},
}
"""A plan as `terraform show -json` says it, with two changes that count."""

PLAYING = """
stack=$(basename "$PWD")
case "$1" in
  version) echo "Terraform v1.11.4"; exit ;;
esac
echo "$stack: $*" >> "$LOG"
case "$1" in
  plan)
    status=$(cat "$PLAYS/$stack.status" 2>/dev/null || echo 0)
    test "$status" = 1 && { echo "Error: no such bucket" >&2; exit 1; }
    touch plan.tfplan
    exit "$status" ;;
  show)
    case "$2" in
      -json) cat "$PLAYS/$stack.json" ;;
      *) echo "the whole plan of $stack, with a-secret-value" ;;
    esac ;;
  apply) echo "Apply complete!" ;;
esac
"""


@dataclass(frozen=True, slots=True)
class Project:
    """Hold a folder with settings, synthesised stacks and a Terraform that answers as it is told."""

    folder: Path

    @property
    def asked(self) -> list[str]:
        log = self.folder / "log"
        return log.read_text().splitlines() if log.is_file() else []

    def let(self, stack: str, status: int, plan: dict[str, Any] | None = None) -> None:
        """Let the plan of a stack end with a status of `-detailed-exitcode`."""
        (self.folder / f"{stack}.status").write_text(str(status))
        (self.folder / f"{stack}.json").write_text(json.dumps(plan or {}))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return stacks(
            *arguments,
            path=f"{self.folder / 'bin'}:/usr/bin:/bin",
            cwd=self.folder,
            LOG=str(self.folder / "log"),
            PLAYS=str(self.folder),
        )

    def plan_file(self, stack: str) -> Path:
        return self.folder / "cdktf.out" / "stacks" / stack / "plan.tfplan"


def with_remote_state(settings: Path) -> None:
    """Let every account be a real one whose state lies in S3, and every image be built."""
    for account in (settings / "accounts").glob("*.toml"):
        account.write_text(_real(account.read_text()).replace('backend = "local"', 'backend = "s3"', 1))
    for environment in settings.glob("*.toml"):
        environment.write_text(_real(environment.read_text()).replace(f"sha256:{'0' * 64}", DIGEST))


def _real(text: str) -> str:
    return text.replace("111122223333", REAL_ACCOUNT).replace("444455556666", ANOTHER_ACCOUNT)


def laid(folder: Path) -> Project:
    """Lay such a project of the shipped settings, where nothing was planned yet and nothing would change."""
    shutil.copytree(ROOT / "environments", folder / "environments")
    with_remote_state(folder / "environments")
    for stack in STACKS:
        (folder / "cdktf.out" / "stacks" / stack).mkdir(parents=True)
        (folder / "cdktf.out" / "stacks" / stack / "cdk.tf.json").write_text("{}")
    manifest = {stack: {"synthesizedStackPath": f"stacks/{stack}/cdk.tf.json"} for stack in STACKS}
    (folder / "cdktf.out" / "manifest.json").write_text(json.dumps({"stacks": manifest}))
    (folder / "bin").mkdir()
    put_terraform(folder / "bin", PLAYING)
    return Project(folder)
