"""The command writes a page whole, or says what is wrong and writes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cost_model.cli import app
from tests.conftest import ROOT
from tests.cost_model.conftest import ARTICLE, Synthesis
from tests.parsed_page import Parsed


def report(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["report", *(str(argument) for argument in arguments)])


def test_a_file_that_says_what_is_deployed_becomes_a_page(tmp_path: Path) -> None:
    """Under the regime that is named; the options of the command line stand over the file."""
    page = tmp_path / "page.html"
    result = report("--usage", ARTICLE, "--html", page, "--regime", "content", "--sessions", 10_000_000)
    said = Parsed(page.read_text()).all_text

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert "regime content, 10,000,000 sessions a month" in said
    assert "$2,393.99" in said


def test_every_environment_has_its_chapter(tmp_path: Path, synthesis: Synthesis) -> None:
    """Or the one that is asked for."""
    synthesis.add_environment("dev", regime="address")
    synthesis.add_environment("prod", regime="content")
    page, out = tmp_path / "page.html", synthesis.write()

    assert report(out, "--settings", synthesis.settings, "--html", page).exit_code == 0
    both = Parsed(page.read_text()).all_text
    asked = report(out, "--settings", synthesis.settings, "--html", page, "--environment", "prod")

    assert asked.exit_code == 0
    assert both.startswith("What dev, prod costs a month")
    assert "dev us-east-1, regime address" in both
    assert Parsed(page.read_text()).all_text.startswith("What prod costs a month")


def test_a_base_shows_what_changes(tmp_path: Path, synthesis: Synthesis) -> None:
    """Line by line, drawn and in a table; where nothing does, it says so."""
    synthesis.add_environment("prod", regime="content")
    before = synthesis.write().rename(tmp_path / "before")
    synthesis.stacks.clear()
    synthesis.add_environment("prod", regime="address")
    page, after = tmp_path / "page.html", synthesis.write()

    def said(base: Path) -> str:
        result = report(after, "--settings", synthesis.settings, "--html", page, "--diff", base)
        assert result.exit_code == 0, result.stderr
        return Parsed(page.read_text()).all_text

    assert "Span ingestion -$21.70" in said(before)
    assert "No difference in monthly cost" in said(after)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a folder of synthesised stacks"),
        (("--environment", "prod"), "--environment: nothing was synthesised"),
        (("--usage", "nowhere.toml"), "nowhere.toml: cannot be read"),
        (("--usage", ARTICLE, "--diff", "before"), "--diff: nothing was synthesised"),
        (("--usage", ARTICLE, "--sessions", "NaN"), "--sessions"),
        (("--usage", ARTICLE, "--sessions", "-1"), "--sessions"),
        (("nowhere",), "nowhere: no such folder"),
    ],
)
def test_bad_input_writes_nothing(tmp_path: Path, arguments: tuple[object, ...], message: str) -> None:
    """What lay there before is as it was."""
    page = tmp_path / "page.html"
    page.write_text("before")
    result = report(*arguments, "--html", page)

    assert result.exit_code == 2
    assert message in result.stderr
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("page.html", "before")]


@pytest.mark.parametrize("name", ["nowhere/page.html", "."])
def test_a_place_that_cannot_be_written_to_is_refused(tmp_path: Path, name: str) -> None:
    """No folder, a folder in its place."""
    result = report("--usage", ARTICLE, "--html", tmp_path / name)

    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_two_runs_write_the_same_page_wherever_they_run(tmp_path: Path) -> None:
    """Own settings of the drawing library, a home that cannot be written to, the order of hashing: nothing is said."""
    own, bare = tmp_path / "own", tmp_path / "bare"
    own.mkdir()
    bare.mkdir()
    settings = own / "matplotlibrc"
    settings.write_text("svg.fonttype: path\nlines.dashed_pattern: 9, 1\nxtick.labelbottom: False\n")
    pages = []
    for seed, (folder, home) in enumerate(((own, settings / "no folder"), (bare, bare))):
        page = folder / "page.html"
        command = [sys.executable, "-m", "cost_model", "report", "--usage", str(ARTICLE), "--html", str(page)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(seed), "MPLCONFIGDIR": str(home)}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        pages.append(page.read_text())

    assert pages[0] == pages[1]


def test_other_commands_do_not_wait_for_what_draws() -> None:
    """Neither a drawing library nor a template engine loads for an estimate."""
    program = (
        "import sys, json; from typer.testing import CliRunner; from cost_model.cli import app;"
        f"r = CliRunner().invoke(app, ['regimes', '--usage', {str(ARTICLE)!r}]); assert r.exit_code == 0;"
        "print(json.dumps([n for n in ('matplotlib', 'jinja2', 'numpy') if n in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == []
