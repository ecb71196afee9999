"""Run Terraform in the folder of one synthesised stack, and read what its state holds."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class TerraformError(Exception):
    """Repeat what Terraform said when it failed, and where."""

    def __init__(self, arguments: tuple[str, ...], folder: Path, said: str) -> None:
        """Name the command, the folder and Terraform's own words."""
        super().__init__(f"terraform {' '.join(arguments)} failed in {folder}:\n{said.strip()}")


def version_line() -> str | None:
    """Give the first line of `terraform version`, or None where there is no Terraform on PATH."""
    if shutil.which("terraform") is None:
        return None
    answer = subprocess.run(["terraform", "version"], capture_output=True, text=True, check=False)
    return answer.stdout.split("\n", 1)[0]


@dataclass(frozen=True, slots=True)
class Workspace:
    """Stand in one stack's folder; every method raises TerraformError where Terraform fails."""

    folder: Path

    def init(self) -> None:
        """Get the provider and open the state."""
        self._run("init", "-input=false")

    def held(self) -> dict[str, dict[str, Any]]:
        """Read what the state holds: attributes by address; nothing where there is no state yet."""
        state = json.loads(self._run("show", "-json"))
        resources = state.get("values", {}).get("root_module", {}).get("resources", [])
        return {resource["address"]: resource["values"] for resource in resources}

    def refresh(self) -> None:
        """Read everything in the state from AWS anew, so that a wrong account or missing credentials show now."""
        self._run("apply", "-refresh-only", "-auto-approve", "-input=false")

    def forget(self, addresses: list[str]) -> None:
        """Take addresses out of the state, all or none; nothing is deleted in AWS."""
        self._run("state", "rm", *addresses)

    def take(self, address: str, import_id: str) -> None:
        """Import what exists in AWS."""
        self._run("import", "-input=false", address, import_id)

    def plan(self, file: str) -> bool:
        """Write a plan into the folder, and tell whether it changes anything.

        The state is read and not locked, so that a role which may only read can plan; what moved on since is refused
        when the plan is applied.
        """
        arguments = ("plan", "-input=false", "-lock=false", "-detailed-exitcode", f"-out={file}")
        return self._answer(arguments, fine=(0, 2)).returncode == 2  # noqa: PLR2004 - Terraform's word for changes

    def read(self, plan: str) -> dict[str, Any]:
        """Read a plan of the folder, as Terraform's JSON."""
        found: dict[str, Any] = json.loads(self._run("show", "-json", plan))
        return found

    def told(self, plan: str) -> str:
        """Tell a plan of the folder in Terraform's own words."""
        return self._run("show", "-no-color", plan)

    def apply(self, plan: str) -> str:
        """Apply a plan of the folder, and nothing else; gives Terraform's words."""
        return self._run("apply", "-input=false", "-no-color", plan)

    def outputs(self) -> dict[str, Any]:
        """Read the outputs of the state."""
        found = json.loads(self._run("output", "-json"))
        return {name: output["value"] for name, output in found.items()}

    def _run(self, *arguments: str) -> str:
        return self._answer(arguments).stdout

    def _answer(self, arguments: tuple[str, ...], fine: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        answer = subprocess.run(
            ["terraform", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.returncode not in fine:
            raise TerraformError(arguments, self.folder, answer.stderr)
        return answer
