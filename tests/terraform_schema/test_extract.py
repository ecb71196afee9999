"""Check the committed extract against the installed bindings, and how bindings are read."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Final

import pytest

from tests.terraform_schema import extract
from tests.terraform_schema.assembly import (
    Bindings,
    BindingsNotFoundError,
    MissingFilesError,
    find_tarball,
    read_bindings,
)
from tests.terraform_schema.schema import EXTRACT

MANIFEST: Final = {"cdktf": {"provider": {"name": "registry.terraform.io/hashicorp/aws", "version": "1.2.3"}}}
REDIRECT: Final = {"schema": "jsii/file-redirect", "compression": "gzip", "filename": ".jsii.gz"}


def pack(tarball: Path, files: dict[str, bytes]) -> Path:
    """Write a tarball laid out as npm packs one."""
    with tarfile.open(tarball, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return tarball


def test_committed_extract_is_current() -> None:
    """The committed extract is what the bindings of the lock file say; if not, run the maintenance script."""
    bindings = read_bindings(find_tarball(extract.PACKAGE))
    fresh = extract.render(extract.extract(bindings, extract.RESOURCES, extract.DATA_SOURCES))

    assert EXTRACT.read_text(encoding="utf-8") == fresh, "run: python -m tests.terraform_schema.extract"


def test_redirected_assembly_is_followed(tmp_path: Path) -> None:
    """An assembly that points at a compressed file is read from there, wherever the file stands in the tarball."""
    files = {
        ".jsii.gz": gzip.compress(json.dumps({"types": {"a": {"kind": "enum"}}}).encode()),
        "package.json": json.dumps(MANIFEST).encode(),
        ".jsii": json.dumps(REDIRECT).encode(),
    }
    bindings = read_bindings(pack(tmp_path / "bindings.jsii.tgz", files))

    assert (bindings.provider, bindings.version) == ("hashicorp/aws", "1.2.3")
    assert bindings.types == {"a": {"kind": "enum"}}


def test_tarball_without_manifest_is_refused(tmp_path: Path) -> None:
    """A tarball that lacks a file is refused by the file's name."""
    with pytest.raises(MissingFilesError, match=r"lacks package/package\.json"):
        read_bindings(pack(tmp_path / "bindings.jsii.tgz", {".jsii": b"{}"}))


def test_package_without_tarball_is_refused() -> None:
    """A package that is not installed is refused with what to do."""
    with pytest.raises(BindingsNotFoundError, match="0 jsii tarballs found, 1 expected"):
        find_tarball("no_such_bindings")


def test_type_outside_bindings_is_refused(tmp_path: Path) -> None:
    """A listed type that the bindings lack stops the extraction, so that the list cannot promise too much."""
    bindings = Bindings("hashicorp/aws", "1.2.3", {}, tmp_path)

    with pytest.raises(extract.UnknownTypesError, match="aws_nothing"):
        extract.extract(bindings, ["aws_nothing"], [])
