"""The `rastro` command is installed and leads to the cost model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.synthesis import Synthesis

RASTRO = Path(sys.executable).with_name("rastro")
ARTICLE = ROOT / "cost_model" / "examples" / "article.toml"


def rastro(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([RASTRO, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_command_says_what_it_can_do() -> None:
    """Without arguments it shows its help, as an error; asked for help, as an answer."""
    bare, asked = rastro(), rastro("--help")

    assert (bare.returncode, asked.returncode) == (2, 0)
    assert "cost" in bare.stderr
    assert "cost" in asked.stdout


def test_cost_regimes_is_the_cost_model_s() -> None:
    """One command line, two doors."""
    through_rastro = rastro("cost", "regimes", "--usage", ARTICLE, "--format", "json")
    itself = subprocess.run(
        [sys.executable, "-m", "cost_model", "regimes", "--usage", ARTICLE, "--format", "json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert through_rastro.stdout == itself.stdout
    assert json.loads(through_rastro.stdout)["regimes"]["address"]["total"] == "60.87"


def test_a_refusal_has_status_two_and_no_traceback() -> None:
    """As everywhere."""
    answer = rastro("cost", "estimate", "no-such-folder")

    assert answer.returncode == 2
    assert answer.stderr.startswith("no-such-folder: ")
    assert "Traceback" not in answer.stderr


def test_every_shipped_environment_is_priced_from_what_was_synthesised(shipped: Synthesis) -> None:
    """No line depends on a number that a shipped file left out; how often keys are used, no file can state."""
    answer = rastro("cost", "estimate", shipped.folder, "--format", "json")

    found = json.loads(answer.stdout)
    assert answer.returncode == 0, answer.stderr
    assert set(found["environments"]) == {"dev", "staging", "prod"}
    for environment in found["environments"].values():
        assert [key for key, amount in environment["lines"].items() if amount is None] == ["kms_requests"]


def test_indexing_beyond_the_free_per_cent_is_read_from_the_account_stack(shipped: Synthesis) -> None:
    """Production indexes 5 per cent, sandbox the free one."""
    found = json.loads(rastro("cost", "estimate", shipped.folder, "--format", "json").stdout)["environments"]

    assert float(found["prod"]["lines"]["indexing"]) > 0
    assert found["staging"]["lines"]["indexing"] == "0.00"


def test_a_price_waits_for_nothing_that_the_agent_needs() -> None:
    """The door to every command imports none of the packages behind the others."""
    code = (
        "import sys, console.cli\n"
        "heavy = {'boto3', 'botocore', 'strands', 'opentelemetry', 'pydantic', 'http.client', 'console.ask', "
        "'console.dev', 'agent_image.retrieval.chunks', 'rich', 'sqlalchemy', 'jsonschema', 'console.tools', "
        "'console.approvals.commands', 'console.audit.commands', 'console.doctor.commands'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert loaded.stdout == "[]\n"


def test_a_local_question_waits_for_nothing_of_aws() -> None:
    """boto3 takes longer to import than an offline answer takes."""
    code = (
        "import sys, console.ask, console.screen\n"
        "heavy = {'boto3', 'botocore', 'strands', 'opentelemetry', 'pydantic', 'sqlalchemy', 'jsonschema', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert loaded.stdout == "[]\n"
