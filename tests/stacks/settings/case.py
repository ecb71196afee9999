"""State one change of a shipped settings file and the one fault that it must give."""

from __future__ import annotations

from dataclasses import dataclass

from tests.stacks.settings.folder import Folder

DEV = "dev.toml"
PROD = "prod.toml"
SANDBOX = "accounts/sandbox.toml"


@dataclass(frozen=True, slots=True)
class Case:
    """Replace `old` with `new` in one file: the only fault of all files must read as stated, after the file's name."""

    name: str
    file: str
    old: str
    new: str
    says: str

    def check(self, folder: Folder) -> None:
        """Make the change, load the folder and compare its only fault: key path, value, problem and what is allowed."""
        folder.replace(self.file, self.old, self.new)
        (fault,) = folder.faults()
        line = str(fault)
        assert line.startswith(f"environments/{self.file}: {self.says}")
        assert line.isprintable()
