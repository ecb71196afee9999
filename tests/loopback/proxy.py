"""Stand between a process and AWS's HTTPS endpoints: end TLS with an authority of its own, and keep what was sent."""

from __future__ import annotations

import gzip
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import trustme

from tests.loopback.server import QuietHandler, serving


@dataclass(frozen=True)
class Sent:
    """Hold one request that left a process."""

    host: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Proxy:
    """Hold what was sent through, and how to be trusted."""

    authority: Path
    url: str = ""
    sent: list[Sent] = field(default_factory=list)

    def variables(self) -> dict[str, str]:
        """Give the variables that send a process's HTTPS through this proxy, loopback aside."""
        return {
            "HTTPS_PROXY": self.url,
            "NO_PROXY": "127.0.0.1,localhost",
            "REQUESTS_CA_BUNDLE": str(self.authority),
            "AWS_CA_BUNDLE": str(self.authority),
            "OTEL_EXPORTER_OTLP_CERTIFICATE": str(self.authority),
        }


@contextmanager
def standing(folder: Path) -> Iterator[Proxy]:
    """Stand on loopback until the block ends; the authority's certificate lies in the folder."""
    authority = trustme.CA()
    proxy = Proxy(folder / "authority.pem")
    authority.cert_pem.write_to_path(str(proxy.authority))

    class Handler(QuietHandler):
        def do_CONNECT(self) -> None:
            host = self.path.rpartition(":")[0]
            self.send_response(200)
            self.end_headers()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert(host).configure_cert(context)
            self.connection = context.wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb", 0)
            self.host = host
            self.close_connection = False

        def do_POST(self) -> None:
            body = self.body()
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            host = getattr(self, "host", self.headers.get("Host", ""))
            proxy.sent.append(Sent(host, self.path, dict(self.headers.items()), body))
            self.answer(b"{}")

        def finish(self) -> None:
            super().finish()
            # The server closes the socket that it accepted, which TLS has taken over.
            self.connection.close()

    with serving(Handler) as url:
        proxy.url = url
        yield proxy
