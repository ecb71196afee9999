"""The commands behind `make`: what they list, what they refuse, and how."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.synthesis import Synthesis

REAL_ACCOUNT = "210987654321"
DIGEST = f"sha256:{'ab' * 32}"


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Copy the shipped settings, with an account that is no documentation id and an image that was pushed."""
    folder = tmp_path / "environments"
    shutil.copytree(ROOT / "environments", folder)
    for path in folder.rglob("*.toml"):
        text = path.read_text().replace("111122223333", REAL_ACCOUNT).replace(f"sha256:{'0' * 64}", DIGEST)
        path.write_text(text)
    return folder


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Give a folder for PATH that holds no program but those that a test puts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def stacks(*arguments: str | Path, path: Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stacks", *map(str, arguments)],
        cwd=ROOT,
        env={"PATH": str(path), "HOME": os.environ["HOME"]},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )


def put_terraform(programs: Path, script: str) -> None:
    program = programs / "terraform"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


NEW_TERRAFORM = 'echo "Terraform v1.11.4"'


def test_the_list_counts_the_resources_of_each_stack(shipped: Synthesis, programs: Path) -> None:
    """One line a stack."""
    answer = stacks("list", "--out", shipped.folder, path=programs)

    lines = dict(line.split(maxsplit=1) for line in answer.stdout.splitlines())
    assert set(lines) == set(shipped.stacks)
    assert lines["agent-dev"] == f"{len(list(shipped['agent-dev'].each()))} resources"


def test_the_stacks_of_an_environment_begin_with_its_account(programs: Path) -> None:
    """`cdktf deploy` wants both."""
    assert stacks("of", "prod", path=programs).stdout.split() == ["account-production", "agent-prod"]


def test_an_unknown_environment_is_refused_with_the_nearest_name(programs: Path) -> None:
    """Status 2, one line, no traceback."""
    answer = stacks("of", "pord", path=programs)

    assert answer.returncode == 2
    assert answer.stderr.strip() == ("environment 'pord': there is no such file in environments/; did you mean prod?")


@pytest.mark.parametrize("command", [("check-terraform",), ("check-environment", "dev"), ("check-account", "sandbox")])
def test_a_missing_terraform_is_said_in_one_line(command: tuple[str, ...], programs: Path) -> None:
    """Together with whatever else is wrong."""
    answer = stacks(*command, path=programs)

    assert answer.returncode == 2
    assert answer.stderr.count("terraform is not on PATH: install Terraform 1.10 or newer") == 1


def test_a_terraform_too_old_for_the_lock_file_is_refused(programs: Path) -> None:
    """S3's native lock file came with 1.10."""
    put_terraform(programs, 'echo "Terraform v1.9.8"')

    answer = stacks("check-terraform", path=programs)

    assert (answer.returncode, answer.stderr.strip()) == (2, "Terraform v1.9.8: is too old; allowed: 1.10 or newer")


def test_a_new_terraform_passes_in_silence(programs: Path) -> None:
    """Nothing to say is nothing said."""
    put_terraform(programs, NEW_TERRAFORM)

    answer = stacks("check-terraform", path=programs)

    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_documentation_accounts_and_placeholder_images_are_not_deployed(programs: Path) -> None:
    """The shipped files are examples, and say so before Terraform is asked anything."""
    put_terraform(programs, NEW_TERRAFORM)

    environment = stacks("check-environment", "prod", path=programs)
    account = stacks("check-account", "sandbox", path=programs)

    assert environment.returncode == account.returncode == 2
    assert "environments/accounts/production.toml: account_id = 444455556666" in environment.stderr
    assert "environments/prod.toml: agent.image: is the placeholder" in environment.stderr
    assert "environments/accounts/sandbox.toml: account_id = 111122223333" in account.stderr


def test_an_account_and_an_image_of_one_s_own_pass(settings: Path, programs: Path) -> None:
    """The check refuses examples, not deployments."""
    put_terraform(programs, NEW_TERRAFORM)

    assert stacks("check-environment", "dev", "--settings", settings, path=programs).returncode == 0
    assert stacks("check-account", "sandbox", "--settings", settings, path=programs).returncode == 0


def test_faults_in_the_settings_are_shown_by_every_command(settings: Path, programs: Path) -> None:
    """As `main.py` shows them."""
    (settings / "dev.toml").write_text("x = [")

    answer = stacks("of", "dev", "--settings", settings, path=programs)

    assert answer.returncode == 2
    assert "environments/dev.toml: is not readable TOML" in answer.stderr


RECORDING_TERRAFORM = """
case "$1" in
  version) echo "Terraform v1.11.4" ;;
  show) cat "$HELD" ;;
  output) echo '{"invoke_command": {"value": "aws bedrock-agentcore ..."}}' ;;
  *) echo "$@" >> "$LOG" ;;
esac
"""


HELD = ("aws_dynamodb_table.table", "aws_s3_bucket.archive", "aws_iam_role.role")


def state(resources: Mapping[str, Mapping[str, object]]) -> str:
    listed = [{"address": address, "values": values} for address, values in resources.items()]
    return json.dumps({"values": {"root_module": {"resources": listed}}})


@pytest.fixture
def terraform_log(tmp_path: Path, programs: Path) -> Path:
    """Put a terraform on PATH that holds what a file says and writes down what it is asked."""
    log, held = tmp_path / "log", tmp_path / "held"
    held.write_text(state({address: {} for address in HELD}))
    script = f"LOG={log}\nHELD={held}\nPATH=/usr/bin:/bin\n{RECORDING_TERRAFORM}"
    put_terraform(programs, script)
    return log


def synthesised(shipped: Synthesis, tmp_path: Path) -> Path:
    out = tmp_path / "out"
    shutil.copytree(shipped.folder, out)
    return out


def test_a_kept_trail_leaves_the_state_and_the_rest_stays_in_it(
    shipped: Synthesis, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """Only what is guarded and held is forgotten; what is kept is listed with the reason before anyone says yes."""
    out = synthesised(shipped, tmp_path)

    answer = stacks("prepare-destroy", "prod", "--out", out, path=programs, typed="prod\n")

    assert answer.returncode == 0, answer.stderr
    assert terraform_log.read_text().splitlines() == [
        "init -input=false",
        "apply -refresh-only -auto-approve -input=false",
        "state rm aws_dynamodb_table.table aws_s3_bucket.archive",
    ]
    assert "kept  aws_dynamodb_table.table: holds checkpoints, decisions, sessions and fingerprints" in answer.stdout
    assert "2 resources left Terraform's state and stay in AWS" in answer.stdout


def test_before_a_rename_only_the_log_group_is_let_go(
    shipped: Synthesis, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """Table and buckets serve the next runtime too, and policies that are attached are changed where they are."""
    group = "aws_cloudwatch_log_group.log-group"
    attached = {"aws_iam_policy.reader": {"name": "rastro-prod-reader", "attachment_count": 1}}
    (tmp_path / "held").write_text(state({**{address: {} for address in (*HELD, group)}, **attached}))

    answer = stacks("release", "prod", "--yes", "--out", synthesised(shipped, tmp_path), path=programs)

    assert answer.returncode == 0, answer.stderr
    assert [line for line in terraform_log.read_text().splitlines() if "rm" in line] == [f"state rm {group}"]


def test_attached_policies_are_named_before_anything_is_forgotten(
    shipped: Synthesis, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """AWS deletes no policy that a role still has."""
    reader = {"aws_iam_policy.reader": {"name": "rastro-prod-reader", "attachment_count": 1}}
    (tmp_path / "held").write_text(state({**reader, "aws_s3_bucket.archive": {}}))

    answer = stacks("prepare-destroy", "prod", "--yes", "--out", synthesised(shipped, tmp_path), path=programs)

    assert answer.returncode == 2
    assert "detach these policies from their roles first" in answer.stderr
    assert "rastro-prod-reader" in answer.stderr
    assert "state rm" not in terraform_log.read_text()


def test_another_name_than_the_environment_s_stops_everything(
    shipped: Synthesis, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """`yes` is not an answer to the question which environment."""
    answer = stacks("prepare-destroy", "prod", "--out", synthesised(shipped, tmp_path), path=programs, typed="yes\n")

    assert answer.returncode == 2
    assert "nothing was done" in answer.stderr
    assert terraform_log.read_text().splitlines() == ["init -input=false"]


def test_a_disposable_environment_has_nothing_to_let_go(
    shipped: Synthesis, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """Everything of it is destroyed, and the list says so."""
    answer = stacks("prepare-destroy", "dev", "--yes", "--out", synthesised(shipped, tmp_path), path=programs)

    assert answer.stdout.strip() == "agent-dev: 28 resources are destroyed, 0 are kept"
    assert "state rm" not in terraform_log.read_text()


def test_a_file_changed_to_delete_is_deployed_before_it_is_destroyed(
    shipped: Synthesis, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """Else the destroy stops halfway at what AWS still guards, with the log group left and its masking gone."""
    guarded = {"aws_dynamodb_table.table": {"deletion_protection_enabled": True}, "aws_iam_role.role": {}}
    (tmp_path / "held").write_text(state(guarded))

    answer = stacks("prepare-destroy", "dev", "--yes", "--out", synthesised(shipped, tmp_path), path=programs)

    assert answer.returncode == 2
    assert "guarded (aws_dynamodb_table.table): run `make deploy ENV=dev` first" in answer.stderr
    assert terraform_log.read_text().splitlines() == ["init -input=false"]


def test_without_access_to_the_account_nothing_is_forgotten(
    shipped: Synthesis, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """A state that forgot what nobody could then destroy would have to be mended by hand."""
    program = programs / "terraform"
    program.write_text(program.read_text().replace("  show)", '  apply) echo "no credentials" >&2; exit 1 ;;\n  show)'))

    answer = stacks("prepare-destroy", "prod", "--yes", "--out", synthesised(shipped, tmp_path), path=programs)

    assert answer.returncode == 2
    assert "no credentials" in answer.stderr
    assert "state rm" not in terraform_log.read_text()


def test_outputs_are_printed_unwrapped(shipped: Synthesis, tmp_path: Path, programs: Path, terraform_log: Path) -> None:
    """A command that a terminal wrapped within words cannot be pasted."""
    answer = stacks("outputs", "prod", "--out", synthesised(shipped, tmp_path), path=programs)

    assert answer.stdout == "invoke_command\n    aws bedrock-agentcore ...\n"
    assert terraform_log.exists()


def test_a_kept_trail_is_taken_back_by_its_names(
    shipped: Synthesis, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """The table and the buckets with their guards; what the state holds already is left alone."""
    answer = stacks("adopt", "prod", "--out", synthesised(shipped, tmp_path), path=programs)

    imports = [line.split()[2:] for line in terraform_log.read_text().splitlines() if line.startswith("import")]
    assert answer.returncode == 0, answer.stderr
    assert ["aws_s3_bucket.audit", "rastro-prod-audit-444455556666-us-east-1"] in imports
    assert ["aws_s3_bucket_policy.archive-tls-only", "rastro-prod-archive-444455556666-us-east-1"] in imports
    assert not [address for address, _ in imports if address in {"aws_dynamodb_table.table", "aws_s3_bucket.archive"}]
    assert not [address for address, _ in imports if address.startswith("aws_cloudwatch")]


def test_a_group_comes_back_while_the_state_holds_its_runtime(
    shipped: Synthesis, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """After a destroy that stopped halfway; a runtime that is made anew gets a group of its own."""
    runtime = {"aws_bedrockagentcore_agent_runtime.runtime": {"agent_runtime_id": "handbook_prod-a1B2c3D4e5"}}
    (tmp_path / "held").write_text(state(runtime))

    stacks("adopt", "prod", "--out", synthesised(shipped, tmp_path), path=programs)

    group = "/aws/bedrock-agentcore/runtimes/handbook_prod-a1B2c3D4e5-live"
    for address in ("log_group.log-group", "log_data_protection_policy.masking", "log_index_policy.index"):
        assert f"import -input=false aws_cloudwatch_{address} {group}" in terraform_log.read_text().splitlines()


def test_a_terraform_that_fails_is_shown_with_its_own_words(shipped: Synthesis, tmp_path: Path, programs: Path) -> None:
    """What Terraform said, and where."""
    put_terraform(
        programs, 'case "$1" in version) echo "Terraform v1.11.4" ;; *) echo "no credentials" >&2; exit 1 ;; esac'
    )

    answer = stacks("adopt", "prod", "--out", synthesised(shipped, tmp_path), path=programs)

    assert answer.returncode == 2
    assert "terraform init -input=false failed in " in answer.stderr
    assert "no credentials" in answer.stderr


def test_without_a_synthesis_the_next_step_is_named(tmp_path: Path, programs: Path) -> None:
    """An empty folder is not zero stacks."""
    answer = stacks("list", "--out", tmp_path / "nothing", path=programs)

    assert answer.returncode == 2
    assert answer.stderr.strip().endswith("holds no synthesised stacks; run `make synth`")


FAKE_DOCKER = """
echo "$@" > "$LOG"
while [ $# -gt 0 ]; do
  if [ "$1" = --metadata-file ]; then echo "$METADATA" > "$2"; fi
  shift
done
"""


def image(
    project: Path, programs: Path, *, metadata: str, then: str = ""
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run `stacks image dev v1` in a project with a Dockerfile, with a docker that writes down what it is asked."""
    (project / "agent_image").mkdir()
    (project / "agent_image" / "Dockerfile").write_text("FROM scratch\n")
    log = project / "docker.log"
    program = programs / "docker"
    program.write_text(f"#!/bin/sh\nLOG={log}\nMETADATA='{metadata}'\n{FAKE_DOCKER}\n{then}\n")
    program.chmod(0o755)
    answer = subprocess.run(
        [sys.executable, "-m", "stacks", "image", "dev", "v1"],
        cwd=project,
        env={"PATH": str(programs), "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return answer, log


def test_the_digest_of_a_pushed_image_is_written_into_the_environment_file(settings: Path, programs: Path) -> None:
    """One line changes, every comment stays; the image is built for the platform that AgentCore runs."""
    before = (settings / "dev.toml").read_text()
    pushed = f"sha256:{'cd' * 32}"

    answer, log = image(settings.parent, programs, metadata=f'{{"containerimage.digest": "{pushed}"}}')

    assert answer.returncode == 0, answer.stderr
    assert (settings / "dev.toml").read_text() == before.replace(DIGEST, pushed)
    asked = log.read_text().split()
    assert asked[asked.index("--platform") + 1] == "linux/arm64"
    assert asked[asked.index("--tag") + 1] == f"{REAL_ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/rastro-agent:v1"


@pytest.mark.parametrize(("metadata", "then"), [("{}", "exit 1"), ("{}", "")])
def test_a_failed_push_leaves_the_file_alone(settings: Path, programs: Path, metadata: str, then: str) -> None:
    """Whether docker fails or reports no digest."""
    before = (settings / "dev.toml").read_text()

    answer, _ = image(settings.parent, programs, metadata=metadata, then=then)

    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr
    assert (settings / "dev.toml").read_text() == before


def test_a_broken_manifest_is_said_in_one_line(tmp_path: Path, programs: Path) -> None:
    """Whatever is wrong with it, the way out is named."""
    for text in (
        "{bad",
        "[]",
        '{"stacks": {"agent-dev": {}}}',
        '{"stacks": {"x": {"synthesizedStackPath": "nowhere"}}}',
    ):
        (tmp_path / "manifest.json").write_text(text)

        answer = stacks("list", "--out", tmp_path, path=programs)

        assert answer.returncode == 2
        assert "is not what a synthesis wrote" in answer.stderr
        assert "Traceback" not in answer.stderr


def test_what_a_brought_role_and_a_key_need_is_printed_before_the_first_deployment(programs: Path) -> None:
    """From the settings alone: nothing is synthesised, and Terraform is not asked."""
    variants = ROOT / "tests" / "stacks" / "variants"

    brought = stacks("needs", "brought", "--settings", variants, path=programs)
    locked = stacks("needs", "locked", "--settings", variants, path=programs)
    plain = stacks("needs", "plain", "--settings", variants, path=programs)

    assert "trust policy of arn:aws:iam::777788889999:role/agents/brought-along:" in brought.stdout
    assert '"NeverDecide"' in brought.stdout
    assert '"CloudWatchLogsEncryptsAgentGroups"' in locked.stdout
    assert plain.stdout == "plain: nothing; the stack makes its own role, and no key of yours is used\n"


@pytest.mark.parametrize("target", ["destroy", "deploy", "release", "diff", "needs"])
def test_an_environment_variable_named_env_is_not_taken_for_an_environment(target: str) -> None:
    """Shells and CI systems use the name for their own ends: what is destroyed is said on the command line."""
    answer = subprocess.run(
        ["make", "-n", target],  # noqa: S607
        cwd=ROOT,
        env={**os.environ, "ENV": "prod", "APPROVE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "prod" not in answer.stdout
    assert "--yes" not in answer.stdout
    assert "--auto-approve" not in answer.stdout.replace('destroy "agent-" --auto-approve', "")
