"""What holds a trail is let go, kept and taken back on purpose, and never by half."""

from __future__ import annotations

import json
from pathlib import Path

from tests.stacks.operating import HELD, put_terraform, stacks, state
from tests.synthesis import Synthesis


def test_a_kept_trail_leaves_the_state_and_the_rest_stays_in_it(out: Path, programs: Path, terraform_log: Path) -> None:
    """Only what is guarded and held is forgotten; what is kept is listed with the reason before anyone says yes."""
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
    out: Path, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """Table and buckets serve the next runtime too, and policies that are attached are changed where they are."""
    group = "aws_cloudwatch_log_group.log-group"
    attached = {"aws_iam_policy.reader": {"name": "rastro-prod-reader", "attachment_count": 1}}
    (tmp_path / "held").write_text(state({**{address: {} for address in (*HELD, group)}, **attached}))

    answer = stacks("release", "prod", "--yes", "--out", out, path=programs)

    assert answer.returncode == 0, answer.stderr
    assert [line for line in terraform_log.read_text().splitlines() if "rm" in line] == [f"state rm {group}"]


def test_attached_policies_are_named_before_anything_is_forgotten(
    out: Path, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """AWS deletes no policy that a role still has."""
    reader = {"aws_iam_policy.reader": {"name": "rastro-prod-reader", "attachment_count": 1}}
    (tmp_path / "held").write_text(state({**reader, "aws_s3_bucket.archive": {}}))

    answer = stacks("prepare-destroy", "prod", "--yes", "--out", out, path=programs)

    assert answer.returncode == 2
    assert "detach these policies from their roles first" in answer.stderr
    assert "rastro-prod-reader" in answer.stderr
    assert "state rm" not in terraform_log.read_text()


def test_another_name_than_the_environment_s_stops_everything(out: Path, programs: Path, terraform_log: Path) -> None:
    """`yes` is not an answer to the question which environment."""
    answer = stacks("prepare-destroy", "prod", "--out", out, path=programs, typed="yes\n")

    assert answer.returncode == 2
    assert "nothing was done" in answer.stderr
    assert "state rm" not in terraform_log.read_text()


def test_a_disposable_environment_has_nothing_to_let_go(
    shipped: Synthesis, out: Path, programs: Path, terraform_log: Path
) -> None:
    """Everything of it is destroyed, and the list says so."""
    answer = stacks("prepare-destroy", "dev", "--yes", "--out", out, path=programs)

    held = len(list(shipped["agent-dev"].each()))
    assert answer.stdout.strip() == f"agent-dev: {held} resources are destroyed, 0 are kept"
    assert "state rm" not in terraform_log.read_text()


def test_a_file_changed_to_delete_is_deployed_before_it_is_destroyed(
    out: Path, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """Else the destroy stops halfway at what AWS still guards, with the log group left and its masking gone."""
    table = {"aws_dynamodb_table.table": {"deletion_protection_enabled": True}}
    group = {"aws_cloudwatch_log_group.log-group": {"skip_destroy": True, "deletion_protection_enabled": False}}
    (tmp_path / "held").write_text(state({**table, **group, "aws_iam_role.role": {"skip_destroy": False}}))

    answer = stacks("prepare-destroy", "dev", "--yes", "--out", out, path=programs)

    assert answer.returncode == 2
    assert "guarded (aws_dynamodb_table.table, aws_cloudwatch_log_group.log-group): " in answer.stderr
    assert "run `make deploy ENV=dev` first" in answer.stderr
    assert terraform_log.read_text().splitlines() == ["init -input=false"]


def test_without_access_to_the_account_nothing_is_forgotten(out: Path, programs: Path, terraform_log: Path) -> None:
    """A state that forgot what nobody could then destroy would have to be mended by hand."""
    program = programs / "terraform"
    program.write_text(program.read_text().replace("  show)", '  apply) echo "no credentials" >&2; exit 1 ;;\n  show)'))

    answer = stacks("prepare-destroy", "prod", "--yes", "--out", out, path=programs)

    assert answer.returncode == 2
    assert "no credentials" in answer.stderr
    assert "state rm" not in terraform_log.read_text()


def test_outputs_are_printed_unwrapped(out: Path, programs: Path, terraform_log: Path) -> None:
    """A command that a terminal wrapped within words cannot be pasted."""
    answer = stacks("outputs", "prod", "--out", out, path=programs)

    assert answer.stdout == "invoke_command\n    aws bedrock-agentcore ...\n"
    assert terraform_log.exists()


def test_a_kept_trail_is_taken_back_by_its_names(out: Path, programs: Path, terraform_log: Path) -> None:
    """The table and the buckets with their guards; what the state holds already is left alone."""
    answer = stacks("adopt", "prod", "--out", out, path=programs)

    imports = [line.split()[2:] for line in terraform_log.read_text().splitlines() if line.startswith("import")]
    assert answer.returncode == 0, answer.stderr
    assert ["aws_s3_bucket.audit", "rastro-prod-audit-444455556666-us-east-1"] in imports
    assert ["aws_s3_bucket_policy.archive-tls-only", "rastro-prod-archive-444455556666-us-east-1"] in imports
    assert ["aws_s3_bucket_policy.audit-tls-only", "rastro-prod-audit-444455556666-us-east-1"] in imports
    assert not [address for address, _ in imports if address in {"aws_dynamodb_table.table", "aws_s3_bucket.archive"}]
    assert not [address for address, _ in imports if address.startswith("aws_cloudwatch")]


def test_a_group_comes_back_while_the_state_holds_its_runtime(
    out: Path, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """After a destroy that stopped halfway; a runtime that is made anew gets a group of its own."""
    runtime = {"aws_bedrockagentcore_agent_runtime.runtime": {"agent_runtime_id": "handbook_prod-a1B2c3D4e5"}}
    (tmp_path / "held").write_text(state(runtime))

    stacks("adopt", "prod", "--out", out, path=programs)

    group = "/aws/bedrock-agentcore/runtimes/handbook_prod-a1B2c3D4e5-live"
    for address in ("log_group.log-group", "log_data_protection_policy.masking", "log_index_policy.index"):
        assert f"import -input=false aws_cloudwatch_{address} {group}" in terraform_log.read_text().splitlines()


def test_a_terraform_that_fails_is_shown_with_its_own_words(out: Path, programs: Path) -> None:
    """What Terraform said, and where."""
    put_terraform(
        programs, 'case "$1" in version) echo "Terraform v1.11.4" ;; *) echo "no credentials" >&2; exit 1 ;; esac'
    )

    answer = stacks("adopt", "prod", "--out", out, path=programs)

    assert answer.returncode == 2
    assert "terraform init -input=false failed in " in answer.stderr
    assert "no credentials" in answer.stderr


def test_a_table_is_taken_back_by_its_name(out: Path, tmp_path: Path, programs: Path, terraform_log: Path) -> None:
    """The state after a destroy holds nothing."""
    (tmp_path / "held").write_text("{}")

    stacks("adopt", "prod", "--out", out, path=programs)

    assert "import -input=false aws_dynamodb_table.table rastro-prod-state" in terraform_log.read_text().splitlines()


def test_nothing_is_taken_back_of_an_environment_that_keeps_nothing(
    out: Path, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """What is not there cannot be imported."""
    (tmp_path / "held").write_text("{}")

    answer = stacks("adopt", "dev", "--out", out, path=programs)

    assert (answer.returncode, answer.stdout) == (0, "")
    assert terraform_log.read_text().splitlines() == ["init -input=false"]


def test_what_is_no_longer_declared_is_let_go_before_a_destroy(
    out: Path, tmp_path: Path, programs: Path, terraform_log: Path
) -> None:
    """A destroy heeds no `removed` block: a mask that left the file would leave the kept group too."""
    mask = "aws_cloudwatch_log_data_protection_policy.masking"
    (tmp_path / "held").write_text(state({mask: {}, "aws_iam_role.role": {}}))
    synthesised = out / "stacks" / "agent-prod" / "cdk.tf.json"
    document = json.loads(synthesised.read_text())
    del document["resource"]["aws_cloudwatch_log_data_protection_policy"]
    synthesised.write_text(json.dumps({**document, "removed": [{"from": mask, "lifecycle": {"destroy": False}}]}))

    answer = stacks("prepare-destroy", "prod", "--yes", "--out", out, path=programs)

    assert answer.returncode == 0, answer.stderr
    assert f"kept  {mask}: is no longer declared, and stays as it is" in answer.stdout
    assert terraform_log.read_text().splitlines()[-1] == f"state rm {mask}"
