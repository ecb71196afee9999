"""Stand in for GitHub's API on loopback, as far as the workflows and the renewal of actions speak to it.

with repository(GitHub()) as github:
    run(["python3", ".github/scripts/post.py", …], env={…, **github.variables()})
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.loopback.server import QuietHandler, serving

BOT, PERSON = {"type": "Bot", "login": "github-actions[bot]"}, {"type": "User", "login": "someone"}
_NAME = "owner/agent"


class _RefusedError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass
class GitHub:
    """Hold what the repository holds, and who may speak.

    Attributes:
        comments: of every pull request, by its number.
        issues: open and closed ones; GitHub lists pull requests among them.
        branches: files by branch.
        trees: what was planted and no branch may hold yet.
        releases: the newest version of other repositories.
        tags: by repository and version: what the tag names, which is a commit or an object of its own.
    """

    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    issues: list[dict[str, Any]] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    branches: dict[str, dict[str, bytes]] = field(default_factory=lambda: {"main": {}})
    trees: list[dict[str, bytes]] = field(default_factory=list)
    releases: dict[str, str] = field(default_factory=dict)
    tags: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    annotated: dict[str, dict[str, str]] = field(default_factory=dict)
    token: str = "a-token-of-the-run"  # noqa: S105 - nobody else takes it
    url: str = ""
    asked: list[str] = field(default_factory=list)

    def variables(self) -> dict[str, str]:
        """Give what a step has in its environment."""
        return {"GITHUB_API_URL": self.url, "GITHUB_REPOSITORY": _NAME, "GITHUB_TOKEN": self.token}

    def answer(self, method: str, target: str, body: dict[str, Any]) -> Any:
        """Answer one question, or refuse it."""
        self.asked.append(f"{method} {target}")
        address = urlsplit(target)
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        path = unquote(address.path)
        if found := re.fullmatch(r"/repos/([^/]+/[^/]+)/(releases/latest|git/ref/tags/.+|git/tags/.+)", path):
            return self._of_another(found[1], found[2])
        path = path.removeprefix(f"/repos/{_NAME}")
        for pattern, answer in self._routes(method, query, body).items():
            if found := re.fullmatch(pattern, f"{method} {path}"):
                return answer(*found.groups())
        raise _RefusedError(404)

    def _routes(self, method: str, query: dict[str, str], body: dict[str, Any]) -> dict[str, Any]:
        return {
            "GET ": lambda: {"default_branch": "main"},
            r"GET /issues/(\d+)/comments": lambda number: _page(self.comments.get(int(number), []), query),
            r"POST /issues/(\d+)/comments": lambda number: self._add(
                self.comments.setdefault(int(number), []), {**body, "user": BOT}
            ),
            r"PATCH /issues/comments/(\d+)": lambda wanted: self._change("id", int(wanted), body),
            "GET /issues": lambda: _page([one for one in self.issues if one["state"] == query["state"]], query),
            "POST /issues": lambda: self._add(self.issues, {**body, "user": BOT, "state": "open"}),
            r"PATCH /issues/(\d+)": lambda wanted: self._change("number", int(wanted), body),
            "GET /pulls": lambda: _page([one for one in self.pulls if one["label"] == query["head"]], query),
            "POST /pulls": lambda: self._add(self.pulls, {**body, "label": f"owner:{body['head']}", "user": BOT}),
            r"PATCH /pulls/(\d+)": lambda wanted: self._change("number", int(wanted), body),
            r"GET /git/ref/heads/(.+)": lambda branch: {"object": {"sha": f"commit-{branch}"}},
            r"GET /git/commits/commit-(.+)": lambda branch: {"tree": {"sha": f"tree-{branch}"}},
            "POST /git/trees": lambda: self._plant(body["base_tree"].removeprefix("tree-"), body["tree"]),
            "POST /git/commits": lambda: {"sha": f"{body['tree']} on {body['parents'][0]}"},
            "POST /git/refs": lambda: self._point(body["ref"].removeprefix("refs/heads/"), body["sha"], new=True),
            r"PATCH /git/refs/heads/(.+)": lambda branch: self._point(branch, body["sha"], new=not body["force"]),
            r"GET /contents/(.+)": lambda path: self._file(query["ref"], path),
        }

    def _add(self, to: list[dict[str, Any]], one: dict[str, Any]) -> dict[str, Any]:
        number = 100 + len(self.issues) + len(self.pulls) + sum(map(len, self.comments.values()))
        to.append({**one, "id": number, "number": number})
        return to[-1]

    def _change(self, key: str, wanted: int, body: dict[str, Any]) -> dict[str, Any]:
        said = [*self.issues, *self.pulls, *(one for comments in self.comments.values() for one in comments)]
        (found,) = [one for one in said if one[key] == wanted]
        found.update(body)
        return found

    def _plant(self, base: str, entries: list[dict[str, str]]) -> dict[str, Any]:
        files = {entry["path"]: entry["content"].encode() for entry in entries}
        self.trees.append({**self.branches[base], **files})
        return {"sha": f"planted-{len(self.trees) - 1}"}

    def _point(self, branch: str, commit: str, *, new: bool) -> dict[str, Any]:
        if (branch in self.branches) == new:
            raise _RefusedError(422)
        tree, _, parent = commit.partition(" on ")
        assert parent == "commit-main"
        self.branches[branch] = self.trees[int(tree.removeprefix("planted-"))]
        return {}

    def _file(self, branch: str, path: str) -> dict[str, Any]:
        content = self.branches.get(branch, {}).get(path)
        if content is None:
            raise _RefusedError(404)
        return {"content": base64.encodebytes(content).decode()}

    def _of_another(self, name: str, what: str) -> dict[str, Any]:
        if what == "releases/latest" and name in self.releases:
            return {"tag_name": self.releases[name]}
        _, _, last = what.rpartition("/")
        if what.startswith("git/tags/") and last in self.annotated:
            return {"object": self.annotated[last]}
        if (name, last) in self.tags:
            return {"object": self.tags[name, last]}
        raise _RefusedError(404)


def _page(found: list[dict[str, Any]], query: dict[str, str]) -> list[dict[str, Any]]:
    # However many are asked for, GitHub gives a hundred at most.
    size, page = min(100, int(query["per_page"])), int(query["page"])
    return found[size * (page - 1) : size * page]


@contextmanager
def repository(github: GitHub) -> Iterator[GitHub]:
    """Serve on loopback until the block ends."""

    class Handler(QuietHandler):
        def _handle(self) -> None:
            body = json.loads(self.body() or b"{}")
            if self.headers.get("Authorization") not in {f"Bearer {github.token}", None}:
                self.answer(b"{}", status=401)
                return
            try:
                self.answer(json.dumps(github.answer(self.command, self.path, body)).encode())
            except _RefusedError as refusal:
                self.answer(b'{"message": "refused"}', status=refusal.status)

        do_GET = do_POST = do_PATCH = do_PUT = _handle

    with serving(Handler) as github.url:
        yield github
