"""Drive `sensitivity` and `alternatives`, and advice as the other commands show it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cost_model.cli import app
from tests.cost_model.conftest import ARTICLE, USAGE, Synthesis

ROOT = Path(__file__).parents[2]
HEAVY = {"boto3", "botocore", "cdktf", "jsii", "jinja2", "matplotlib", "rich", "genai_prices", "stacks", "console"}


def run(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def document(*arguments: object) -> dict[str, Any]:
    """Run a command and return its JSON."""
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_sensitivity_of_a_file_takes_a_regime(tmp_path: Path) -> None:
    """A file says no regime: archive unless another is asked for."""
    archive = document("sensitivity", "--usage", ARTICLE)["environments"][""]
    content = document("sensitivity", "--usage", ARTICLE, "--regime", "content")["environments"][""]

    assert (archive["regime"], archive["total"]) == ("archive", "62.90")
    assert (content["regime"], content["total"]) == ("content", "239.40")
    assert [each["name"] for each in content["levers"][:2]] == ["sessions", "span bytes"]
    assert content["break_evens"][0]["at"] == "70"
    assert list(tmp_path.iterdir()) == []


def test_sensitivity_of_a_synthesis_goes_through_its_environments(synthesis: Synthesis) -> None:
    """Each in its own regime; --environment picks one."""
    synthesis.add_environment("dev", regime="archive")
    synthesis.add_environment("prod", regime="content")
    out = synthesis.write()
    both = document("sensitivity", out, "--settings", synthesis.settings)["environments"]
    one = document("sensitivity", out, "--settings", synthesis.settings, "--environment", "prod")["environments"]

    assert {name: each["regime"] for name, each in both.items()} == {"dev": "archive", "prod": "content"}
    assert list(one) == ["prod"]


def test_sensitivity_reads_as_a_table_and_as_markdown() -> None:
    """Levers in a table, break-evens in sentences, and what moves nothing named."""
    table = run("sensitivity", "--usage", ARTICLE, "--regime", "content").stdout
    markdown = run("sensitivity", "--usage", ARTICLE, "--regime", "content", "--format", "markdown").stdout

    assert "What moves the bill: 239.40 USD a month, regime content, 1,000,000 sessions" in table
    assert "scanning passes ingestion: from 70 queries on; in the stated mix, of which 500 run now" in table
    assert "the trail passes $100: from 417,712 sessions on" in table
    assert "content costs at most 1 % of inference: depends on usage; needs [usage.tokens]" in table
    assert (
        "| sessions | sessions/month | 1,000,000 | 500,000 | 2,000,000 | 119.70 | 478.80 | 359.10 | 150.0 % |"
        in markdown
    )


def test_alternatives_price_what_a_file_states(tmp_path: Path) -> None:
    """[usage] alone will do: what others charge depends on no deployment. Measured sizes stand in for missing ones."""
    usage = tmp_path / "usage.toml"
    usage.write_text("[usage]\nsessions = 1_000_000\nspans_per_session = 8\n", encoding="utf-8")
    found = {
        (each["product"], each["plan"]): each for each in document("alternatives", "--usage", usage)["alternatives"]
    }

    assert found["LangSmith Plus", "base traces"]["usd_low"] == "534.00"
    assert found["LangSmith Plus", "base traces"]["usd_high"] == "2514.00"
    assert found["Arize AX", "Pro"]["answer"] == "priced"
    assert found["Phoenix", "self-hosted (ELv2)"]["usd_low"] is None


def test_alternatives_of_a_synthesis_need_one_environment(synthesis: Synthesis) -> None:
    """Plans are priced by traffic: whose, has to be said."""
    synthesis.add_environment("dev")
    synthesis.add_environment("prod")
    out = synthesis.write()
    several = run("alternatives", out, "--settings", synthesis.settings)
    one = document("alternatives", out, "--settings", synthesis.settings, "--environment", "dev")

    assert several.exit_code == 2
    assert "2 environments are there: name one with --environment: dev, prod" in several.stderr
    assert one["alternatives"][0]["usd_low"] == "661.00"


def test_alternatives_show_retention_gaps_and_sources() -> None:
    """A price without its date, its confidence and what it leaves out would mislead."""
    table = run("alternatives", "--usage", ARTICLE, "--model-calls", "6").stdout

    assert "534.00 to 2,514.00" in table
    assert "own infrastructure" in table
    assert "a session makes 6 model calls" in table
    assert "What it does not do:" in table
    assert "Arize AX, Pro (low): a generated file" in table
    assert "in no total and under no ceiling" in table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sensitivity",), "name what was synthesised, such as cdktf.out, or a file with --usage"),
        (("alternatives",), "name what was synthesised, such as cdktf.out, or a file with --usage"),
        (("sensitivity", "--usage", "gone.toml"), "gone.toml: cannot be read"),
        (("alternatives", "--usage", "gone.toml"), "gone.toml: cannot be read"),
        (("sensitivity", "--usage", ARTICLE, "--budget", "-1"), "--budget: -1 is not allowed"),
        (("sensitivity", "--usage", ARTICLE, "--budget", "NaN", "--share", "0"), "--budget: NaN is not allowed"),
        (("sensitivity", "--usage", ARTICLE, "--budget", "NaN", "--share", "0"), "--share: 0 is not allowed"),
        (("sensitivity", "--usage", ARTICLE, "--regime", "everything"), "'everything' is not one of"),
        (("alternatives", "--usage", ARTICLE, "--model-calls", "many"), '--model-calls: "many" is not allowed'),
        (("alternatives", "--usage", ARTICLE, "--sessions", "1e20"), "--sessions: "),
    ],
)
def test_bad_input_exits_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], message: str
) -> None:
    """Every fault on standard error, nothing on standard output, nothing written."""
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_what_is_deployed_is_no_scenario(tmp_path: Path) -> None:
    """Sensitivity prices a trail: where it lies has to be said."""
    usage = tmp_path / "usage.toml"
    usage.write_text(USAGE, encoding="utf-8")
    result = run("sensitivity", "--usage", usage)

    assert result.exit_code == 2
    assert "no [deployed] table" in result.stderr


def test_names_from_files_cannot_steer_a_terminal(tmp_path: Path) -> None:
    """A query class named in escape sequences stays text in the levers."""
    usage = tmp_path / "usage.toml"
    text = ARTICLE.read_text(encoding="utf-8").replace("full scan", "\\u001b[31mred\\u202e a|b")
    usage.write_text(text, encoding="utf-8")
    for form in ("table", "markdown", "json"):
        shown = run("sensitivity", "--usage", usage, "--format", form).stdout
        assert "red" in shown
        assert "\x1b" not in shown
        assert "\u202e" not in shown


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_estimate_and_regimes_advise_in_every_format(synthesis: Synthesis, form: str) -> None:
    """The same sentence, as a remark or as a record with code, threshold and source."""
    synthesis.add_environment("dev")
    estimated = run("estimate", synthesis.write(), "--settings", synthesis.settings, "--format", form).stdout
    compared = run("regimes", "--usage", ARTICLE, "--format", form).stdout

    if form == "json":
        (record, *_) = json.loads(estimated)["environments"]["dev"]["advice"]
        assert record.keys() == {"code", "text", "threshold", "source"}
        assert "content-or-archive" in {each["code"] for each in json.loads(compared)["advice"]}
    else:
        assert "Advice" in estimated
        assert "content costs 239.40 USD where archive costs 62.90" in compared


@pytest.mark.parametrize("command", ["estimate", "diff", "sensitivity", "alternatives"])
def test_judging_loads_no_heavy_package(synthesis: Synthesis, command: str) -> None:
    """Prices are arithmetic: no AWS client, no framework, no templates, no charts, and no Node process."""
    synthesis.add_environment("dev")
    out, settings = str(synthesis.write()), str(synthesis.settings)
    arguments = {
        "estimate": [out, "--settings", settings],
        "diff": [out, out],
        "sensitivity": [out, "--settings", settings],
        "alternatives": [out, "--settings", settings],
    }[command]
    code = (
        "import sys; from cost_model.cli import app\n"
        f"try: app([{command!r}, *{arguments!r}])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)

    assert done.stderr.strip() == "[]"
    assert done.stdout


@pytest.mark.parametrize("command", ["diff", "sensitivity"])
def test_judging_takes_a_folder_of_one_s_own_prices(synthesis: Synthesis, tmp_path: Path, command: str) -> None:
    """Rows of one's own stand before the shipped ones: span ingestion at 3.50 is ten times what it is at 0.35."""
    synthesis.add_environment("dev", regime="address")
    out, own = synthesis.write(), tmp_path / "own"
    own.mkdir()
    shipped = (ROOT / "cost_model" / "data" / "prices" / "us-east-1.toml").read_text(encoding="utf-8")
    row = "[[rows]]" + shipped.split("[[rows]]")[1]
    assert '"0.35"' in row
    (own / "us-east-1.toml").write_text(row.replace('"0.35"', '"3.50"'), encoding="utf-8")
    folders = [out, out] if command == "diff" else [out, "--settings", synthesis.settings]

    def total(*arguments: object) -> float:
        found = document(command, *folders, *arguments)
        return float(found["total"]["new"] if command == "diff" else found["environments"]["dev"]["total"])

    assert round(total("--prices", own) - total(), 2) == round(9 * 6.675720, 2)
