"""Drive `diff`: folders, git references, ceilings, refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cost_model.cli import app
from cost_model.freshness import digest_of
from tests.cost_model.conftest import USAGE, Synthesis

ROOT = Path(__file__).parents[2]
FAKE = """
import json, os, pathlib, sys
regime = pathlib.Path("regime").read_text().strip()
if regime == "broken":
    sys.exit("the settings are at fault")
if regime == "slow":
    pathlib.Path(os.environ["STARTED"]).write_text("yes")
    import time; time.sleep(60)
out = pathlib.Path(os.environ.get("CDKTF_OUTDIR", "cdktf.out"))
stack = json.loads(pathlib.Path("stack.json").read_text().replace("REGIME", regime))
(out / "stacks/agent-dev").mkdir(parents=True)
(out / "stacks/agent-dev/cdk.tf.json").write_text(json.dumps(stack))
entry = {"name": "agent-dev", "synthesizedStackPath": "stacks/agent-dev/cdk.tf.json", "dependencies": []}
(out / "manifest.json").write_text(json.dumps({"stacks": {"agent-dev": entry}}))
"""


def run(*arguments: object) -> Result:
    """Run `diff` in this process."""
    return CliRunner().invoke(app, ["diff", *(str(argument) for argument in arguments)])


def spawn(*arguments: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `diff` as a user does."""
    command = [sys.executable, "-m", "cost_model", "diff", *(str(argument) for argument in arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, env=environment)


def git(folder: Path, *arguments: str) -> str:
    """Run git with an identity of its own."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", *identity, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Synthesis, Synthesis]:
    """Make two projects that differ in their regime."""
    base, head = Synthesis(tmp_path / "base"), Synthesis(tmp_path / "head")
    base.add_environment("dev", regime="content")
    head.add_environment("dev", regime="archive")
    return base, head


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a repository whose program writes the regime that a file names: content in its first commit."""
    folder = tmp_path / "project"
    (folder / "environments").mkdir(parents=True)
    (folder / "environments" / "dev.toml").write_text(USAGE, encoding="utf-8")
    (folder / "main.py").write_text(FAKE, encoding="utf-8")
    group = {"name": "/aws/bedrock-agentcore/runtimes/x-live", "retention_in_days": 30}
    stack = {
        "provider": {"aws": [{"region": "us-east-1"}]},
        "resource": {
            "aws_bedrockagentcore_agent_runtime": {"r": {"environment_variables": {"RAG_CAPTURE": "REGIME"}}},
            "aws_cloudwatch_log_group": {"trail": group},
        },
    }
    (folder / "stack.json").write_text(json.dumps(stack), encoding="utf-8")
    (folder / ".gitignore").write_text("cdktf.out\n", encoding="utf-8")
    (folder / "regime").write_text("content", encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "First")
    (folder / "regime").write_text("address", encoding="utf-8")
    return folder


def left_over(project: Path) -> list[str]:
    """Name what a comparison left behind: worktrees of the repository, and changed files."""
    worktrees = git(project, "worktree", "list", "--porcelain").count("worktree ")
    return [*(["a worktree"] * (worktrees - 1)), *git(project, "status", "--porcelain").split("\n")[1:-1]]


def document(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Read the JSON of a comparison that worked."""
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_two_folders_each_bring_their_own_settings(sides: tuple[Synthesis, Synthesis]) -> None:
    """The settings beside each folder say its usage: half the sessions before, so part of the rise is usage."""
    base, head = sides
    few = base.set_file("dev.toml", USAGE.replace("1_000_000", "500_000"))
    base.stacks["agent-dev"]["locals"]["rastro_settings"]["dev.toml"] = digest_of(few.read_bytes())
    result = run(base.write(), head.write(), "--format", "json")
    found = json.loads(result.stdout)

    assert result.exit_code == 0, result.stderr
    assert {"environment": "dev", "of": "usage", "change": "sessions: 500,000 -> 1,000,000"} in found["facts"]
    assert {"environment": "dev", "of": "deployed", "change": "regime: content -> archive"} in found["facts"]
    assert float(found["total"]["of_which_usage"]) > 0


def test_a_usage_file_holds_for_both_sides(sides: tuple[Synthesis, Synthesis], tmp_path: Path) -> None:
    """Then nothing of the difference is usage."""
    base, head = sides
    usage = tmp_path / "usage.toml"
    usage.write_text(USAGE.replace("1_000_000", "10_000_000"), encoding="utf-8")
    found = json.loads(run(base.write(), head.write(), "--usage", usage, "--format", "json").stdout)

    assert float(found["total"]["of_which_usage"]) == 0
    assert {each["of"] for each in found["facts"]} == {"deployed"}


def test_a_saved_folder_without_settings_borrows_the_usage_of_the_other(
    sides: tuple[Synthesis, Synthesis], tmp_path: Path
) -> None:
    """A build that kept nothing but its output is compared all the same, and the report says what was taken."""
    base, head = sides
    saved = base.write().rename(tmp_path / "saved")
    result = run(saved, head.write())

    assert result.exit_code == 0, result.stderr
    assert "before: no usage is at hand: that of the other side is taken" in result.stdout
    assert "regime: content -> archive" in result.stdout
    assert "[usage] differs" not in result.stdout


def test_head_without_settings_beside_it_takes_those_of_where_the_command_runs(
    sides: tuple[Synthesis, Synthesis], tmp_path: Path
) -> None:
    """As `estimate` does: head is what the project here was synthesised to, wherever that was written."""
    base, head = sides
    saved = head.write().rename(tmp_path / "saved")
    head.set_file("dev.toml", USAGE + "\n# changed\n")
    result = spawn(base.write(), saved, cwd=head.root)

    assert result.returncode == 2
    assert "environments/dev.toml: changed since the stacks were made" in result.stderr


def test_a_folder_against_itself_says_that_nothing_differs(sides: tuple[Synthesis, Synthesis]) -> None:
    """In every format, with status 0 under any ceiling on increase."""
    out = sides[0].write()
    table, markdown = run(out, out), run(out, out, "--format", "markdown")
    as_json = run(out, out, "--format", "json", "--max-increase", "0")

    assert (table.exit_code, as_json.exit_code) == (0, 0)
    assert table.stdout.startswith("No difference in monthly cost: ")
    assert markdown.stdout.startswith("### No difference in monthly cost: ")
    assert json.loads(as_json.stdout)["rows"] == []


def test_markdown_for_a_pull_request_starts_with_its_summary(sides: tuple[Synthesis, Synthesis]) -> None:
    """One line that says it all, then a table with a row for each line that moved."""
    base, head = sides
    lines = run(base.write(), head.write(), "--format", "markdown").stdout.splitlines()

    assert lines[0].startswith("### Monthly cost: ")
    assert " before, " in lines[0]
    assert lines[2] == "| Environment | Line | Before | After | Difference | Per cent |"
    assert any(line.startswith("| dev | Archive storage | - | ") for line in lines)


@pytest.mark.parametrize(
    ("ceiling", "status"),
    [
        (("--max-monthly", "20"), 3),
        (("--max-monthly", "1000"), 0),
        (("--max-increase", "10"), 3),
        (("--max-increase", "1000"), 0),
        (("--max-monthly", "1000", "--max-increase", "10"), 3),
    ],
)
def test_a_broken_ceiling_exits_with_3(
    sides: tuple[Synthesis, Synthesis], ceiling: tuple[str, ...], status: int
) -> None:
    """The whole report is printed, and standard error names the line that did it."""
    head, base = sides
    result = run(base.write(), head.write(), *ceiling)

    assert result.exit_code == status
    assert result.stdout.startswith("Monthly cost: ")
    assert ("Over the ceiling" in result.stdout) == bool(status)
    assert ("what grew: dev: Logs Insights queries +" in result.stderr) == bool(status)


def test_a_ceiling_says_what_it_cannot_speak_of(sides: tuple[Synthesis, Synthesis], tmp_path: Path) -> None:
    """Unknown lines pass no ceiling in silence: standard error names them, and the status stays that of the known."""
    base, head = sides
    usage = tmp_path / "usage.toml"
    usage.write_text("[usage]\npassages_per_session = 10\n", encoding="utf-8")
    result = run(base.write(), head.write(), "--usage", usage, "--max-monthly", "1")

    assert result.exit_code == 0
    assert "the ceilings hold for what is known; depends on usage: " in result.stderr
    assert "Span ingestion (dev)" in result.stderr
    assert "under no ceiling" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name two folders of synthesised Terraform, BASE and HEAD, or --git REF"),
        (("one",), "name two folders"),
        (("one", "two", "--git", "main"), "one folder too many"),
        (("gone", "gone"), "gone: no such folder"),
        (("gone", "gone", "--max-monthly", "-1", "--max-increase", "lots"), "--max-monthly: -1 is not allowed"),
        (("gone", "gone", "--max-monthly", "-1", "--max-increase", "lots"), '--max-increase: "lots" is not allowed'),
        (("gone", "gone", "--max-monthly", "NaN"), "--max-monthly: NaN is not allowed"),
    ],
)
def test_bad_input_exits_with_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """Said on standard error, nothing on standard output, nothing written."""
    result = spawn(*arguments, cwd=tmp_path)

    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_environment_that_neither_side_has_is_refused(sides: tuple[Synthesis, Synthesis]) -> None:
    """One that one side alone has is compared with nothing."""
    base, head = sides
    head.add_environment("qa")
    ours, theirs = base.write(), head.write()

    assert (
        "no environment 'prod' on either side; they hold: dev, qa" in run(ours, theirs, "--environment", "prod").stderr
    )
    assert "qa appears" in run(ours, theirs, "--environment", "qa").stdout


def test_stale_output_of_either_side_is_refused(sides: tuple[Synthesis, Synthesis]) -> None:
    """Faults of both sides are said at once."""
    base, head = sides
    folders = base.write(), head.write()
    for each in sides:
        each.set_file("dev.toml", USAGE + "\n# changed\n")
    result = run(*folders)

    assert result.exit_code == 2
    assert result.stderr.count("dev.toml: changed since the stacks were made") == 2


def test_a_git_reference_is_synthesised_as_it_was(project: Path) -> None:
    """The commit's own program makes the one side, the working tree's the other; nothing is left of either."""
    found = document(spawn("--git", "main", "--format", "json", cwd=project))

    assert {"environment": "dev", "of": "deployed", "change": "regime: content -> address"} in found["facts"]
    assert float(found["total"]["delta"]) < 0
    assert left_over(project) == []
    assert not (project / "cdktf.out").exists()


def test_a_git_reference_takes_the_settings_of_its_time(project: Path) -> None:
    """Usage that changed since is told apart."""
    (project / "environments" / "dev.toml").write_text(USAGE.replace("1_000_000", "2_000_000"), encoding="utf-8")
    found = document(spawn("--git", "HEAD", "--format", "json", cwd=project))

    assert {"environment": "dev", "of": "usage", "change": "sessions: 1,000,000 -> 2,000,000"} in found["facts"]


def test_a_git_reference_stands_against_a_folder_too(project: Path, sides: tuple[Synthesis, Synthesis]) -> None:
    """The one folder beside --git is HEAD."""
    found = document(spawn(sides[1].write(), "--git", "main", "--format", "json", cwd=project))

    assert {"environment": "dev", "of": "deployed", "change": "regime: content -> archive"} in found["facts"]


def test_a_project_below_the_root_of_its_repository_is_found_there(project: Path, tmp_path: Path) -> None:
    """A repository of several projects: the folder in which the command runs is the one that is synthesised."""
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q", "-b", "main")
    inner = project.rename(outer / "inner")
    for path in sorted((inner / ".git").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (inner / ".git").rmdir()
    (inner / "regime").write_text("content", encoding="utf-8")
    git(outer, "add", ".")
    git(outer, "commit", "-qm", "First")
    (inner / "regime").write_text("address", encoding="utf-8")
    found = document(spawn("--git", "HEAD", "--format", "json", cwd=inner))

    assert {"environment": "dev", "of": "deployed", "change": "regime: content -> address"} in found["facts"]


@pytest.mark.parametrize("reference", ["nowhere", "--help", "-x", "main:main.py", ""])
def test_a_reference_that_is_no_commit_is_refused(project: Path, reference: str) -> None:
    """Whatever it looks like, it is not taken for an option of git."""
    result = spawn(f"--git={reference}", cwd=project)

    assert (result.returncode, result.stdout) == (2, "")
    assert f"--git {reference!r}: no such commit, branch or tag" in result.stderr
    assert left_over(project) == []


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    """Git's own word is shown."""
    result = spawn("--git", "main", cwd=tmp_path, GIT_CEILING_DIRECTORIES=str(tmp_path.parent))

    assert (result.returncode, result.stdout) == (2, "")
    assert "not a git repository" in result.stderr


def test_a_machine_without_git_is_told_so(project: Path) -> None:
    """No traceback where there is no such program."""
    result = spawn("--git", "main", cwd=project, PATH="/nowhere")

    assert (result.returncode, result.stdout) == (2, "")
    assert "git cannot be run" in result.stderr


def test_a_synthesis_that_fails_is_shown_with_its_last_words(project: Path) -> None:
    """The reference or the working tree is named, and the worktree is gone."""
    (project / "regime").write_text("broken", encoding="utf-8")
    git(project, "commit", "-qam", "Broken")
    result = spawn("--git", "main", cwd=project)

    assert (result.returncode, result.stdout) == (2, "")
    assert "main: main.py failed with status 1" in result.stderr
    assert "the settings are at fault" in result.stderr
    assert left_over(project) == []


def test_a_commit_without_the_program_is_refused(project: Path) -> None:
    """A reference from before there was anything to synthesise."""
    git(project, "rm", "-q", "--cached", "main.py")
    git(project, "commit", "-qm", "Without it")
    result = spawn("--git", "main", cwd=project)

    assert result.returncode == 2
    assert "main: no main.py there to synthesise with" in result.stderr


@pytest.fixture
def slow(project: Path, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a comparison whose synthesis takes longer than anybody waits, and return it once that runs."""
    (project / "regime").write_text("slow", encoding="utf-8")
    git(project, "commit", "-qam", "Slow")
    (tmp_path / "temporary").mkdir()
    running: list[subprocess.Popen[bytes]] = []

    def start(*before: str) -> subprocess.Popen[bytes]:
        command = [*before, sys.executable, "-m", "cost_model", "diff", "--git", "main"]
        started = tmp_path / "started"
        variables = {"PYTHONPATH": str(ROOT), "STARTED": str(started), "TMPDIR": str(tmp_path / "temporary")}
        silent = subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=project, env=os.environ | variables, stdout=silent, stderr=silent)
        running.append(process)
        while not started.exists():
            assert process.poll() is None
            time.sleep(0.01)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_of_a_comparison_that_is_ended(
    project: Path, tmp_path: Path, slow: Callable[..., subprocess.Popen[bytes]], number: signal.Signals
) -> None:
    """An interrupt, a request to terminate and a terminal that closes remove the worktree and end the synthesis."""
    process = slow()
    process.send_signal(number)

    assert process.wait(30) != 0
    assert left_over(project) == []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_terminal_that_closes_does_not_end_what_was_told_to_go_on(
    project: Path, slow: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """Under nohup a comparison stays; a request to terminate still cleans up."""
    process = slow("nohup")
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(signal.SIGTERM)

    assert process.wait(30) != 0
    assert left_over(project) == []


def test_a_hook_s_variables_do_not_lead_elsewhere(project: Path, tmp_path: Path) -> None:
    """Run from a hook of another repository, the command still compares the one it stands in."""
    found = document(
        spawn("--git", "main", "--format", "json", cwd=project, GIT_DIR=str(tmp_path / "other"), GIT_WORK_TREE="/")
    )

    assert found["rows"]


def test_hooks_of_the_repository_are_not_run(project: Path, tmp_path: Path) -> None:
    """A checkout for a price runs nothing but the synthesis."""
    hook = project / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n", encoding="utf-8")
    hook.chmod(0o755)
    spawn("--git", "main", cwd=project)

    assert not (tmp_path / "ran").exists()
