"""Describe the bundle of direct code deployment: the agent and its packages in one zip, for a runtime without an image.

What pip writes about the machine that it ran on is left out; nothing else is, so that no package misses a file of its
own. The same packages and code give the same bytes.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

PYTHON: Final = "3.13"
"""The Python that the runtime runs, which packages are chosen for; the image has the same."""
RUNTIME: Final = f"PYTHON_{PYTHON.replace('.', '_')}"
MAIN: Final = "main.py"
ENTRY_POINT: Final = ("opentelemetry-instrument", MAIN)
"""ADOT first, as in the image; AgentCore takes at most two words."""
WHEELS: Final = "manylinux2014_aarch64"
"""The one platform that AWS names for bundles; every package of the lock file has a wheel for it."""
PACKED_LIMIT, UNPACKED_LIMIT = 250_000_000, 750_000_000
"""Bytes that AgentCore takes (250 MB zipped, 750 MB unzipped, read in the stricter sense)."""

_MAIN_SOURCE: Final = '''"""Start the agent as the image's command does: `opentelemetry-instrument` comes before it."""

import runpy

runpy.run_module("agent_image", run_name="__main__", alter_sys=True)
'''
# Where packages are evaluated for: the runtime, not the machine that builds.
_TARGET: Final = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "aarch64",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "python_full_version": f"{PYTHON}.0",
    "python_version": PYTHON,
    "sys_platform": "linux",
}
_SCRIPTS: Final = "bin/"
_LAUNCHER: Final = f"{_SCRIPTS}{ENTRY_POINT[0]}"
_SHEBANG: Final = re.compile(rb"\A#![^\n]*\n")
_ABOUT_THIS_MACHINE: Final = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})
_OF_THE_IMAGE: Final = frozenset({"Dockerfile", "requirements.lock"})
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_FILE, _PROGRAM = 0o100644, 0o100755
_SHOWN: Final = 5


def requirements(lock: str) -> str:
    """Give the lock file's entries that the runtime needs, hashes included, without their markers.

    pip would evaluate markers for the Python that it runs on, which may be another.
    """
    entries = (line for line in lock.replace("\\\n", " ").splitlines() if line.strip())
    needed = []
    for entry in entries:
        written, *hashes = entry.split(" --hash=")
        requirement = Requirement(written)
        if requirement.marker is None or requirement.marker.evaluate(_TARGET):
            requirement.marker = None
            needed.append(" ".join([str(requirement), *(f"--hash={one.strip()}" for one in hashes)]))
    return "\n".join(needed) + "\n"


def install_command(python: str, *, requirements_file: Path, folder: Path) -> list[str]:
    """Install wheels for the runtime into a folder: nothing is built, and nothing that is not in the lock file."""
    return [
        *(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"),
        *("--no-deps", "--require-hashes", "--only-binary=:all:", "--implementation", "cp"),
        *("--platform", WHEELS, "--python-version", PYTHON),
        *("--target", str(folder), "--requirement", str(requirements_file)),
    ]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Hold how large a bundle is, in bytes, and how large each package in it."""

    packed: int
    unpacked: int
    packages: Mapping[str, int]

    def problems(self) -> Iterator[str]:
        """Say which limits the bundle is over, and what takes most of it."""
        limits = (("zipped", self.packed, PACKED_LIMIT), ("unzipped", self.unpacked, UNPACKED_LIMIT))
        for name, size, limit in limits:
            if size > limit:
                allowed = f"allowed: {_megabytes(limit)}; the largest: {self._largest()}"
                yield f"the bundle is {_megabytes(size)} {name}; {allowed}"

    def __str__(self) -> str:
        """Give both sizes in a few words."""
        return f"{_megabytes(self.packed)} zipped, {_megabytes(self.unpacked)} unzipped"

    def _largest(self) -> str:
        found = sorted(self.packages.items(), key=lambda package: (-package[1], package[0]))[:_SHOWN]
        return ", ".join(f"{name} {_megabytes(size)}" for name, size in found)


def pack(*, packages: Path, code: Path, out: Path) -> Sizes:
    """Write the bundle: names in order, one time for all, and rights that let any user read it."""
    unpacked: Counter[str] = Counter()
    with zipfile.ZipFile(out, "w") as bundle:
        for name, content in sorted(_contents(packages, code).items()):
            held = content if isinstance(content, bytes) else content.read_bytes()
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3  # rights below are those of Unix, on whatever system this runs
            entry.external_attr = (_PROGRAM if name == _LAUNCHER else _FILE) << 16
            bundle.writestr(entry, held, compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)
            unpacked[name.partition("/")[0]] += len(held)
    return Sizes(out.stat().st_size, unpacked.total(), dict(unpacked))


def _contents(packages: Path, code: Path) -> dict[str, Path | bytes]:
    """Map each name in the bundle to the file it comes from, or to its bytes."""
    found: dict[str, Path | bytes] = {
        name: path
        for name, path in _files(packages)
        if path.name not in _ABOUT_THIS_MACHINE and not name.startswith(_SCRIPTS)
    }
    found |= {f"agent_image/{name}": path for name, path in _files(code) if name not in _OF_THE_IMAGE}
    found[MAIN] = _MAIN_SOURCE.encode()
    # pip writes the path of the Python that it ran on into the first line.
    found[_LAUNCHER] = _SHEBANG.sub(b"#!/usr/bin/env python3\n", (packages / _LAUNCHER).read_bytes())
    return found


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
        if path.is_file() and not hidden:
            yield inside.as_posix(), path


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"
