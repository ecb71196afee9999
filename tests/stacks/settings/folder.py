"""Copy the shipped settings folder and change one thing at a time."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from stacks.settings.fault import Fault, SettingsError
from stacks.settings.load import Settings, load

REPOSITORY = Path(__file__).parents[3]
SHIPPED = REPOSITORY / "environments"
SHIPPED_FILES = tuple(sorted(path.relative_to(SHIPPED).as_posix() for path in SHIPPED.rglob("*.toml")))


@dataclass(frozen=True, slots=True)
class Folder:
    """Hold a settings folder of a test's own."""

    path: Path

    @classmethod
    def shipped(cls, parent: Path) -> Folder:
        """Copy the shipped settings folder below the given one."""
        shutil.copytree(SHIPPED, parent / "environments")
        return cls(parent / "environments")

    def replace(self, file: str, old: str, new: str) -> None:
        """Replace a text that stands exactly once in a file."""
        path = self.path / file
        text = path.read_text(encoding="utf-8")
        hits = text.count(old)
        assert hits == 1, f"{file} holds {old!r} {hits} times, and the case needs it once: adapt the case"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def write(self, file: str, text: str | bytes) -> None:
        """Write a whole file."""
        raw = text.encode() if isinstance(text, str) else text
        (self.path / file).write_bytes(raw)

    @property
    def image(self) -> Path:
        """Name the folder of the image beside it; a test makes it where it names hook files."""
        return self.path.parent / "agent_image"

    def load(self) -> Settings:
        """Load the folder."""
        return load(self.path, self.image)

    def faults(self) -> tuple[Fault, ...]:
        """Load the folder and give its faults, none if it loads."""
        try:
            self.load()
        except SettingsError as error:
            return error.faults
        return ()
