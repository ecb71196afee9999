"""`make actions` renews every pin, or none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loopback.github import GitHub, repository
from tests.workflows.reading import GITHUB, PATHS, table

NEWER, COMMIT, TAG = "v99.0.1", "ab" * 20, "cd" * 20
RENEWED = "actions/checkout"


def of_today() -> GitHub:
    """Know every action of the table at the version that it has there."""
    github = GitHub()
    for row in table():
        github.releases[row["name"]] = row["version"]
        github.tags[row["name"], row["version"]] = {"type": "commit", "sha": row["digest"]}
    return github


def renewed(github: GitHub, folder: Path) -> subprocess.CompletedProcess[str]:
    if not (folder / ".github").exists():
        shutil.copytree(GITHUB, folder / ".github")
    with repository(github):
        return subprocess.run(
            [sys.executable, ".github/scripts/actions.py"],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "GITHUB_API_URL": github.url},
            capture_output=True,
            text=True,
            check=False,
        )


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in [folder / "actions.toml", *(folder / "workflows").glob("*.yml")]}


def test_nothing_changes_where_nothing_is_newer(tmp_path: Path) -> None:
    """Neither a digest nor a date."""
    answer = renewed(of_today(), tmp_path)

    assert answer.returncode == 0, answer.stderr
    assert texts(tmp_path / ".github") == texts(GITHUB)
    assert answer.stdout.count("\n") == len(table())


@pytest.mark.parametrize("annotated", [False, True], ids=["a tag of a commit", "an annotated tag"])
def test_a_newer_release_is_pinned_everywhere(*, annotated: bool, tmp_path: Path) -> None:
    """By the commit, in the table and in every workflow, and nothing else changes."""
    github, (row,) = of_today(), [row for row in table() if row["name"] == RENEWED]
    github.releases[RENEWED] = NEWER
    github.tags[RENEWED, NEWER] = {"type": "tag", "sha": TAG} if annotated else {"type": "commit", "sha": COMMIT}
    github.annotated[TAG] = {"type": "commit", "sha": COMMIT}

    answer = renewed(github, tmp_path)

    assert answer.returncode == 0, answer.stderr
    after = texts(tmp_path / ".github")
    for path in PATHS:
        was = f"{RENEWED}@{row['digest']} # {row['version']}"
        assert was in path.read_text()
        assert after[path.name] == path.read_text().replace(was, f"{RENEWED}@{COMMIT} # {NEWER}")
    assert f'version = "{NEWER}"\ndigest = "{COMMIT}"\nseen = "{github.url}/' in after["actions.toml"]
    assert after["actions.toml"].count("\n") == (GITHUB / "actions.toml").read_text().count("\n")


@pytest.mark.parametrize(
    ("version", "named"),
    [
        pytest.param("v99.0.1-beta", {"type": "commit", "sha": COMMIT}, id="not named like a version"),
        pytest.param("v9$(touch x)", {"type": "commit", "sha": COMMIT}, id="a command for a name"),
        pytest.param(NEWER, {"type": "commit", "sha": "main"}, id="a digest that is none"),
        pytest.param(NEWER, {"type": "tree", "sha": COMMIT}, id="a tag of no commit"),
        pytest.param(NEWER, None, id="no such tag"),
    ],
)
def test_an_answer_that_names_no_commit_changes_nothing(
    version: str, named: dict[str, str] | None, tmp_path: Path
) -> None:
    """Not even for the other actions."""
    github = of_today()
    github.releases["hashicorp/setup-terraform"] = version
    github.releases[RENEWED], github.tags[RENEWED, NEWER] = NEWER, {"type": "commit", "sha": COMMIT}
    if named is not None:
        github.tags["hashicorp/setup-terraform", version] = named

    answer = renewed(github, tmp_path)

    assert answer.returncode == 1
    assert answer.stderr.startswith("nothing is written: ")
    assert texts(tmp_path / ".github") == texts(GITHUB)
