"""Renew the actions that the workflows use: ask what is newest, and rewrite the table and the workflows.

Run by `make actions`. It asks https://api.github.com, or a mirror of it named by GITHUB_API_URL; GITHUB_TOKEN, where it
is set, raises the limit of questions. Status 1: something was no answer, and nothing is written.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import tomlkit

TABLE: Final = Path(".github/actions.toml")
WORKFLOWS: Final = Path(".github/workflows")
GITHUB: Final = "https://api.github.com"
_VERSION: Final = re.compile(r"v\d+\.\d+\.\d+")
_DIGEST: Final = re.compile(r"[0-9a-f]{40}")

Ask = Callable[[str], Any]


class AnswerError(Exception):
    """Say that an answer names no version, or no commit."""


def newest(ask: Ask, action: str) -> tuple[str, str]:
    """Find the version of the newest release of an action, and the commit that it stands for.

    Raises:
        AnswerError: the release is not named like v1.2.3, or its tag leads to no commit.
    """
    version = str(ask(f"/repos/{action}/releases/latest").get("tag_name"))
    if not _VERSION.fullmatch(version):
        message = f"{action}: its newest release is called {version[:60]!r}; allowed: a name like v1.2.3"
        raise AnswerError(message)
    found = ask(f"/repos/{action}/git/ref/tags/{version}")["object"]
    if found["type"] == "tag":
        # An annotated tag is an object of its own, and it names the commit.
        found = ask(f"/repos/{action}/git/tags/{found['sha']}")["object"]
    if found["type"] != "commit" or not _DIGEST.fullmatch(found["sha"]):
        message = f"{action}: the tag {version} leads to no commit"
        raise AnswerError(message)
    return version, found["sha"]


def renewed_table(table: str, found: Mapping[str, tuple[str, str]], where: str, today: date) -> str:
    """Write what was found over the rows that it differs from; everything else, comments included, stays."""
    document = tomlkit.parse(table)
    for row in document["action"]:
        version, digest = found[row["name"]]
        if (row["version"], row["digest"]) != (version, digest):
            row.update({"version": version, "digest": digest, "seen": where, "date": today})
    return tomlkit.dumps(document)


def renewed_workflow(workflow: str, found: Mapping[str, tuple[str, str]]) -> str:
    """Pin every action of a workflow to what was found, its version behind it."""
    for action, (version, digest) in found.items():
        workflow = re.sub(rf"(uses: {re.escape(action)})@.*", rf"\g<1>@{digest} # {version}", workflow)
    return workflow


def _asking(base: str, token: str | None) -> Ask:
    def ask(path: str) -> Any:  # noqa: ANN401 - JSON of any shape
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(f"{base}{path}", headers=headers)  # noqa: S310 - an address of the caller's
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
            return json.load(answer)

    return ask


def main() -> int:
    """Ask for every action first, so that all is renewed or nothing."""
    base = os.environ.get("GITHUB_API_URL", GITHUB)
    ask = _asking(base, os.environ.get("GITHUB_TOKEN"))
    table = TABLE.read_text()
    try:
        found = {row["name"]: newest(ask, row["name"]) for row in tomlkit.parse(table)["action"]}
    except (AnswerError, urllib.error.URLError, ValueError, LookupError, TypeError, AttributeError) as error:
        print(f"nothing is written: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    TABLE.write_text(renewed_table(table, found, f"{base}/repos/…/releases/latest", datetime.now(UTC).date()))
    for path in sorted(WORKFLOWS.glob("*.yml")):
        path.write_text(renewed_workflow(path.read_text(), found))
    for action, (version, digest) in found.items():
        print(f"{action}  {version}  {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
