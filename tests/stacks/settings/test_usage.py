"""The settings take in `[usage]` what the cost model takes, and refuse what it refuses."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from cost_model.errors import UsageError
from cost_model.workload import Workload, read_workload
from tests.stacks.settings.folder import REPOSITORY, Folder

EXAMPLES = REPOSITORY / "cost_model" / "examples"
DASHBOARD = "name = 'd'\nwidgets = 2\nrefresh_minutes = 5\nwindow_days = 1\nhours_open_per_month = 160\n"


def usage_of(text: str) -> str:
    """Keep what a file says of usage."""
    return text.partition("\n[deployed]")[0]


def with_usage(folder: Folder, text: str) -> None:
    """Let dev state this usage and nothing else of it."""
    path = folder.path / "dev.toml"
    path.write_text(path.read_text(encoding="utf-8").partition("[usage]")[0] + text, encoding="utf-8")


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.toml")))
def test_each_example_is_a_usage_that_settings_take(folder: Folder, example: str) -> None:
    """So that it can be copied into an environment's file."""
    with_usage(folder, usage_of(Path(EXAMPLES / example).read_text(encoding="utf-8")))

    assert folder.faults() == ()


@pytest.mark.parametrize(
    "text",
    [
        "split_telemetry = 1",
        'query_set = "usally"',
        "storage_compression = 0",
        "sessions = 1_000_000_000_001",
        "runtime = { version = 3 }",
        "runtime = { memory = 1 }",
        "tokens = { input_usd = 1 }",
        "tokens = { model = '' }",
        "[[usage.dashboards]]\nname = 'd'",
        f"[[usage.dashboards]]\n{DASHBOARD}streams = 'span'",
        f"[[usage.dashboards]]\n{DASHBOARD}[[usage.dashboards]]\n{DASHBOARD}",
        f"[[usage.dashboards]]\n{DASHBOARD.replace('= 5', '= 0')}",
    ],
)
def test_what_the_cost_model_refuses_the_settings_refuse(folder: Folder, text: str) -> None:
    """A file is at fault before anything is synthesised from it, or priced."""
    usage = f"[usage]\n{text}\n"
    with_usage(folder, usage)

    assert {fault.path.partition(".")[0] for fault in folder.faults()} == {"usage"}
    with pytest.raises(UsageError):
        read(usage)


def test_whatever_can_be_stated_is_read_by_both(folder: Folder) -> None:
    """Dashboards, sets and tables of their own."""
    usage = (
        "[usage]\nquery_set = 'usual'\nsplit_telemetry = true\nruntime = { version = 2 }\n"
        f"tokens = {{ model = 'm' }}\n[[usage.dashboards]]\n{DASHBOARD}streams = 'spans'\nindexed = true\n"
    )
    with_usage(folder, usage)

    assert folder.faults() == ()
    assert read(usage).dashboards


def read(text: str) -> Workload:
    """Read a usage as the cost model does."""
    return read_workload(tomllib.loads(text, parse_float=Decimal)["usage"], "dev.toml")
