"""Lay a project of its own out of this one, and run steps of the workflows there as a runner would."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT
from tests.workflows.reading import Step

_AUTHOR = ("-c", "user.name=a reviewer", "-c", "user.email=reviewer@example.com")


@dataclass(frozen=True, slots=True)
class Project:
    """Hold a repository with the files of this one, set up, and what its steps said to the runner."""

    folder: Path

    def git(self, *arguments: str) -> str:
        answer = subprocess.run(
            ["git", *_AUTHOR, *arguments],  # noqa: S607 - git stands on PATH
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return answer.stdout

    def commit(self, message: str) -> None:
        self.git("commit", "--quiet", "--all", "--message", message)

    def change(self, file: str, old: str, new: str) -> None:
        path = self.folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def run(
        self, step: Step, environment: Mapping[str, str] = {}, given: Mapping[str, str] = {}
    ) -> subprocess.CompletedProcess[str]:
        """Run the script of a step as it is written, in the shell that the workflow asks for.

        Args:
            step: what to run.
            environment: a value for each variable that the step declares, and for no other.
            given: what an earlier step, the job or the runner would have put into the environment.
        """
        assert set(step.declared.get("env", {})) == set(environment)
        assert step.run is not None
        script = self.folder / ".step.sh"
        script.write_text(step.run)
        (self.folder / ".output").write_text("")
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],  # noqa: S607 - as on a runner
            cwd=self.folder,
            env={
                "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                "HOME": os.environ["HOME"],
                # The installed command would take the code of this project, and write into it.
                "PYTHONPATH": str(self.folder),
                "CI": "true",
                "GITHUB_OUTPUT": str(self.folder / ".output"),
                "GITHUB_STEP_SUMMARY": str(self.folder / ".summary"),
                **environment,
                **given,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def outputs(self) -> str:
        """Give what the last step put out for later ones."""
        return (self.folder / ".output").read_text()

    @property
    def summary(self) -> str:
        """Give what stands on the page of the run."""
        return (self.folder / ".summary").read_text()


def laid(folder: Path, base: str = "the base") -> Project:
    """Copy what git would keep of this project, commit it, and set it up by what is set up here."""
    kept = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(["git", *kept], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    project = Project(folder)
    project.git("init", "--quiet", "--initial-branch=main")
    project.git("add", "--all")
    project.commit(base)
    with (folder / ".git" / "info" / "exclude").open("a") as exclude:
        exclude.write("\n.venv\nnode_modules\nbin\n.output\n.summary\n.step.sh\n")
    (folder / "bin").mkdir()
    (folder / ".venv").symlink_to(ROOT / ".venv")
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    (folder / ".make").mkdir()
    for stamp in ("python", "node", "checkov"):
        (folder / ".make" / stamp).touch()
    return project
