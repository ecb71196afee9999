"""What a workflow says on GitHub is said once and then said anew, in the same place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loopback.github import BOT, PERSON, GitHub, repository
from tests.workflows.reading import GITHUB

POST = GITHUB / "scripts" / "post.py"
COMMENT, ISSUE = "<!-- rastro: cost -->\n", "<!-- rastro: drift-dev -->\n"


@pytest.fixture
def github() -> Iterator[GitHub]:
    with repository(GitHub()) as found:
        yield found


def post(
    github: GitHub, folder: Path, *arguments: str, text: str = "a table", token: str | None = None
) -> subprocess.CompletedProcess[str]:
    verb, *others = arguments
    variables = github.variables() if token is None else {**github.variables(), "GITHUB_TOKEN": token}
    (folder / "said.md").write_text(text)
    return subprocess.run(
        [sys.executable, POST, verb, "said.md", *others],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_comment_is_written_once_and_then_anew(github: GitHub, tmp_path: Path) -> None:
    """However many comments stand before it: GitHub hands them out by the hundred."""
    github.comments[7] = [{"id": number, "user": PERSON, "body": "hello"} for number in range(130)]

    for text in ("first", "second"):
        answer = post(github, tmp_path, "comment", "7", text=text)
        assert answer.returncode == 0, answer.stderr

    assert [one["body"] for one in github.comments[7][130:]] == [f"{COMMENT}second"]


def test_a_person_who_quotes_the_mark_is_left_alone(github: GitHub, tmp_path: Path) -> None:
    """So is a comment of another workflow."""
    github.comments[7] = [
        {"id": 1, "user": PERSON, "body": f"{COMMENT}mine"},
        {"id": 2, "user": BOT, "body": "coverage"},
        {"id": 3, "user": BOT, "body": None},
    ]

    assert post(github, tmp_path, "comment", "7").returncode == 0
    assert [one["body"] for one in github.comments[7]] == [f"{COMMENT}mine", "coverage", None, f"{COMMENT}a table"]


def test_a_text_that_github_would_refuse_is_cut(github: GitHub, tmp_path: Path) -> None:
    """65,536 characters are the limit, and the reader hears of the cut."""
    assert post(github, tmp_path, "comment", "7", text="x" * 70_000).returncode == 0

    (said,) = github.comments[7]
    assert len(said["body"]) < 65_536
    assert said["body"].rstrip().endswith("(cut: the whole text is among the artifacts of the run)")


def test_drift_is_one_open_issue_an_environment(github: GitHub, tmp_path: Path) -> None:
    """A closed one stays closed, another environment's is another, and a pull request is none."""
    github.issues += [
        {"number": 1, "id": 1, "user": BOT, "body": f"{ISSUE}last month", "state": "closed"},
        {"number": 2, "id": 2, "user": BOT, "body": f"{ISSUE}x", "state": "open", "pull_request": {}},
    ]
    said = [("drift-dev", "first"), ("drift-prod", "there"), ("drift-dev", "second")]

    for key, text in said:
        answer = post(github, tmp_path, "issue", key, f"Drift: {key}", text=text)
        assert answer.returncode == 0, answer.stderr

    assert [one["body"] for one in github.issues[2:]] == [f"{ISSUE}second", "<!-- rastro: drift-prod -->\nthere"]
    assert [one["body"] for one in github.issues[:2]] == [f"{ISSUE}last month", f"{ISSUE}x"]


def test_files_are_proposed_and_proposed_anew(github: GitHub, tmp_path: Path) -> None:
    """The branch is the base of today and what is here, in one step: no moment at which it holds nothing."""
    github.branches["main"] = {"a.toml": b"old", "same.toml": b"same", "gone/b.toml": b"b"}
    (tmp_path / "same.toml").write_text("same")
    (tmp_path / "new.toml").write_text("new")

    for text in ("newer", "newest"):
        (tmp_path / "a.toml").write_text(text)
        answer = post(github, tmp_path, "propose", "pipeline/x", "Renew", "a.toml", "same.toml", "new.toml", text=text)
        assert answer.returncode == 0, answer.stderr
        assert github.branches["pipeline/x"]["gone/b.toml"] == github.branches["main"]["gone/b.toml"]
        github.branches["main"]["gone/b.toml"] += b"!"
    github.branches["main"]["gone/b.toml"] = b"b!"

    assert github.branches["pipeline/x"] == {**github.branches["main"], "a.toml": b"newest", "new.toml": b"new"}
    assert github.branches["main"]["a.toml"] == b"old"
    (pull,) = github.pulls
    assert (pull["head"], pull["base"], pull["title"]) == ("pipeline/x", "main", "Renew")
    assert pull["body"].endswith("newest")
    assert [one for one in github.asked if "refs" in one] == [
        "POST /repos/owner/agent/git/refs",
        "POST /repos/owner/agent/git/refs",
        "PATCH /repos/owner/agent/git/refs/heads/pipeline/x",
    ]


def test_nothing_is_proposed_where_nothing_differs(github: GitHub, tmp_path: Path) -> None:
    """A quiet night leaves no branch."""
    github.branches["main"] = {"a.toml": b"old"}
    (tmp_path / "a.toml").write_text("old")

    answer = post(github, tmp_path, "propose", "pipeline/x", "Renew", "a.toml")

    assert (answer.returncode, answer.stdout) == (0, "nothing differs: no pull request\n")
    assert set(github.branches) == {"main"}
    assert github.pulls == []


def test_a_refusal_fails_the_step(github: GitHub, tmp_path: Path) -> None:
    """A comment that was not written must not look like one."""
    answer = post(github, tmp_path, "comment", "7", token="expired-token")  # noqa: S106 - nobody takes it

    assert answer.returncode != 0
    assert "401" in answer.stderr
    assert "expired-token" not in answer.stderr
