"""Hold a rehearsal: settings, what was synthesised from them, and a cloud of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.rehearsal.cloud import Cloud

ACCOUNT: Final = "210987654321"
PLACEHOLDER, IMAGE, NEXT_IMAGE = (f"sha256:{digit * 64}" for digit in "0ab")
STACKS: Final = ("account-sandbox", "agent-dev", "agent-staging")
BUCKET_GUARDS: Final = tuple(
    f"aws_s3_bucket_{part}"
    for part in ("ownership_controls", "policy", "public_access_block", "server_side_encryption_configuration")
)
LOG_GROUP: Final = "aws_cloudwatch_log_group"
MASKING, INDEX = "aws_cloudwatch_log_data_protection_policy", "aws_cloudwatch_log_index_policy"
RUNTIME, ENDPOINT = "aws_bedrockagentcore_agent_runtime", "aws_bedrockagentcore_agent_runtime_endpoint"
ROLE_POLICY, TOPIC, TABLE, BUCKET = "aws_iam_role_policy", "aws_sns_topic", "aws_dynamodb_table", "aws_s3_bucket"
HOLDERS: Final = (TABLE, BUCKET, TOPIC)
KEPT: Final = (
    *(LOG_GROUP, MASKING, INDEX, TABLE, BUCKET, *BUCKET_GUARDS),
    *("aws_s3_bucket_lifecycle_configuration", "aws_s3_bucket_versioning", "aws_s3_object"),
)
SLOW: Final = frozenset({*HOLDERS, *BUCKET_GUARDS, ROLE_POLICY, MASKING, INDEX})


def terraform_problem() -> str | None:
    """Say why Terraform cannot be used, or None."""
    found = shutil.which("terraform")
    if found is None:
        return "terraform is not on PATH"
    answer = subprocess.run([found, "version", "-json"], capture_output=True, text=True, check=True)
    version: str = json.loads(answer.stdout)["terraform_version"]
    too_old = tuple(map(int, version.split(".")[:2])) < (1, 10)
    return f"terraform {version} is too old: 1.10 or newer is needed" if too_old else None


PROBLEM = terraform_problem()
NEEDS_TERRAFORM = pytest.mark.skipif(PROBLEM is not None, reason=PROBLEM or "")


@dataclass(frozen=True, slots=True)
class Stage:
    """Hold a folder with settings, what was synthesised from them, and a cloud of its own."""

    folder: Path
    environment: Mapping[str, str]

    @property
    def cloud(self) -> Cloud:
        return Cloud(self.folder / "cloud", ACCOUNT)

    @property
    def settings(self) -> Path:
        return self.folder / "environments"

    def run(self, *command: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
        known = {**os.environ, **self.environment, "PRETEND_ACCOUNT_ID": ACCOUNT, "TF_INPUT": "0"}
        own = {"CDKTF_OUTDIR": str(self.folder / "out"), "PRETEND_CLOUD": str(self.cloud.folder)}
        settings = {**known, **own, **environment}
        return subprocess.run(command, cwd=cwd, env=settings, capture_output=True, text=True, check=False)

    def terraform(self, stack: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        folder = self.folder / "out" / "stacks" / stack
        return self.run("terraform", *arguments, "-no-color", cwd=folder, **environment)

    def operate(self, command: str, *options: str, account: str = ACCOUNT) -> subprocess.CompletedProcess[str]:
        """Run `python -m stacks` on the environment whose trail is kept."""
        folders = ("--settings", str(self.settings), "--out", str(self.folder / "out"))
        python = (sys.executable, "-m", "stacks", command, "staging", *folders, *options)
        return self.run(*python, PRETEND_ACCOUNT_ID=account)

    def operate_account(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `python -m stacks` on the account, with credentials that nobody checks."""
        folders = ("--settings", str(self.settings), "--out", str(self.folder / "out"))
        environment |= {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "example"}
        return self.run(sys.executable, "-m", "stacks", command, "sandbox", *folders, cwd=ROOT, **environment)

    def synthesise(self) -> None:
        """Run `main.py` anew, after a change of settings."""
        answer = self.run(sys.executable, "main.py", self.settings)
        assert answer.returncode == 0, answer.stderr

    def rewrite(self, file: str, old: str, new: str) -> None:
        path = self.settings / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    @classmethod
    def shipped(cls, folder: Path, environment: Mapping[str, str]) -> Stage:
        """Copy the shipped settings, with an account that is no documentation id and images that were pushed."""
        folder.mkdir(exist_ok=True)
        stage = cls(folder, environment)
        shutil.copytree(ROOT / "environments", stage.settings)
        for name in ("dev", "staging"):
            stage.rewrite(f"{name}.toml", PLACEHOLDER, IMAGE)
            stage.rewrite(f"{name}.toml", "111122223333", ACCOUNT)
        stage.rewrite("accounts/sandbox.toml", "111122223333", ACCOUNT)
        return stage

    def copy(self, folder: Path) -> Stage:
        """Give a stage that a test may ruin."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return replace(self, folder=folder)
