"""Say something on GitHub once, and say it anew in the same place: a comment, an issue, a pull request.

    python3 .github/scripts/post.py comment FILE NUMBER    the comment of a pull request
    python3 .github/scripts/post.py issue FILE KEY TITLE   an open issue
    python3 .github/scripts/post.py propose FILE BRANCH TITLE PATH...   a pull request of files as they are here

Each finds what it said before by a mark that no reader sees, or by its branch. FILE holds Markdown. Only workflows run
this: GITHUB_API_URL, GITHUB_REPOSITORY and GITHUB_TOKEN say where, and as whom. It needs Python and nothing else.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_LONGEST: Final = 60_000
"""GitHub takes 65,536 characters."""
_CUT: Final = "\n\n(cut: the whole text is among the artifacts of the run)\n"
_PAGE: Final = 100
_MISSING, _EXISTS = 404, 422


@dataclass(frozen=True, slots=True)
class GitHub:
    """Stand before one repository's API."""

    api: str
    repository: str
    token: str

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:  # noqa: ANN401 - JSON of any shape
        """Ask one question; raises urllib.error.HTTPError where GitHub refuses."""
        request = urllib.request.Request(  # noqa: S310 - the runner's own address
            f"{self.api}/repos/{self.repository}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Accept": "application/vnd.github+json", "Authorization": f"Bearer {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
            return json.load(answer)

    def every(self, path: str) -> list[dict[str, Any]]:
        """Read all pages of a list."""
        found: list[dict[str, Any]] = []
        while True:
            page = self.call(
                "GET", f"{path}{'&' if '?' in path else '?'}per_page={_PAGE}&page={len(found) // _PAGE + 1}"
            )
            found += page
            if len(page) < _PAGE:
                return found


def marked(key: str, text: str) -> str:
    """Put a mark that no reader sees before a text, and cut the text to what GitHub takes."""
    body = text if len(text) <= _LONGEST else text[:_LONGEST] + _CUT
    return f"{_mark(key)}\n{body}"


def comment(github: GitHub, text: str, number: str) -> None:
    """Write the one comment of a pull request, or write it anew."""
    body = {"body": marked("cost", text)}
    comments = github.every(f"/issues/{int(number)}/comments")
    if before := _said_before(comments, "cost"):
        github.call("PATCH", f"/issues/comments/{before['id']}", body)
    else:
        github.call("POST", f"/issues/{int(number)}/comments", body)


def issue(github: GitHub, text: str, key: str, title: str) -> None:
    """Open the one issue of a key, or write the open one anew."""
    body = {"title": title, "body": marked(key, text)}
    issues = github.every("/issues?state=open")
    if before := _said_before(issues, key):
        github.call("PATCH", f"/issues/{before['number']}", body)
    else:
        github.call("POST", "/issues", body)


def propose(github: GitHub, text: str, branch: str, title: str, *paths: str) -> None:
    """Lay files as they are here on a branch of the default one, and open its pull request where none is open.

    Nothing happens where no file differs.
    """
    base = github.call("GET", "")["default_branch"]
    changed = [path for path in paths if _held(github, base, path) != Path(path).read_bytes()]
    if not changed:
        print("nothing differs: no pull request")
        return
    _lay(github, base, branch, title, changed)
    owner = github.repository.partition("/")[0]
    body = {"title": title, "body": marked(branch, text)}
    if before := github.every(f"/pulls?state=open&head={owner}:{branch}"):
        github.call("PATCH", f"/pulls/{before[0]['number']}", body)
    else:
        github.call("POST", "/pulls", {**body, "head": branch, "base": base})


def _lay(github: GitHub, base: str, branch: str, message: str, paths: list[str]) -> None:
    """Let a branch be the base and one commit, in one step: GitHub closes a pull request whose branch is the base."""
    start = github.call("GET", f"/git/ref/heads/{base}")["object"]["sha"]
    entries = [{"path": path, "mode": "100644", "type": "blob", "content": Path(path).read_text()} for path in paths]
    under = github.call("GET", f"/git/commits/{start}")["tree"]["sha"]
    tree = github.call("POST", "/git/trees", {"base_tree": under, "tree": entries})["sha"]
    commit = github.call("POST", "/git/commits", {"message": message, "tree": tree, "parents": [start]})["sha"]
    try:
        github.call("POST", "/git/refs", {"ref": f"refs/heads/{branch}", "sha": commit})
    except urllib.error.HTTPError as error:
        if error.code != _EXISTS:
            raise
        github.call("PATCH", f"/git/refs/heads/{branch}", {"sha": commit, "force": True})


def _held(github: GitHub, branch: str, path: str) -> bytes | None:
    """Read a file of a branch, or None where there is none."""
    try:
        found = github.call("GET", f"/contents/{urllib.parse.quote(path)}?ref={branch}")
    except urllib.error.HTTPError as error:
        if error.code != _MISSING:
            raise
        return None
    return base64.b64decode(found["content"])


def _mark(key: str) -> str:
    return f"<!-- rastro: {key} -->"


def _said_before(said: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    """Find what a workflow said under a key: people's texts may quote the mark."""
    for one in said:
        by_workflow = one["user"]["type"] == "Bot"
        if by_workflow and (one["body"] or "").startswith(_mark(key)) and "pull_request" not in one:
            return one
    return None


def main(verb: str, file: str, *arguments: str) -> None:
    """Run one verb."""
    verbs: dict[str, Callable[..., None]] = {"comment": comment, "issue": issue, "propose": propose}
    github = GitHub(os.environ["GITHUB_API_URL"], os.environ["GITHUB_REPOSITORY"], os.environ["GITHUB_TOKEN"])
    verbs[verb](github, Path(file).read_text(), *arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
