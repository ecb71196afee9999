"""Stand in for ECR: tokens by its API, and registries by the HTTP API of OCI distribution, each under its own host.

What the real one is known for holds here too: blobs are handed out by a redirect to a store that wants no token, tags
never change, and a manifest is taken only once everything that it names is there.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import trustme

from tests.loopback.server import QuietHandler, serving

STORE = "layers.s3.us-east-1.amazonaws.com"
INDEX = "application/vnd.oci.image.index.v1+json"
IMAGE = "application/vnd.oci.image.manifest.v1+json"


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass
class Registry:
    """Hold one repository: blobs by digest, manifests by tag and by digest, and who may do what."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    manifests: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    pull: frozenset[str] = frozenset()
    push: frozenset[str] = frozenset()
    uploads: dict[str, bytes] = field(default_factory=dict)

    def add(self, media_type: str, document: dict[str, Any], *names: str) -> str:
        """Put a manifest there, as a build would, and give its digest."""
        content = json.dumps(document).encode()
        digest = digest_of(content)
        for name in (digest, *names):
            self.manifests[name] = (media_type, content)
        return digest

    def add_image(self, *layers: bytes, tag: str = "v1") -> str:
        """Put an image there, and give its digest."""
        parts = [b'{"architecture": "arm64"}', *layers]
        self.blobs |= {digest_of(part): part for part in parts}
        config, *rest = ({"digest": digest_of(part), "size": len(part)} for part in parts)
        return self.add(IMAGE, {"schemaVersion": 2, "config": config, "layers": rest}, tag)


@dataclass
class Ecr:
    """Hold registries by their host, what was asked, and what goes wrong.

    Attributes:
        forged: blobs that are handed out with other bytes.
        failing: the method and the part of a path that are answered with 500.
    """

    authority: Path
    registries: dict[str, Registry]
    url: str = ""
    forged: set[str] = field(default_factory=set)
    failing: tuple[str, str] | None = None
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    def variables(self) -> dict[str, str]:
        """Give what a process needs, beside credentials, to take this for ECR."""
        return {
            "AWS_ENDPOINT_URL_ECR": self.url,
            "HTTPS_PROXY": self.url,
            "NO_PROXY": "127.0.0.1,localhost",
            "SSL_CERT_FILE": str(self.authority),
        }


@contextmanager
def standing(folder: Path, registries: dict[str, Registry]) -> Iterator[Ecr]:
    """Stand on loopback until the block ends; the authority's certificate lies in the folder."""
    authority = trustme.CA()
    ecr = Ecr(folder / "authority.pem", registries)
    authority.cert_pem.write_to_path(str(ecr.authority))

    class Handler(_Handler):
        def do_CONNECT(self) -> None:
            self.host = self.path.rpartition(":")[0]
            self.send_response(200)
            self.end_headers()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert(self.host).configure_cert(context)
            self.connection = context.wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb", 0)
            self.close_connection = False

    Handler.ecr = ecr
    with serving(Handler) as url:
        ecr.url = url
        yield ecr


class _Handler(QuietHandler):
    ecr: Ecr
    host = ""

    def do_GET(self) -> None:
        content = self.body()
        self.ecr.asked.append((self.command, self.host, self.path))
        if not self.host:
            self._token()
        elif self.ecr.failing and self.command == self.ecr.failing[0] and self.ecr.failing[1] in self.path:
            self._refuse(500, "INTERNAL_ERROR")
        elif self.host == STORE:
            self._hand_out()
        else:
            self._serve(self.ecr.registries[self.host], content)

    do_HEAD = do_POST = do_PATCH = do_PUT = do_GET

    def finish(self) -> None:
        super().finish()
        # The server closes the socket that it accepted, which TLS has taken over.
        self.connection.close()

    def _token(self) -> None:
        """Answer GetAuthorizationToken: the token names the access key that asked."""
        assert self.headers["X-Amz-Target"].endswith(".GetAuthorizationToken")
        found = re.search(r"Credential=([^/]+)/", self.headers["Authorization"])
        assert found is not None
        token = base64.b64encode(f"AWS:{found[1]}".encode()).decode()
        body = json.dumps({"authorizationData": [{"authorizationToken": token, "proxyEndpoint": "unused"}]})
        self.answer(body.encode(), content_type="application/x-amz-json-1.1")

    def _hand_out(self) -> None:
        """Hand a blob out as S3 does: whoever signs twice is refused."""
        if "Authorization" in self.headers:
            self._refuse(400, "InvalidArgument: Only one auth mechanism allowed")
            return
        digest = self.path.rpartition("/")[2]
        blob = next(held.blobs[digest] for held in self.ecr.registries.values() if digest in held.blobs)
        self.answer(b"forged" if digest in self.ecr.forged else blob, content_type="application/octet-stream")

    def _serve(self, registry: Registry, content: bytes) -> None:
        caller = base64.b64decode(self.headers["Authorization"].removeprefix("Basic ")).decode().partition(":")[2]
        may = registry.push if self.command in {"POST", "PATCH", "PUT"} else registry.pull | registry.push
        if caller not in may:
            self._refuse(403, "DENIED")
            return
        address = urlsplit(self.path)
        assert address.path.startswith("/v2/rastro-agent/")
        kind, _, name = address.path.removeprefix("/v2/rastro-agent/").partition("/")
        if kind == "manifests":
            self._manifest(registry, name, content)
        elif name.startswith("uploads"):
            self._upload(registry, name, content, parse_qs(address.query).get("digest", [""])[0])
        elif name not in registry.blobs:
            self._refuse(404, "BLOB_UNKNOWN")
        elif self.command == "HEAD":
            self._head(len(registry.blobs[name]))
        else:
            self.answer(b"", status=307, Location=f"https://{STORE}/{name}")

    def _manifest(self, registry: Registry, name: str, content: bytes) -> None:
        if self.command != "PUT":
            if name not in registry.manifests:
                self._refuse(404, "MANIFEST_UNKNOWN")
                return
            media_type, held = registry.manifests[name]
            self.answer(held, content_type=media_type)
            return
        document, digest = json.loads(content), digest_of(content)
        named = [part["digest"] for part in (document.get("config"), *document.get("layers", ())) if part]
        if [part for part in named if part not in registry.blobs]:
            self._refuse(400, "MANIFEST_BLOB_UNKNOWN")
        elif [one["digest"] for one in document.get("manifests", ()) if one["digest"] not in registry.manifests]:
            self._refuse(400, "MANIFEST_UNKNOWN")
        elif name in registry.manifests and registry.manifests[name][1] != content:
            self._refuse(400, "TAG_INVALID: the tag is immutable")
        else:
            registry.manifests |= dict.fromkeys((name, digest), (self.headers["Content-Type"], content))
            self.answer(b"", status=201)

    def _upload(self, registry: Registry, name: str, content: bytes, digest: str) -> None:
        upload = name.removeprefix("uploads/") or f"u{len(registry.uploads)}"
        registry.uploads[upload] = held = registry.uploads.get(upload, b"") + content
        location = f"/v2/rastro-agent/blobs/uploads/{upload}"
        if self.command != "PUT":
            self.answer(b"", status=202, Location=location)
        elif digest_of(held) != digest:
            self._refuse(400, "DIGEST_INVALID")
        else:
            registry.blobs[digest] = held
            self.answer(b"", status=201)

    def _head(self, length: int) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def _refuse(self, status: int, code: str) -> None:
        body = b"" if self.command == "HEAD" else json.dumps({"errors": [{"code": code}]}).encode()
        self.answer(body, status=status)
