"""Find environments in a synthesised folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cost_model.deployed import read_deployed
from cost_model.errors import CostError, SynthesisError
from cost_model.synthesis import read_environments
from tests.cost_model.conftest import Synthesis


def test_an_environment_comes_with_the_account_it_depends_on(synthesis: Synthesis) -> None:
    """The agent stack is first, the stacks it depends on follow; an account alone is no environment."""
    synthesis.add_environment("dev")
    synthesis.add_environment("prod")
    environments = read_environments(synthesis.write())

    assert [environment.name for environment in environments] == ["dev", "prod"]
    assert [stack.name for stack in environments[0].stacks] == ["agent-dev", "account-sandbox"]


def test_only_what_is_asked_for_is_read(synthesis: Synthesis) -> None:
    """A broken stack of another environment does not stand in the way."""
    synthesis.add_environment("dev")
    synthesis.add_environment("prod")
    out = synthesis.write()
    (out / "stacks/agent-prod/cdk.tf.json").write_text("{", encoding="utf-8")

    assert len(read_environments(out, "dev")) == 1
    with pytest.raises(CostError, match="not valid JSON"):
        read_environments(out)


def test_an_unknown_environment_is_refused_with_those_there_are(synthesis: Synthesis) -> None:
    """The message lists what the folder holds."""
    synthesis.add_environment("dev")

    with pytest.raises(SynthesisError, match="no environment 'qa'; it holds: dev"):
        read_environments(synthesis.write(), "qa")


def test_stacks_of_other_people_are_environments_unless_another_needs_them(synthesis: Synthesis) -> None:
    """Without our prefix, what nobody depends on is deployed for its own sake."""
    synthesis.stacks = {"network": {"resource": {}}, "shop": {"resource": {}}, "blog": {"resource": {}}}
    synthesis.needs = {"shop": ["network"]}
    environments = read_environments(synthesis.write())

    assert {each.name: len(each.stacks) for each in environments} == {"shop": 2, "blog": 1}


def test_terraform_json_needs_no_manifest(tmp_path: Path) -> None:
    """A folder of `.tf.json` files, or one of them, is an environment."""
    folder = tmp_path / "infra"
    folder.mkdir()
    for name in ("main", "logs"):
        (folder / f"{name}.tf.json").write_text('{"resource": {}}', encoding="utf-8")

    assert [len(each.stacks) for each in read_environments(folder)] == [2]
    assert read_environments(folder)[0].name == "infra"
    assert read_environments(folder / "main.tf.json")[0].name == "main"


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "holds a JSON list"),
        ("{}", "names no stack"),
        ('{"stacks": {"agent-dev": {}}}', "synthesizedStackPath must name a file"),
        ('{"stacks": {"agent-dev": {"synthesizedStackPath": "../../x.json"}}}', "must name a file under"),
        ('{"stacks": {"agent-dev": {"synthesizedStackPath": "gone.json"}}}', "cannot be read"),
        ('{"stacks": {"agent-dev": {"dependencies": ["account-x"]}}}', "depends on 'account-x', which is not there"),
        ('{"stacks": {"a": {"dependencies": ["b"]}, "b": {"dependencies": ["a"]}}}', "names no stack"),
        ("[" * 100_000, "nested too deeply"),
        ('{"stacks": NaN}', "NaN is not a JSON number"),
    ],
)
def test_a_broken_manifest_is_refused(tmp_path: Path, manifest: str, message: str) -> None:
    """Each way to be broken has its reason."""
    (tmp_path / "manifest.json").write_text(manifest, encoding="utf-8")

    with pytest.raises(CostError, match=message):
        read_environments(tmp_path)


def test_json_that_is_no_terraform_is_refused(tmp_path: Path) -> None:
    """A package file is JSON, too."""
    path = tmp_path / "x.tf.json"
    path.write_text(json.dumps({"name": "left-pad"}), encoding="utf-8")

    with pytest.raises(SynthesisError, match="not Terraform"):
        read_environments(path)


def test_a_folder_without_terraform_is_refused(tmp_path: Path) -> None:
    """Missing and empty folders say how to fill them."""
    with pytest.raises(SynthesisError, match="run `make synth`"):
        read_environments(tmp_path / "gone")
    with pytest.raises(SynthesisError, match="run `make synth`"):
        read_environments(tmp_path)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    """A file beyond any synthesised stack is refused with its size."""
    path = tmp_path / "x.tf.json"
    with path.open("wb") as file:
        file.truncate(100_000_000)

    with pytest.raises(CostError, match="100,000,000 bytes"):
        read_environments(path)


def test_a_pipe_is_refused_unopened(tmp_path: Path) -> None:
    """Nobody may ever write into it, and its reader would wait for ever."""
    os.mkfifo(tmp_path / "x.tf.json")

    with pytest.raises(CostError, match="not a file"):
        read_environments(tmp_path)


def test_a_shared_stack_is_counted_with_the_first_environment(synthesis: Synthesis) -> None:
    """Each environment reads its account's stack; what is charged by the piece is counted in one of them."""
    synthesis.add_environment("dev")
    synthesis.add_environment("prod")
    synthesis.stacks["account-sandbox"]["resource"]["aws_cloudwatch_dashboard"] = {"d": {"dashboard_body": "{}"}}
    out = synthesis.write()
    dev, prod = (read_deployed(environment) for environment in read_environments(out))
    alone = read_deployed(read_environments(out, "prod")[0])

    assert [each.pieces.dashboards for each in (dev, prod, alone)] == [1, 0, 1]
    assert "what account-sandbox holds is counted once, with dev" in prod.assumptions
    assert not any("counted once" in text for each in (dev, alone) for text in each.assumptions)
