"""What the workflows run, run here as it is written: all that needs neither credentials nor GitHub itself.

`make check` and `make test` are what CI runs of this project, `make checkov` is a part of the latter.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cost_model.price_list.conftest import items_of
from tests.loopback.github import GitHub, repository
from tests.loopback.price_list import PriceList, listing
from tests.stacks.operating import DIGEST, put_terraform
from tests.stacks.planning import PLAYING, UPDATE, with_remote_state
from tests.stacks.planning import Project as Planned
from tests.workflows.project import Project, laid
from tests.workflows.reading import JOBS, Step, step

NO_SYNTH = '#!/bin/sh\ntest "$1" = synth\n'
"""Stands in for the framework CLI where everything is synthesised already."""
KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Offer one project to tests that leave its commits alone: its newest one doubles what `prod` keeps."""
    made = laid(tmp_path_factory.mktemp("project"))
    made.change("environments/prod.toml", "retention_days = 30", "retention_days = 60")
    made.commit("keep longer")
    return made


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """Offer a project of a test's own, with nothing in it but what tells whether to build or to price."""
    (tmp_path / "environments").mkdir()
    (tmp_path / "agent_image").mkdir()
    (tmp_path / "environments" / "dev.toml").write_text('[agent]\nname = "a"\nimage = "sha256:1"\n')
    (tmp_path / "agent_image" / "app.py").write_text("1\n")
    (tmp_path / "README.md").write_text("1\n")
    made = Project(tmp_path)
    made.git("init", "--quiet", "--initial-branch=main")
    made.git("add", "--all")
    made.commit("begin")
    return made


@pytest.fixture
def github() -> Iterator[GitHub]:
    with repository(GitHub()) as found:
        yield found


def test_a_project_runs_its_own_code(project: Project) -> None:
    """A command that took this project's would write into it."""
    asked = (
        'cd /; "$PYTHONPATH/.venv/bin/python" -c "import cost_model as a, stacks as b; print(a.__file__, b.__file__)"'
    )

    answer = project.run(Step("", "", {"run": asked}))

    assert answer.stdout.split() == [str(project.folder / name / "__init__.py") for name in ("cost_model", "stacks")]


def test_ci_runs_the_two_that_take_long() -> None:
    """They need no second run here."""
    run = (ROOT / ".ci" / "run").read_text()

    assert {"make check", "make test"} <= set(run.splitlines())
    assert step("pull-request.yml", "test", "make test").run == "make test"
    assert step("pull-request.yml", "check", "make check").run == "make check"


@pytest.mark.parametrize(
    ("file", "outputs"),
    [("README.md", ""), ("environments/dev.toml", "deployed=true\n"), ("agent_image/app.py", "deployed=true\n")],
    ids=lambda value: value.strip(),
)
def test_a_change_of_pages_alone_is_neither_priced_nor_planned(file: str, outputs: str, fresh: Project) -> None:
    """And one of what is deployed is."""
    with (fresh.folder / file).open("a") as changed:
        changed.write("# more\n")
    fresh.commit("change")
    look = step("pull-request.yml", "changes", "Tell whether it touches what is deployed or priced")

    answer = fresh.run(look)

    assert answer.returncode == 0, answer.stderr
    assert fresh.outputs == outputs


def test_a_change_is_priced_in_one_comment(project: Project, github: GitHub) -> None:
    """Over a ceiling the step fails, and the table is there all the same: on the run's page and in the comment."""
    price = step("pull-request.yml", "cost", "Price both sides")

    answer = project.run(price, {"MAX_MONTHLY": "1", "MAX_INCREASE": ""})
    assert answer.returncode != 0
    assert "prod" in answer.stderr
    table = (project.folder / "build" / "cost.md").read_text()
    assert "| Log storage |" in table

    assert project.run(step("pull-request.yml", "cost", "Show it on the page of the run")).returncode == 0
    assert project.summary.endswith(table)
    comment = step("pull-request.yml", "comment", "Write the comment, or write it anew")
    for _ in range(2):
        answer = project.run(
            comment,
            {"NUMBER": "12", "GITHUB_TOKEN": github.token},
            {**github.variables(), "GITHUB_TOKEN": github.token},
        )
        assert answer.returncode == 0, answer.stderr
    (said,) = github.comments[12]
    assert said["body"].endswith(table)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Offer a project with a state in S3, synthesised by the step that does so, and a Terraform that plays along."""
    made = laid(tmp_path_factory.mktemp("planned"))
    with_remote_state(made.folder / "environments")
    answer = made.run(step("pull-request.yml", "check", "make synth"))
    assert answer.returncode == 0, answer.stderr
    (made.folder / "node_modules").unlink()
    (made.folder / "node_modules" / ".bin").mkdir(parents=True)
    cdktf = made.folder / "node_modules" / ".bin" / "cdktf"
    cdktf.write_text(NO_SYNTH)
    cdktf.chmod(0o755)
    put_terraform(made.folder / "bin", PLAYING)
    return made


def terraform(project: Project, stack: str, status: int) -> dict[str, str]:
    """Let the plan of a stack end so; gives what Terraform needs to play."""
    for name in ("account-sandbox", "agent-dev", "account-production", "agent-prod"):
        Planned(project.folder).let(name, status if name == stack else 0, UPDATE)
    return {"LOG": str(project.folder / "log"), "PLAYS": str(project.folder), "ENVIRONMENT": "dev"}


@pytest.mark.parametrize(
    ("status", "fails", "issues"),
    [
        pytest.param(0, False, 0, id="quiet"),
        pytest.param(2, False, 1, id="drift"),
        pytest.param(1, True, 0, id="failure"),
    ],
)
def test_drift_opens_an_issue_and_a_failure_fails(
    status: int, issues: int, *, fails: bool, planned: Project, github: GitHub
) -> None:
    """Quiet, neither; and a second day renews the issue."""
    given = terraform(planned, "agent-dev", status)
    look, tell = (
        step("drift.yml", "drift", 'make drift ENV="$ENVIRONMENT"'),
        step("drift.yml", "drift", "Open an issue where something drifted, or renew the open one"),
    )

    answer = planned.run(look, given=given)
    assert (answer.returncode != 0) == fails, answer.stderr
    for _ in range(0 if fails else 2):
        told = planned.run(tell, {"GITHUB_TOKEN": github.token}, {**given, **github.variables()})
        assert told.returncode == 0, told.stderr

    assert [one["title"] for one in github.issues] == ["Drift in dev"] * issues
    assert all("| agent-dev | `aws_sns_topic.alerts` | update |" in one["body"] for one in github.issues)


@pytest.mark.parametrize("changes", [False, True], ids=["nothing changes", "something changes"])
def test_prod_is_planned_shown_and_applied_as_planned(*, changes: bool, planned: Project) -> None:
    """Where nothing changes there is nothing to approve."""
    given = terraform(planned, "agent-prod", 2 if changes else 0)
    (planned.folder / ".summary").write_text("")

    answer = planned.run(step("deploy.yml", "plan-prod", "make plan ENV=prod"), given=given)
    assert answer.returncode == 0, answer.stderr
    assert planned.run(step("deploy.yml", "plan-prod", "Tell whether there is anything to approve")).returncode == 0
    assert planned.outputs == ("changes=true\n" if changes else "")
    assert ("aws_sns_topic.alerts" in planned.summary) == changes
    answer = planned.run(step("deploy.yml", "prod", "make apply ENV=prod APPROVE=1"), given=given)

    assert answer.returncode == 0, answer.stderr
    log = (planned.folder / "log").read_text().splitlines()
    assert log[-1] == "agent-prod: apply -input=false -no-color plan.tfplan"


def test_a_pull_request_s_plan_is_shown(planned: Project) -> None:
    """By address and action; the environment's name comes from the matrix."""
    given = terraform(planned, "agent-dev", 2)
    (planned.folder / ".summary").write_text("")

    for name in ('make plan ENV="$ENVIRONMENT"', "Show what changes on the page of the run"):
        answer = planned.run(step("pull-request.yml", "plan", name), given=given)
        assert answer.returncode == 0, answer.stderr

    assert "| agent-dev | `aws_sns_topic.alerts` | update |" in planned.summary


def test_what_a_plan_keeps_is_what_the_artifact_takes(planned: Project) -> None:
    """The plan and what Terraform needs to apply it elsewhere, and no provider."""
    assert (
        planned.run(step("deploy.yml", "dev", "make plan ENV=dev"), given=terraform(planned, "agent-dev", 0)).returncode
        == 0
    )
    upload = [one for one in ("dev", "staging", "plan-prod") if (paths := uploaded(one)) == uploaded("dev") and paths]

    assert upload == ["dev", "staging", "plan-prod"]
    taken = {path.name for pattern in uploaded("dev") for path in planned.folder.glob(pattern)}
    assert taken == {"manifest.json", "cdk.tf.json", "plan.tfplan", "plan.txt"}


def uploaded(job: str) -> list[str]:
    (found,) = [one["with"]["path"] for one in JOBS["deploy.yml", job]["steps"] if "upload" in one.get("uses", "")]
    return str(found).split()


@pytest.mark.parametrize(
    ("changes", "asked", "built"),
    [
        pytest.param([], "false", False, id="nothing"),
        pytest.param(["README.md"], "false", False, id="a page"),
        pytest.param(["agent_image/app.py"], "false", True, id="the agent"),
        pytest.param(["agent_image/app.py", "README.md"], "", True, id="the agent, in an earlier push"),
        pytest.param(["agent_image/app.py", "environments/dev.toml"], "", False, id="the agent, recorded since"),
        pytest.param(["environments/dev.toml", "agent_image/app.py"], "", True, id="the agent, after a record"),
        pytest.param(["agent_image/app.py", "owner.toml"], "", True, id="the agent, and another setting since"),
        pytest.param(["README.md"], "true", True, id="somebody asked"),
    ],
)
def test_an_image_is_built_where_the_recorded_one_is_older(
    changes: list[str], asked: str, *, built: bool, fresh: Project
) -> None:
    """A record that nobody merged yet leads to a build, and not back to an older image."""
    for file in changes:
        if file == "owner.toml":
            fresh.change("environments/dev.toml", 'name = "a"', 'name = "b"')
        else:
            fresh.change(file, "1", "2")
        fresh.commit(f"change {file}")

    answer = fresh.run(step("deploy.yml", "changes", "Tell whether there is an image to build"), {"ASKED": asked})

    assert answer.returncode == 0, answer.stderr
    assert fresh.outputs == ("image=true\n" if built else "")


@pytest.mark.parametrize(
    ("changes", "plans", "passes"),
    [
        ("success", "success", True),
        ("success", "skipped", True),
        ("success", "failure", False),
        ("success", "cancelled", False),
        ("failure", "skipped", False),
    ],
)
def test_all_plans_pass_where_none_failed(changes: str, plans: str, *, passes: bool, fresh: Project) -> None:
    """A page alone is planned nowhere, and may be merged."""
    tell = step("pull-request.yml", "plans", "Fail where a plan failed")

    assert (fresh.run(tell, {"CHANGES": changes, "PLANS": plans}).returncode == 0) is passes


@pytest.mark.parametrize(
    ("title", "built"),
    [
        pytest.param("Record what was deployed, built from {}", True, id="merged"),
        pytest.param("Record what was deployed, built from {} (#7)", True, id="squashed"),
        pytest.param('Revert "Record what was deployed, built from {}"', False, id="taken back"),
        pytest.param("Record what was deployed, built from 0000000000000000000000000000000000000000", True, id="lost"),
    ],
)
def test_a_record_merged_late_hides_no_change_of_the_agent(title: str, *, built: bool, fresh: Project) -> None:
    """The image is older than its record; who takes a record back wants the image before, and no other."""
    source = fresh.git("rev-parse", "HEAD").strip()
    fresh.change("agent_image/app.py", "1", "2")
    fresh.commit("change the agent: its build failed")
    fresh.change("environments/dev.toml", "sha256:1", "sha256:2")
    fresh.commit(title.format(source))

    answer = fresh.run(step("deploy.yml", "changes", "Tell whether there is an image to build"), {"ASKED": ""})

    assert answer.returncode == 0, answer.stderr
    assert fresh.outputs == ("image=true\n" if built else "")


def test_one_digest_is_carried_to_every_environment(tmp_path: Path) -> None:
    """As the step after the build does it."""
    made = laid(tmp_path)
    made.change("environments/dev.toml", f"sha256:{'0' * 64}", DIGEST)

    answer = made.run(step("deploy.yml", "build", "Let the other environments name the same digest"))

    assert answer.returncode == 0, answer.stderr
    assert all(DIGEST in (tmp_path / "environments" / f"{one}.toml").read_text() for one in ("dev", "staging", "prod"))


@pytest.mark.parametrize("prod", ["success", "skipped", "failure"])
def test_what_was_deployed_is_proposed_and_nothing_else(prod: str, tmp_path: Path, github: GitHub) -> None:
    """Where prod was refused or failed, its file stays."""
    made = laid(tmp_path)
    files = [f"environments/{one}.toml" for one in ("dev", "staging", "prod")]
    github.branches["main"] = {file: (tmp_path / file).read_bytes() for file in files}
    (tmp_path / "build" / "settings").mkdir(parents=True)
    for file in files:
        shutil.copy(tmp_path / file, tmp_path / "build" / "settings")
        made.change(f"build/settings/{Path(file).name}", f"sha256:{'0' * 64}", DIGEST)

    take = step("deploy.yml", "record", "Take the files of the environments that were deployed to")
    answer = made.run(take, {"STAGING": "success", "PROD": prod})
    assert answer.returncode == 0, answer.stderr
    answer = made.run(
        step("deploy.yml", "record", "Open the pull request, or renew it"),
        {"GITHUB_TOKEN": github.token},
        {**github.variables(), "GITHUB_SHA": "5" * 40},
    )

    assert answer.returncode == 0, answer.stderr
    assert github.pulls[0]["title"] == f"Record what was deployed, built from {'5' * 40}"
    proposed = github.branches["pipeline/deployed"]
    recorded = [file for file in files if DIGEST.encode() in proposed[file]]
    assert recorded == (files if prod == "success" else files[:2])
    assert f'+image = "{DIGEST}"' in github.pulls[0]["body"]


def test_prices_that_moved_are_proposed(tmp_path: Path, github: GitHub) -> None:
    """Once: a refresh that fails proposes nothing, nor does the night after the rows were merged."""
    made = laid(tmp_path)
    file = "cost_model/data/prices/us-east-1.toml"
    github.branches["main"] = {name: (tmp_path / name).read_bytes() for name in (file, "README.md", "docs/cost.md")}
    ask = step("prices.yml", "refresh", "Ask for the prices, and write anew what repeats them")
    tell = step("prices.yml", "refresh", "Open the pull request, or renew it")

    with listing(PriceList([])) as nothing:
        assert made.run(ask, given={**KEYS, **nothing.variables()}).returncode != 0
    assert made.git("status", "--short", "cost_model", "docs", "README.md") == ""

    with listing(PriceList(items_of("us-east-1", "", span_ingestion="0.40"))) as moved:
        answer = made.run(ask, given={**KEYS, **moved.variables()})
    assert answer.returncode == 0, answer.stderr
    answer = made.run(tell, {"GITHUB_TOKEN": github.token}, github.variables())

    assert answer.returncode == 0, answer.stderr
    assert b'"SKU-us-east-1-span_ingestion' in github.branches["pipeline/prices"][file]
    assert github.pulls[0]["title"] == "Refresh the price rows"
    assert "### Prices of us-east-1, AWS Price List" in github.pulls[0]["body"]

    made.commit("merged")
    with listing(PriceList(items_of("us-east-1", "", span_ingestion="0.40"))) as still:
        assert made.run(ask, given={**KEYS, **still.variables()}).returncode == 0
    assert made.git("status", "--short", "cost_model", "docs", "README.md") == ""
