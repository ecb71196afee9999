"""No workflow has a right, a secret or an unpinned thing that it does not need."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.workflows.reading import GITHUB, JOBS, PATHS, STEPS, WORKFLOWS, Step, table, used, variables

READS, ROLE = {"contents": "read"}, {"contents": "read", "id-token": "write"}
PROPOSES = {"contents": "write", "pull-requests": "write"}
RIGHTS = {
    ("pull-request.yml", "changes"): READS,
    ("pull-request.yml", "check"): READS,
    ("pull-request.yml", "test"): READS,
    ("pull-request.yml", "cost"): READS,
    ("pull-request.yml", "comment"): {"contents": "read", "pull-requests": "write"},
    ("pull-request.yml", "plan"): ROLE,
    ("pull-request.yml", "plans"): {},
    ("deploy.yml", "changes"): READS,
    ("deploy.yml", "build"): ROLE,
    ("deploy.yml", "dev"): ROLE,
    ("deploy.yml", "staging"): ROLE,
    ("deploy.yml", "plan-prod"): ROLE,
    ("deploy.yml", "prod"): ROLE,
    ("deploy.yml", "record"): PROPOSES,
    ("prices.yml", "refresh"): {**PROPOSES, "id-token": "write"},
    ("drift.yml", "drift"): {**ROLE, "issues": "write"},
}
"""Every job's rights, all of them."""
SAME_REPOSITORY = "github.event.pull_request.head.repo.full_name == github.repository"
EACH_JOB = pytest.mark.parametrize("key", JOBS, ids="/".join)
EACH_STEP = pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.workflow}/{step.job}/{step.name[:40]}")


def test_every_job_has_these_rights_and_no_other() -> None:
    """Nothing is granted above the jobs, so a job without a list has none."""
    assert {key: job["permissions"] for key, job in JOBS.items()} == RIGHTS
    assert [found["permissions"] for found in WORKFLOWS.values()] == [{}] * len(WORKFLOWS)


def test_whatever_a_pull_request_must_pass_is_always_told() -> None:
    """A filter of paths leaves required checks waiting, and a matrix that is skipped has none of its jobs' names."""
    (requested,) = WORKFLOWS["pull-request.yml"]["on"].values()
    jobs = {job: declared for (workflow, job), declared in JOBS.items() if workflow == "pull-request.yml"}
    many = {job for job, declared in jobs.items() if "strategy" in declared}

    assert requested == {"branches": ["main"]}
    assert many == {"plan"}
    assert many <= set(jobs["plans"]["needs"])


def test_every_action_is_pinned_by_a_commit_of_the_table() -> None:
    """And the version behind it is the table's."""
    rows = {row["name"]: (row["digest"], row["version"]) for row in table()}
    found = set(used())

    assert {(action, *rows.get(action, ("not in .github/actions.toml", ""))) for action, _, _ in found} == found
    assert {action for action, _, _ in found} == set(rows)
    assert all(re.fullmatch("[0-9a-f]{40}", digest) for digest, _ in rows.values())


def test_every_step_that_uses_an_action_was_read_as_one() -> None:
    """A pin in a form that the pattern does not know would escape the table."""
    assert len([step for step in STEPS if "uses" in step.declared]) == len(list(used()))


def test_every_row_of_the_table_says_where_it_was_seen() -> None:
    """A repository and a file at a commit, or the mirror that was asked."""
    assert all(re.search(r"[\w-]+/[\w-]+, \S+ at [0-9a-f]{40}|/releases/latest$", row["seen"]) for row in table())
    assert [row["name"] for row in table()] == sorted(row["name"] for row in table())


@EACH_STEP
def test_a_checkout_leaves_no_credentials_behind(step: Step) -> None:
    """Whatever runs later could take them."""
    if step.declared.get("uses", "").startswith("actions/checkout@"):
        assert step.declared["with"]["persist-credentials"] is False


@EACH_STEP
def test_nothing_is_pasted_into_a_script(step: Step) -> None:
    """A branch's name may be a command: what comes from outside goes through the environment."""
    assert "${{" not in (step.run or "")


@EACH_JOB
def test_a_job_ends_by_itself_on_a_named_image(key: tuple[str, str]) -> None:
    """`latest` is another machine tomorrow."""
    assert JOBS[key]["timeout-minutes"] <= 90
    assert JOBS[key]["runs-on"] in {"ubuntu-24.04", "ubuntu-24.04-arm"}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_workflow_runs_in_one_line_and_reads_no_secret(path: Path) -> None:
    """Roles by OpenID Connect, the token of the run, and nothing that outlives it."""
    text = path.read_text()

    assert "concurrency:\n  group: " in text
    assert "pull_request_target" not in text
    assert "workflow_run" not in text
    assert "secrets." not in text
    assert "docs/pipeline.md" in text


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_failure_before_a_pipe_is_a_failure(path: Path) -> None:
    """The runner's own shell has no pipefail; one that is asked for by name has."""
    assert WORKFLOWS[path.name]["defaults"] == {"run": {"shell": "bash"}}


@EACH_JOB
def test_what_a_pull_request_may_write_or_take_is_of_this_repository(key: tuple[str, str]) -> None:
    """A fork's code gets neither a role nor a right to write."""
    if key[0] == "pull-request.yml" and "write" in JOBS[key]["permissions"].values():
        assert SAME_REPOSITORY in JOBS[key]["if"]


def test_the_job_that_writes_comments_runs_the_base_s_script() -> None:
    """The pull request's own could do anything with the right to write."""
    (checkout,) = [
        step
        for step in STEPS
        if step.job == "comment" and step.declared.get("uses", "").startswith("actions/checkout@")
    ]

    assert checkout.declared["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"


def test_one_image_goes_through_all_environments_past_an_approval() -> None:
    """It is built in one job, and what goes to prod waits for prod's reviewers, with the plan that they saw."""
    builds = [(step.job, step.run) for step in STEPS if "make image" in (step.run or "")]
    promotions = [step.run for step in STEPS if "make promote" in (step.run or "")]
    prod = [step.run for step in STEPS if step.job == "prod" and step.run]

    assert builds == [("build", "make image ENV=dev")]
    assert promotions == ["make promote FROM=dev TO=staging", "make promote FROM=staging TO=prod"]
    assert {job: found.get("environment") for (_, job), found in JOBS.items() if found.get("environment")} == {
        "build": "dev",
        "dev": "dev",
        "staging": "staging",
        "prod": "prod",
    }
    assert prod == ["make setup", "make promote FROM=staging TO=prod", "make apply ENV=prod APPROVE=1"]


def test_every_variable_is_explained() -> None:
    """Where a team reads what to set."""
    page = (ROOT / "docs" / "pipeline.md").read_text()

    assert {name for name in variables() if f"`{name.replace('{0}', '<ENVIRONMENT>')}`" not in page} == set()
    assert set(re.findall(r"^\| `([A-Z_]+)(?:<ENVIRONMENT>)?` \|", page, re.MULTILINE)) == {
        name.removesuffix("{0}") for name in variables()
    } - {"PLAN_ROLE_PROD"}


def test_every_target_that_a_step_makes_exists() -> None:
    """So that the same commands run on a laptop."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    made = {name for step in STEPS for name in re.findall(r"\bmake (?:--silent )?([a-z-]+)", step.run or "")}

    assert made - targets == set()
    assert made >= {"check", "synth", "checkov", "test", "cost-diff", "plan", "apply", "promote", "image", "drift"}


def audited(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    zizmor = ROOT / ".venv" / "bin" / "zizmor"
    return subprocess.run(
        [zizmor, "--offline", "--strict-collection", "--no-progress", *options, folder],
        capture_output=True,
        text=True,
        check=False,
    )


def test_zizmor_finds_nothing() -> None:
    """Offline, at every severity."""
    answer = audited(GITHUB)

    assert answer.returncode == 0, answer.stdout


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        pytest.param("        with:\n          persist-credentials: false\n", "", id="credentials are left behind"),
        pytest.param("@3d3c42e5aac5ba805825da76410c181273ba90b1", "@v7", id="an action by its tag"),
        pytest.param('"$NUMBER"', "${{ github.head_ref }}", id="a branch's name in a script"),
        pytest.param("  pull_request:\n", "  pull_request_target:\n", id="a stranger's code with rights"),
    ],
)
def test_zizmor_has_really_looked(written: str, instead: str, tmp_path: Path) -> None:
    """Each of these is found."""
    workflows = tmp_path / ".github" / "workflows"
    workflows.mkdir(parents=True)
    text = (GITHUB / "workflows" / "pull-request.yml").read_text()
    assert written in text
    (workflows / "pull-request.yml").write_text(text.replace(written, instead))

    assert audited(tmp_path).returncode != 0


def test_actionlint_finds_nothing() -> None:
    """Where it is on PATH: no package of its own makers holds the program."""
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("no actionlint on PATH")
    answer = subprocess.run([actionlint, *PATHS], capture_output=True, text=True, check=False)

    assert answer.returncode == 0, answer.stdout
