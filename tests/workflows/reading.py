"""Read the workflows as records: what they run, with which rights, by which actions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.conftest import ROOT

GITHUB = ROOT / ".github"
PATHS = sorted((GITHUB / "workflows").glob("*.yml"))
_USED = re.compile(r"uses: (?P<action>[^@\s]+)@(?P<pin>\S+)(?: # (?P<version>\S+))?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """Hold one step, and the job and workflow that it is of."""

    workflow: str
    job: str
    declared: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.declared.get("name") or self.declared.get("uses") or self.declared.get("run"))

    @property
    def run(self) -> str | None:
        found: str | None = self.declared.get("run")
        return found


def read(path: Path) -> dict[str, Any]:
    # YAML 1.1 takes the key `on` for a truth value.
    found: dict[Any, Any] = yaml.safe_load(path.read_text())
    return {"on" if key is True else key: value for key, value in found.items()}


WORKFLOWS = {path.name: read(path) for path in PATHS}
JOBS = {(workflow, job): declared for workflow, found in WORKFLOWS.items() for job, declared in found["jobs"].items()}
STEPS = [Step(*key, declared) for key, job in JOBS.items() for declared in job["steps"]]


def step(workflow: str, job: str, name: str) -> Step:
    """Give the one step of a job that is called so, or runs so."""
    (found,) = [one for one in STEPS if (one.workflow, one.job, one.name) == (workflow, job, name)]
    return found


def used() -> Iterator[tuple[str, str, str | None]]:
    """Give every action as it is written: name, pin, and the version behind it."""
    for path in PATHS:
        for found in _USED.finditer(path.read_text()):
            yield found["action"], found["pin"], found["version"]


def table() -> list[dict[str, Any]]:
    """Read the table of actions."""
    rows: list[dict[str, Any]] = tomllib.loads((GITHUB / "actions.toml").read_text())["action"]
    return rows


def variables() -> set[str]:
    """Name every variable of the repository that a workflow reads; PLAN_ROLE_{0} stands for one an environment."""
    text = "\n".join(path.read_text() for path in PATHS)
    return set(re.findall(r"vars\.(\w+)", text)) | set(re.findall(r"vars\[format\('([^']+)'", text))
