"""Offer an account on loopback to measure, and the command in this process."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cost_model.cli import app
from tests.loopback.account import CloudAccount, answering
from tests.loopback.measured import GROUP, Query, Trail, variables

GB = 2**30
DAY_BYTES = GB // 10
"""What the group takes in on each day: 3 GB in a month."""
OPEN_ONE = "filterIndex traceId = 'x'\n| fields @message"
SCAN_ALL = "fields @message | filter name = 'invoke_agent' | limit 20"


def today() -> date:
    """Tell the day as the command does."""
    return datetime.now(UTC).date()


def ago(days: int) -> date:
    """Count days back."""
    return today() - timedelta(days=days)


def month(bytes_a_day: int = DAY_BYTES, days: int = 40) -> dict[date, Any]:
    """Let as much come in on each of the last days; today is one of them, and not over."""
    return {ago(day): bytes_a_day for day in range(days)}


@dataclass
class Measure:
    """Run `rastro cost measure` against an account."""

    trail: Trail
    account: CloudAccount
    folder: Path

    def run(self, *arguments: object, group: bool = True) -> Result:
        """Measure the group, or what the arguments say."""
        where = ("--log-group", GROUP, "--region", "us-east-1", "--capture", "address") if group else ()
        return CliRunner().invoke(app, ["measure", *map(str, (*where, *arguments))])

    def measured(self, *arguments: object, group: bool = True) -> dict[str, Any]:
        """Measure and give the JSON."""
        result = self.run("--format", "json", *arguments, group=group)
        assert result.exit_code == 0, result.stderr
        document: dict[str, Any] = json.loads(result.stdout)
        return document

    def written(self, *arguments: object, group: bool = True) -> dict[str, Any]:
        """Measure, write, and read `[usage]` back."""
        result = self.run("--write", self.file, *arguments, group=group)
        assert result.exit_code == 0, result.stderr
        usage: dict[str, Any] = tomllib.loads(self.file.read_text(), parse_float=Decimal)["usage"]
        return usage

    @property
    def file(self) -> Path:
        """Name the file that is written."""
        return self.folder / "measured.toml"


def standard() -> Trail:
    """Make a trail of 3 GB a month, with a look-up that skips nine tenths and a scan of ten days."""
    return Trail(
        bytes_by_day={GROUP: month()},
        queries=[
            Query(OPEN_ONE, ago(2), DAY_BYTES, 9 * DAY_BYTES),
            Query(OPEN_ONE.replace("'x'", "'y'"), ago(3), DAY_BYTES, 9 * DAY_BYTES),
            Query(SCAN_ALL, ago(20), 10 * DAY_BYTES),
            Query(SCAN_ALL, ago(35), 10 * DAY_BYTES),
        ],
        metrics={"bedrock-agentcore": 7},
        alarms=5,
        dashboards=1,
    )


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Measure]:
    """Serve the standard trail, and set boto3 up for it."""
    trail = standard()
    with answering(trail.account()) as account:
        given = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", **variables(account)}
        for name, value in {**given, "AWS_DEFAULT_REGION": "us-east-1"}.items():
            monkeypatch.setenv(name, value)
        yield Measure(trail, account, tmp_path)
