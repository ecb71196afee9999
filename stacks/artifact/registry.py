"""Speak the registry's HTTP API (OCI distribution): manifests and blobs of one repository, with no Docker at hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final
from urllib.parse import urljoin

import httpx

from stacks.preflight import OperationError

_TYPES: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_TIMEOUT: Final = httpx.Timeout(60.0)
_MANIFEST_LIMIT: Final = 4_194_304
_CHUNK: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class Blob:
    """Name a part of an image: its digest, and its length in bytes."""

    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Hold what an image is made of, byte for byte: its digest is that of these bytes."""

    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        """Give the digest that the image is known by."""
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"

    @property
    def blobs(self) -> tuple[Blob, ...]:
        """List the image's own parts; what lies at another address is not copied."""
        found = self._document()
        parts = [found["config"], *found["layers"]] if "config" in found else []
        return tuple(Blob(part["digest"], part["size"]) for part in parts if not part.get("urls"))

    @property
    def images(self) -> tuple[str, ...]:
        """List the digests of the images that an index names; none where this is an image itself."""
        return tuple(entry["digest"] for entry in self._document().get("manifests", ()))

    def _document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.content)
        return found


class Repository:
    """Read and write one repository; every method raises OperationError where the registry refuses.

    Redirects are followed by hand: a registry hands blobs out elsewhere, where its token is neither wanted nor safe.
    """

    def __init__(self, host: str, name: str, authorization: str, *, denied: str) -> None:
        """Open a repository of a host; `denied` says what to do where the token does not suffice."""
        self.shown = f"{host}/{name}"
        self._base = f"https://{host}/v2/{name}/"
        self._denied = denied
        self._client = httpx.Client(headers={"Authorization": authorization}, timeout=_TIMEOUT)

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def manifest(self, reference: str) -> Manifest | None:
        """Read a manifest by tag or digest, or None where there is none."""
        answer = self._ask("GET", f"manifests/{reference}", headers={"Accept": ", ".join(_TYPES)}, missing=True)
        if answer is None:
            return None
        if len(answer.content) > _MANIFEST_LIMIT:
            message = f"{self.shown}: the manifest {reference} is longer than {_MANIFEST_LIMIT:,} bytes"
            raise OperationError(message)
        return Manifest(answer.headers["Content-Type"].partition(";")[0], answer.content)

    def holds(self, blob: Blob) -> bool:
        """Tell whether a blob is there already."""
        return self._ask("HEAD", f"blobs/{blob.digest}", missing=True) is not None

    def fetch(self, blob: Blob, file: IO[bytes]) -> None:
        """Read a blob into a file, and hold it to its digest."""
        address, headers = urljoin(self._base, f"blobs/{blob.digest}"), dict(self._client.headers)
        digest = hashlib.sha256()
        try:
            with self._client.stream("GET", address, headers=headers) as answer:
                if answer.has_redirect_location:
                    elsewhere = urljoin(address, answer.headers["Location"])
                    with httpx.stream("GET", elsewhere, timeout=_TIMEOUT) as handed_out:
                        self._refuse(handed_out)
                        _write(handed_out, file, digest)
                else:
                    self._refuse(answer)
                    _write(answer, file, digest)
        except httpx.HTTPError as error:
            raise self._failed(error) from error
        if (found := f"sha256:{digest.hexdigest()}") != blob.digest or file.tell() != blob.size:
            message = (
                f"{self.shown}: handed out {found} ({file.tell():,} bytes) for {blob.digest} ({blob.size:,} bytes)"
            )
            raise OperationError(message)

    def store(self, blob: Blob, file: IO[bytes]) -> None:
        """Write a blob; the registry itself holds it to its digest."""
        opened = self._ask("POST", "blobs/uploads/", content=b"")
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(blob.size)}
        sent = self._ask("PATCH", opened.headers["Location"], content=_chunks(file), headers=headers)
        address = httpx.URL(urljoin(self._base, sent.headers["Location"])).copy_add_param("digest", blob.digest)
        self._ask("PUT", str(address), content=b"")

    def publish(self, reference: str, manifest: Manifest) -> None:
        """Write a manifest under a tag or its digest."""
        headers = {"Content-Type": manifest.media_type}
        self._ask("PUT", f"manifests/{reference}", content=manifest.content, headers=headers)

    def _ask(self, method: str, path: str, *, missing: bool = False, **request: Any) -> Any:
        """Ask, and give the answer; None for what is not there, where that is an answer."""
        try:
            answer = self._client.request(method, urljoin(self._base, path), **request)
        except httpx.HTTPError as error:
            raise self._failed(error) from error
        if missing and answer.status_code == httpx.codes.NOT_FOUND:
            return None
        self._refuse(answer)
        return answer

    def _refuse(self, answer: httpx.Response) -> None:
        if answer.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
            message = f"{self.shown}: refuses these credentials ({answer.status_code}); {self._denied}"
            raise OperationError(message)
        if not answer.is_success:
            answer.read()
            message = f"{self.shown}: answered {answer.status_code} to {answer.request.method}: {_said(answer.text)}"
            raise OperationError(message)

    def _failed(self, error: httpx.HTTPError) -> OperationError:
        return OperationError(f"{self.shown}: {type(error).__name__}: {_said(str(error))}")


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk


def _write(answer: httpx.Response, file: IO[bytes], digest: Any) -> None:
    for chunk in answer.iter_bytes(_CHUNK):
        file.write(chunk)
        digest.update(chunk)


def _said(text: str) -> str:
    """Cut what a registry says to a line that is safe to print."""
    return "".join(char if char.isprintable() else " " for char in text)[:300]
