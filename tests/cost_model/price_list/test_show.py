"""Show the price book."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from cost_model.price_list.in_use import prices_in_use
from cost_model.price_list.showing import book_sections
from cost_model.prices import SHIPPED
from cost_model.render.plain import render_plain
from tests.conftest import ROOT
from tests.cost_model.price_list.conftest import run

ROW = """
[[rows]]
id = "log_storage"
service_code = "AmazonCloudWatch"
usage_type = "TimedStorage-ByteHrs"
name = "Log storage"
unit = "GB-month"
as_of = {as_of}
source = "{source}"
tiers = [{{ up_to = 10, usd = "0.03" }}, {{ usd = "{usd}" }}]
"""


def write(folder: Path, *rows: tuple[str, str, str]) -> Path:
    """Write a Region's file of rows: day, price, source."""
    folder.mkdir(exist_ok=True)
    texts = (ROW.format(as_of=as_of, usd=usd, source=source) for as_of, usd, source in rows)
    (folder / "eu-test-1.toml").write_text("".join(texts))
    return folder


def test_the_rows_in_use_are_shown_with_age_and_source(tmp_path: Path) -> None:
    """Tiers in full, sources by number, and what is stale with the command against it."""
    folder = write(tmp_path / "own", ("2026-01-01", "0.02", "a page"), ("2026-06-03", "0.021", "another page"))

    shown = render_plain(book_sections(prices_in_use(folder, "eu-test-1"), date(2026, 11, 30)))

    assert shown.splitlines() == [
        "Prices of eu-test-1",
        "",
        "Price        Unit price                        Seen  Days ago  Source",
        "-----------  --------------------------  ----------  --------  ------",
        "Log storage  $0.03 / 0.021 per GB-month  2026-06-03       180       1",
        "",
        "Sources:",
        "  1  another page",
    ]


def test_what_was_not_seen_for_180_days_is_stale(tmp_path: Path) -> None:
    """One day makes the difference; the remark names the command."""
    folder = write(tmp_path / "own", ("2026-06-03", "0.021", "a page"))
    shown = render_plain(book_sections(prices_in_use(folder, "eu-test-1"), date(2026, 12, 1)))

    assert "stale, 181" in shown
    assert "1 of 1 prices are older than 180 days: `rastro cost prices refresh --region eu-test-1` asks AWS" in shown


def test_history_shows_older_rows_behind_the_one_in_use(tmp_path: Path) -> None:
    """The book is append-only, so a price's past is there to read."""
    folder = write(tmp_path / "own", ("2026-01-01", "0.02", "a page"), ("2026-06-03", "0.021", "another page"))
    result = run("show", "--prices", folder, "--region", "eu-test-1", "--history", "--format", "json")

    assert [row["as_of"] for row in json.loads(result.stdout)["prices"]] == ["2026-06-03", "2026-01-01"]


def test_a_row_of_one_s_own_stands_before_a_shipped_one_of_the_same_day(tmp_path: Path) -> None:
    """Whoever negotiated a price says so in a folder of their own."""
    text = (SHIPPED / "us-east-1.toml").read_text().replace('usd = "0.12"', 'usd = "0.10"')
    (tmp_path / "us-east-1.toml").write_text(text)
    shown = json.loads(run("show", "--prices", tmp_path, "--format", "json").stdout)["prices"]

    assert [row["tiers"][0]["usd"] for row in shown if row["id"] == "data_protection"] == ["0.10"]


@pytest.mark.parametrize("output", ["table", "markdown", "json"])
def test_every_format_shows_every_price(output: str) -> None:
    """The same rows, whoever reads them."""
    result = run("show", "--region", "us-east-1", "--format", output)

    assert result.exit_code == 0
    assert "Logs Insights scan" in result.stdout


def test_an_unknown_region_is_refused_with_the_command_that_adds_it() -> None:
    """Nothing is made up for it."""
    result = run("show", "--region", "mars-north-1")

    assert result.exit_code == 2
    assert "rastro cost prices refresh --region mars-north-1" in result.stderr


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """An empty answer would look like a book without prices."""
    result = run("show", "--prices", tmp_path / "nowhere")

    assert result.exit_code == 2
    assert "is no folder" in result.stderr


def test_showing_prices_needs_no_aws() -> None:
    """boto3 takes longer to load than the whole answer takes."""
    program = "import sys; from cost_model.cli import show_prices; show_prices(); print('boto3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "False"
