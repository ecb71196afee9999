"""Drive the command line: exit status, streams, formats."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from cost_model.cli import app
from tests.cost_model.conftest import ARTICLE, USAGE, Synthesis

ROOT = Path(__file__).parents[2]


def run(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def estimate(synthesis: Synthesis, *arguments: object) -> Result:
    """Price a synthesised folder with its own settings."""
    return run("estimate", synthesis.write(), "--settings", synthesis.settings, *arguments)


def regimes(*arguments: object) -> dict[str, Any]:
    """Compare regimes on the article's file and return the JSON."""
    result = run("regimes", "--usage", ARTICLE, "--format", "json", *arguments)
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def spawn(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the module as a user does."""
    command = [sys.executable, "-m", "cost_model", *(str(argument) for argument in arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )


def test_regimes_json_holds_cents_beside_the_exact_total() -> None:
    """The shape that other tools read: decimal strings, switched-off lines left out."""
    document = regimes()
    metadata = document["regimes"]["metadata"]

    assert (document["currency"], document["region"]) == ("USD", "us-east-1")
    assert list(document["regimes"]) == ["metadata", "address", "archive", "content"]
    assert metadata["total"] == "32.31"
    assert metadata["exact"].startswith("32.3071875")
    assert metadata["lines"] == {
        "span_ingestion": "3.20",
        "event_ingestion": "0.00",
        "indexing": "5.94",
        "storage": "0.27",
        "queries": "22.89",
    }
    assert document["regimes"]["address"]["total"] == "60.87"
    assert document["regimes"]["content"]["total"] == "239.40"
    assert "E" not in metadata["exact"]


@pytest.mark.parametrize(("percent", "total", "indexing"), [(5, "551.72", "2.40"), (100, "608.72", "59.40")])
def test_the_command_line_overrides_the_file(percent: int, total: str, indexing: str) -> None:
    """Ten million sessions at another indexing percentage come out as published."""
    address = regimes("--sessions", 10_000_000, "--indexing", percent)["regimes"]["address"]

    assert address["total"] == total
    assert address["lines"]["queries"] == "476.84"
    assert address["lines"]["indexing"] == indexing


def test_estimate_prices_every_environment_with_its_own_usage(synthesis: Synthesis) -> None:
    """Regime, masking and indexing come from the stacks, traffic from the settings."""
    synthesis.add_environment("dev", regime="archive", indexing=1)
    synthesis.add_environment("prod", regime="content", masking=False, indexing=1)
    result = estimate(synthesis, "--format", "json")
    environments = json.loads(result.stdout)["environments"]

    assert result.exit_code == 0, result.stderr
    assert environments["dev"]["regime"] == "archive"
    assert {"masking", "archive_reads"} <= environments["dev"]["lines"].keys()
    assert environments["dev"]["lines"]["indexing"] == "0.00"
    prod = {"span_ingestion", "event_ingestion", "indexing", "storage", "queries"}
    assert environments["prod"]["lines"].keys() == prod
    assert "skip_ratio 0.9" in " ".join(environments["dev"]["assumptions"])
    assert "holds 12 months" in " ".join(environments["dev"]["assumptions"])
    assert "The price" not in result.stderr


def test_estimate_shows_what_depends_on_usage(synthesis: Synthesis) -> None:
    """An unknown line is printed with its unit price and listed under the total, never as 0."""
    synthesis.stacks = {"shop": {"provider": {"aws": {"region": "us-east-1"}}, "resource": {}}}
    table = estimate(synthesis).stdout
    document = json.loads(estimate(synthesis, "--format", "json").stdout)["environments"]["shop"]

    assert "Span ingestion: depends on usage: $0.35 per GB" in table
    assert document["total"] is None
    assert set(document["lines"].values()) == {None}
    assert document["depends_on_usage"]["queries"] == "$0.005 per GB"
    assert "could not be checked" in table


def test_estimate_takes_usage_from_another_file(synthesis: Synthesis, tmp_path: Path) -> None:
    """`--usage` stands over the settings, `--sessions` over both."""
    synthesis.add_environment("dev")
    usage = tmp_path / "usage.toml"
    usage.write_text(USAGE.replace("1_000_000", "50_000"), encoding="utf-8")

    def ingestion(*arguments: object) -> str:
        result = estimate(synthesis, "--format", "json", *arguments)
        return str(json.loads(result.stdout)["environments"]["dev"]["lines"]["span_ingestion"])

    assert ingestion() == "6.68"
    assert ingestion("--usage", usage) == "0.33"
    assert ingestion("--usage", usage, "--sessions", "10_000_000") == "66.76"


def test_stale_output_is_refused(synthesis: Synthesis) -> None:
    """Output that is older than its settings is not priced, and the message says what to run."""
    synthesis.add_environment("dev")
    synthesis.write()
    synthesis.set_file("dev.toml", USAGE + "\n# changed\n")
    result = spawn("estimate", synthesis.out, "--environment", "dev", "--settings", synthesis.settings)

    assert result.returncode == 2
    assert result.stdout == ""
    assert "dev.toml: changed since the stacks were made; run `make synth`" in result.stderr


def test_faults_of_all_environments_appear_at_once(synthesis: Synthesis) -> None:
    """One run shows what is wrong with each of them."""
    synthesis.add_environment("dev", regime="everything")
    synthesis.add_environment("prod", retention=-1)
    result = estimate(synthesis)

    assert result.exit_code == 2
    assert "'everything' is not a regime" in result.stderr
    assert "retention_in_days: -1" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("regimes", "--usage", ARTICLE, "--sessions", "-1"), "--sessions: -1 is not allowed"),
        (("regimes", "--usage", ARTICLE, "--sessions", "1.5"), "--sessions: 1.5 is not allowed"),
        (("regimes", "--usage", ARTICLE, "--sessions", "NaN"), "--sessions: NaN is not allowed"),
        (("regimes", "--usage", ARTICLE, "--sessions", "many"), '--sessions: "many" is not allowed'),
        (("regimes", "--usage", ARTICLE, "--indexing", "101"), "--indexing: 101 is not allowed"),
        (("regimes", "--usage", "gone.toml"), "gone.toml: cannot be read: No such file"),
        (("regimes", "--usage", ROOT), "cannot be read: Is a directory"),
        (("regimes", "--usage", ARTICLE, "--format", "xml"), "'xml' is not one of"),
        (("regimes",), "Missing option"),
        (("estimate", "gone"), "gone: no such folder; run `make synth`"),
    ],
)
def test_bad_input_exits_with_2(arguments: tuple[object, ...], message: str) -> None:
    """A refusal is said on stderr, without a traceback, and nothing is printed."""
    result = spawn(*arguments)

    assert result.returncode == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (USAGE, "no [deployed] table; add one with region"),
        ("[deployed]\nregion = 'us-east-1'", "no [usage] table; it holds: deployed"),
        (f"{USAGE}\n[deployed]\nregion = 'eu-west-1'", "Regions that have one: us-east-1"),
        (f"{USAGE}\n[deployed]\nregion = '../prices/us-east-1'", "Regions that have one: us-east-1"),
        ("[usage]\nsessions = ", "not valid TOML"),
        (f"[usage]\nsessions = {'9' * 5000}", "not valid TOML"),
        (f"a = {'[' * 100_000}", "not valid TOML"),
        ("\udcff", "not valid TOML"),
    ],
)
def test_a_usage_file_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    """Each fault of a usage file says what to do about it."""
    path = tmp_path / "usage.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = run("regimes", "--usage", path)

    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("manifest", "message"),
    [("{bad", "not valid JSON"), ("{}", "names no stack"), ('{"stacks": null}', "names no stack")],
)
def test_a_broken_manifest_takes_one_line(tmp_path: Path, manifest: str, message: str) -> None:
    """A manifest that is no JSON, or names no stacks, is refused on one line of stderr."""
    (tmp_path / "manifest.json").write_text(manifest, encoding="utf-8")
    result = run("estimate", tmp_path, "--format", "json")
    (line,) = result.stderr.splitlines()

    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"manifest.json: {message}" in line


@pytest.mark.parametrize("prefix", [(), ("cost",)])
def test_the_help_of_commands_is_whole_at_80_columns(prefix: tuple[str, ...]) -> None:
    """Alone or mounted, each command's line in the help fits."""
    parent = typer.Typer(rich_markup_mode=None)
    parent.callback()(lambda: None)
    parent.add_typer(app, name="cost")
    result = CliRunner().invoke(parent if prefix else app, [*prefix, "--help"], terminal_width=80)

    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "regimes Compare what the four capture regimes cost." in lines
    assert "estimate Price what was synthesised, before it is deployed." in lines
    assert "diff Show what a change costs, line by line." in lines
    assert "sensitivity Show which input moves the bill most." in lines
    assert "alternatives Price the same traffic under other vendors' plans." in lines
    assert "..." not in result.stdout.partition("Commands:")[2]


def test_json_lists_what_is_not_priced(synthesis: Synthesis) -> None:
    """Both commands say in a list what their totals leave out."""
    synthesis.add_environment("dev")
    priced = json.loads(estimate(synthesis, "--format", "json").stdout)

    assert priced["not_priced"] == regimes()["not_priced"]
    assert any(item.startswith("field indexes") for item in priced["not_priced"])


def test_names_from_files_cannot_steer_a_terminal(synthesis: Synthesis) -> None:
    """Escape sequences, markup and bidirectional controls stay out of tables and errors; pipes stay in their cell."""
    name = "\\u001b[31mred\\u202e [bold]x[/bold] a|b"
    synthesis.add_environment("dev")
    usage = synthesis.root / "usage.toml"
    usage.write_text(USAGE.replace("full scan", name), encoding="utf-8")
    table = estimate(synthesis, "--usage", usage).stdout
    markdown = estimate(synthesis, "--usage", usage, "--format", "markdown").stdout
    usage.write_text(USAGE.replace("[usage]", '[usage]\n"\\u001b[31m\\u202e" = 1', 1), encoding="utf-8")
    refusal = estimate(synthesis, "--usage", usage).stderr

    for text in (table, markdown, refusal):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "[bold]x[/bold] a|b" in table
    assert r"a\|b" in markdown


def test_a_terminal_gets_a_table_with_markup_left_alone(tmp_path: Path) -> None:
    """On a terminal rich draws the table, and what looks like markup is printed as it stands."""
    usage = tmp_path / "usage.toml"
    text = ARTICLE.read_text(encoding="utf-8")
    usage.write_text(text.replace("full scan", "[bold]x[/bold]"), encoding="utf-8")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cost_model", "regimes", "--usage", str(usage)]
    with subprocess.Popen(command, stdout=theirs, cwd=ROOT, env={**os.environ, "COLUMNS": "120", "TERM": "xterm"}):
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk
    os.close(ours)

    assert b"\x1b[" in shown
    assert b"32.31" in shown


def test_a_pipe_loads_neither_rich_nor_anything_of_the_other_parts() -> None:
    """A table in a pipe needs no rich, no boto3, no framework and no Node process."""
    code = (
        "import sys; from cost_model.cli import app\n"
        f"try: app(['regimes', '--usage', {str(ARTICLE)!r}])\n"
        "except SystemExit: pass\n"
        "heavy = {'rich', 'boto3', 'cdktf', 'jsii', 'stacks', 'console'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)

    assert result.stderr.strip() == "[]"


def test_all_environments_are_refused_when_one_was_never_synthesised(synthesis: Synthesis) -> None:
    """A new settings file makes the folder old for a run over everything, not for one over another environment."""
    synthesis.add_environment("dev")
    synthesis.set_file("qa.toml", USAGE)

    assert estimate(synthesis).exit_code == 2
    assert "qa.toml: no stack was made from this settings file" in estimate(synthesis).stderr
    assert estimate(synthesis, "--environment", "dev").exit_code == 0


def test_the_app_can_be_mounted_under_another_command(synthesis: Synthesis) -> None:
    """Mounted, a refusal still exits with 2 and is said on stderr."""
    parent = typer.Typer()
    parent.add_typer(app, name="cost")
    result = CliRunner().invoke(parent, ["cost", "estimate", str(synthesis.out)])

    assert result.exit_code == 2
    assert "no such folder" in result.stderr


def test_json_says_what_is_there_and_what_is_for_scale(synthesis: Synthesis) -> None:
    """What the stacks hold beside the group, and the agent's own cost apart from the total."""
    synthesis.add_environment("dev", regime="archive")
    stack = synthesis.stacks["agent-dev"]["resource"]
    stack["aws_cloudwatch_dashboard"] = {"d": {"dashboard_body": "{}"}}
    stack["aws_sns_topic"] = {"alerts": {"kms_master_key_id": "alias/aws/sns"}}
    dev = json.loads(estimate(synthesis, "--format", "json").stdout)["environments"]["dev"]

    assert dev["holds"] == {"dashboards": "1", "encrypted_by_key": True, "topic": True, "runtime": True}
    assert dev["lines"]["dashboards"] == "3.00"
    assert dev["depends_on_usage"] == {
        "alerts": "$0.50 per million messages",
        "kms_requests": "$3.00 per million requests",
    }
    assert dev["scale"].keys() == {"runtime_vcpu", "runtime_memory"}
    assert dev["scale_total"] is None
    assert (dev["trail"], dev["guard"]) == (dev["total"], None)
