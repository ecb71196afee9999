"""Find a binary of the real provider in a folder that is laid out as Terraform's mirrors and caches are."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SOURCE: Final = Path("registry.terraform.io/hashicorp/aws")
_VERSION: Final = re.compile(r"\d+\.\d+\.\d+")


class MissingError(Exception):
    """Say that a folder holds no provider for this machine, and what was looked for."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """Name the folder, and the newest version in it that this machine can run."""

    folder: Path
    version: str

    def write_settings(self, folder: Path) -> Path:
        """Write the settings that make Terraform take the provider from there, and from nowhere else."""
        path = folder / "terraform.rc"
        path.write_text(f'provider_installation {{\n  filesystem_mirror {{ path = "{self.folder}" }}\n}}\n')
        return path


def platform() -> str:
    """Name this machine as Terraform does."""
    system, _, _, _, machine = os.uname()
    return f"{system.lower()}_{ {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(machine, machine) }"


def find(folder: Path) -> Plugin:
    """Find the newest provider.

    Raises:
        MissingError: there is none for this machine.
    """
    pattern = f"{SOURCE}/*/{platform()}/terraform-provider-aws*"
    versions = {path.parent.parent.name for path in folder.glob(pattern) if os.access(path, os.X_OK)}
    known = sorted(filter(_VERSION.fullmatch, versions), key=lambda version: [*map(int, version.split("."))])
    if not known:
        message = f"{folder}: holds no provider for this machine; looked for {pattern}"
        raise MissingError(message)
    return Plugin(folder.absolute(), known[-1])
