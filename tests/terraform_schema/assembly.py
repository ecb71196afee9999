"""Read what the jsii tarball of a bindings package says about its Terraform provider."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, Final

_ASSEMBLY: Final = ".jsii"
_MANIFEST: Final = "package.json"


class BindingsError(Exception):
    """Say why a bindings package cannot be read."""


class BindingsNotFoundError(BindingsError):
    """Say that the one tarball of a bindings package is not where it should be."""

    def __init__(self, package: str, found: int) -> None:
        """Say how many tarballs there are instead of one."""
        super().__init__(f"{package}: {found} jsii tarballs found, 1 expected; install the package of the lock file")


class MissingFilesError(BindingsError):
    """Say which files a tarball lacks."""

    def __init__(self, tarball: str, missing: Iterable[str]) -> None:
        """Name the tarball and the files."""
        super().__init__(f"{tarball} lacks {', '.join(sorted(missing))}; its layout has changed, teach assembly.py")


@dataclass(frozen=True, slots=True)
class Bindings:
    """Hold an assembly's types by their full names, and the provider that they were generated from."""

    provider: str
    version: str
    types: Mapping[str, dict[str, Any]]
    tarball: Path

    def javascript(self, sources: Iterable[str]) -> dict[str, str]:
        """Return the compiled text of TypeScript sources, by source name as the assembly spells it."""
        compiled = {source: _compiled(source) for source in sources}
        files = _read(self.tarball, compiled.values())
        return {source: files[name].decode() for source, name in compiled.items()}


def find_tarball(package: str) -> Path:
    """Return the jsii tarball of an installed package, without importing the package."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    tarballs = [path for folder in folders or [] for path in Path(folder, "_jsii").glob("*.jsii.tgz")]
    if len(tarballs) != 1:
        raise BindingsNotFoundError(package, len(tarballs))
    return tarballs[0]


def read_bindings(tarball: Path) -> Bindings:
    """Read a bindings tarball."""
    files = _read(tarball, [_ASSEMBLY, _MANIFEST])
    assembly = json.loads(files[_ASSEMBLY])
    if assembly.get("schema") == "jsii/file-redirect":
        redirected = assembly["filename"]
        assembly = json.loads(gzip.decompress(_read(tarball, [redirected])[redirected]))
    manifest = json.loads(files[_MANIFEST])
    # cdktn manifests name the provider under both keys, cdktf manifests under `cdktf` alone.
    provider = (manifest.get("cdktn") or manifest["cdktf"])["provider"]
    source = provider["name"].removeprefix("registry.terraform.io/")
    return Bindings(source, provider["version"], assembly["types"], tarball)


def _compiled(source: str) -> str:
    return str(PurePosixPath("lib", *PurePosixPath(source).parts[1:]).with_suffix(".js"))


def _read(tarball: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Read files in one forward pass: each step back would unpack half a gigabyte anew."""
    wanted = {f"package/{name}": name for name in names}
    files: dict[str, bytes] = {}
    with tarfile.open(tarball, "r|gz") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.name in wanted else None
            if content is not None:
                files[wanted.pop(member.name)] = content.read()
            if not wanted:
                return files
    raise MissingFilesError(tarball.name, wanted)
