"""Documents of the web are read from where a trail may lead, and from nowhere else."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from console.trace.sources.destinations import allowed
from console.trace.sources.source import Content, Refused, Why, missing, unreadable
from console.trace.sources.web import REDIRECTS, Web
from tests.loopback.server import QuietHandler, serving

PUBLIC = "203.0.114.7"


DRIPS = {
    "headers": (b"HTTP/1.1 200 OK\r\nX: ", b"x", b"\r\nContent-Length: 0\r\n\r\n"),
    "patience": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    "endless": (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", b"x", b""),
}
Asked = list[tuple[str, dict[str, str]]]


class Site(QuietHandler):
    """A site that answers by path, and keeps what it was asked."""

    asked: Asked

    def do_GET(self) -> None:
        self.asked.append((self.path, dict(self.headers)))
        path, _, rest = self.path.removeprefix("/").partition("/")
        getattr(self, f"_{path}", self._document)(rest)

    def _document(self, _rest: str) -> None:
        self.answer("Grüße".encode("latin-1"), content_type='Text/Markdown; charset="ISO-8859-1"')

    def _status(self, rest: str) -> None:
        self.answer(b"no", status=int(rest))

    def _to(self, rest: str) -> None:
        self.answer(b"", status=302, Location=rest.replace("|", "/"), Set_Cookie="secret=1; Path=/")

    def _again(self, rest: str) -> None:
        self.answer(b"", status=307, Location=f"/again/{int(rest) - 1}" if rest != "1" else "/doc.md")

    def _gzip(self, rest: str) -> None:
        self.answer(gzip.compress(b"x" * int(rest)), content_type="text/plain", Content_Encoding="gzip")

    def _br(self, _rest: str) -> None:
        self.answer(b"?", Content_Encoding="br")

    def _long(self, rest: str) -> None:
        self.answer(b"x" * int(rest), content_type="text/plain")

    def _slow(self, _rest: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        with suppress(OSError):
            for _ in range(100):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.05)

    def _dripping(self, rest: str) -> None:
        """Answer well, and take a second for it."""
        self.close_connection = True
        beginning, drop, end = DRIPS[rest]
        with suppress(OSError):
            for part in (beginning, *[drop] * 20, end):
                self.wfile.write(part)
                self.wfile.flush()
                time.sleep(0.05)

    def _broken(self, _rest: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"x")
        self.close_connection = True

    def _garbage(self, _rest: str) -> None:
        self.wfile.write(b"this is not HTTP\r\n\r\n")
        self.close_connection = True


@pytest.fixture
def site() -> Iterator[tuple[str, Asked]]:
    class Fresh(Site):
        asked: Asked = []  # noqa: RUF012 - one list for one server

    with serving(Fresh) as url:
        yield url, Fresh.asked


Served = tuple[str, Asked]


def web(**options: float) -> Web:
    return Web(allow_private=True, **options)  # type: ignore[arg-type]


def test_a_document_comes_with_what_its_server_says_of_it(site: Served) -> None:
    """Bytes, media type, charset, and the name at the end of its path."""
    assert web().read(f"{site[0]}/a/doc.md?x=1#part") == Content(
        "Grüße".encode("latin-1"), "doc.md", "text/markdown", "ISO-8859-1"
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("status/404", missing(Why.NOT_FOUND)),
        ("status/410", missing(Why.NOT_FOUND)),
        ("status/401", unreadable(Why.ACCESS_DENIED)),
        ("status/403", unreadable(Why.ACCESS_DENIED)),
        ("status/429", unreadable(Why.THROTTLED)),
        ("status/504", unreadable(Why.TIMEOUT)),
        ("status/500", unreadable(Why.SERVER_ERROR)),
        ("status/418", unreadable(Why.FAILED)),
        ("status/206", unreadable(Why.FAILED)),
        ("status/302", unreadable(Why.FAILED)),
        ("br", unreadable(Why.UNSUPPORTED)),
        ("broken", unreadable(Why.UNREACHABLE)),
        ("garbage", unreadable(Why.UNREACHABLE)),
        ("to/ftp:||example.com|x", unreadable(Why.BAD_URI)),
        ("to/file:||||etc|passwd", unreadable(Why.BAD_URI)),
        ("to/http:||[", unreadable(Why.BAD_URI)),
    ],
)
def test_what_is_not_read_is_not_called_read(site: Served, path: str, expected: Refused) -> None:
    """Gone is missing; all else is unreadable, with why."""
    assert web().read(f"{site[0]}/{path}") == expected


@pytest.mark.parametrize("uri", ["ftp://example.com/x", "http:///x", "http://[/x", "https://", "http://a b/x", "x.md"])
def test_what_is_no_address_of_the_web_is_refused(uri: str) -> None:
    """A URI of a trail may be anything."""
    assert web().read(uri) == unreadable(Why.BAD_URI)


def test_a_document_is_never_longer_than_allowed(site: Served) -> None:
    """As it comes, and as what it unpacks to: a few bytes may be a bomb."""
    for path in ("long/1001", "gzip/1001", "gzip/50000000"):
        assert web(limit_bytes=1_000).read(f"{site[0]}/{path}") == unreadable(Why.TOO_LARGE)
    for path in ("long/1000", "gzip/1000"):
        assert isinstance(web(limit_bytes=1_000).read(f"{site[0]}/{path}"), Content)


def test_a_server_that_drips_is_left(site: Served) -> None:
    """Each byte comes in time, and the document does not."""
    assert web(seconds=0.2).read(f"{site[0]}/slow") == unreadable(Why.TIMEOUT)


@pytest.mark.parametrize("what", DRIPS)
def test_a_server_that_drips_is_left_wherever_it_does(site: Served, what: str) -> None:
    """In headers, before them, or without a length; and what had come by then is not taken for the document."""
    assert web(seconds=0.2).read(f"{site[0]}/dripping/{what}") == unreadable(Why.TIMEOUT)


def test_time_is_not_begun_anew_with_each_address(site: Served) -> None:
    """A name may have as many as its owner likes."""
    read = Web(allow_private=True, seconds=0, resolve=lambda *_: ["127.0.0.1"]).read(f"{site[0]}/doc.md")

    assert read == unreadable(Why.TIMEOUT)
    assert site[1] == []


def test_nothing_that_listens_is_unreachable() -> None:
    """And so is a name that nobody knows."""

    def unknown(_host: str, _port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    assert web().read("http://127.0.0.1:9/x") == unreadable(Why.UNREACHABLE)
    assert Web(resolve=unknown).read("http://no.such.name/x") == unreadable(Why.UNREACHABLE)


def test_redirects_are_followed_so_far(site: Served) -> None:
    """And no further."""
    assert isinstance(web().read(f"{site[0]}/again/{REDIRECTS}"), Content)
    assert web().read(f"{site[0]}/again/{REDIRECTS + 1}") == unreadable(Why.TOO_MANY_REDIRECTS)


def test_neither_credentials_nor_cookies_are_sent(
    site: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not those that a URI holds, nor those of a file, nor what a redirect set; and no proxy hears of it."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    url, asked = site

    read = web().read(f"{url.replace('://', '://user:secret@')}/to/|doc.md")

    assert isinstance(read, Content)
    assert [path for path, _ in asked] == ["/to/|doc.md", "/doc.md"]
    for _, headers in asked:
        assert not {"authorization", "cookie", "proxy-authorization"} & {name.lower() for name in headers}
        assert "secret" not in str(headers)
        assert headers["Host"] == url.removeprefix("http://")


# --- where a trail may lead -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "publicly", "privately"),
    [
        ("93.184.215.14", True, True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True, True),
        ("::ffff:93.184.215.14", True, True),
        ("64:ff9b::5db8:d70e", True, True),
        ("127.0.0.1", False, True),
        ("127.8.8.8", False, True),
        ("::1", False, True),
        ("::ffff:127.0.0.1", False, True),
        ("10.1.2.3", False, True),
        ("172.16.0.1", False, True),
        ("192.168.1.1", False, True),
        ("100.64.0.1", False, True),
        ("fd00::1", False, True),
        ("::ffff:10.0.0.1", False, True),
        ("64:ff9b::a00:1", False, True),
        ("2002:a00:1::", False, True),
        ("::10.0.0.1", False, True),
        ("192.0.2.1", False, True),
        ("240.0.0.1", False, True),
        ("169.254.169.254", False, False),
        ("169.254.170.2", False, False),
        ("::ffff:169.254.169.254", False, False),
        ("64:ff9b::a9fe:a9fe", False, False),
        ("2002:a9fe:a9fe::", False, False),
        ("fd00:ec2::254", False, False),
        ("168.63.129.16", False, False),
        ("::ffff:168.63.129.16", False, False),
        ("100.100.100.200", False, False),
        ("192.0.0.192", False, False),
        ("fd20:ce::254", False, False),
        ("fec0::1", False, True),
        ("169.254.1.1", False, False),
        ("fe80::1", False, False),
        ("fe80::1%eth0", False, False),
        ("224.0.0.1", False, False),
        ("ff02::1", False, False),
        ("0.0.0.0", False, False),  # noqa: S104 - nobody binds to it
        ("::", False, False),
        ("no address", False, False),
    ],
)
def test_an_address_is_looked_at_before_anybody_connects(address: str, *, publicly: bool, privately: bool) -> None:
    """In each form that leads to it; what gives away credentials is never asked, whoever allows the rest."""
    assert (allowed(address, private=False), allowed(address, private=True)) == (publicly, privately)


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:{port}/doc.md",
        "http://localhost:{port}/doc.md",
        "http://2130706433:{port}/doc.md",
        "http://0x7f.1:{port}/doc.md",
        "http://[::ffff:127.0.0.1]:{port}/doc.md",
        "http://user@127.0.0.1:{port}/doc.md",
    ],
)
def test_this_machine_is_not_asked(site: Served, uri: str) -> None:
    """However its address is written: nothing arrives there."""
    url, asked = site

    read = Web().read(uri.format(port=url.rpartition(":")[2]))

    assert read == unreadable(Why.NOT_ALLOWED)
    assert asked == []


def test_a_redirect_leads_nowhere_that_a_uri_may_not(site: Served) -> None:
    """Metadata services are never asked, also where private networks may be."""
    for target in ("http:||169.254.169.254|latest|meta-data|", "http:||[fd00:ec2::254]|", "||0.0.0.0|x"):
        assert web().read(f"{site[0]}/to/{target}") == unreadable(Why.NOT_ALLOWED)


def test_one_address_that_is_not_allowed_is_enough() -> None:
    """A name that leads outside and inside is an attempt."""
    assert Web(resolve=lambda *_: [PUBLIC, "10.0.0.1"]).read("http://two.faces/x") == unreadable(Why.NOT_ALLOWED)
    assert Web(resolve=lambda *_: []).read("http://no.face/x") == unreadable(Why.NOT_ALLOWED)


def test_a_name_is_resolved_once_and_the_connection_goes_to_what_was_allowed(site: Served) -> None:
    """A second answer of its name server is never asked for: the name itself leads nowhere."""
    port, resolved = site[0].rpartition(":")[2], list[tuple[str, int]]()

    def once(host: str, port: int) -> Sequence[str]:
        resolved.append((host, port))
        return ["127.0.0.1"]

    read = Web(allow_private=True, resolve=once).read(f"http://rebinding.invalid:{port}/doc.md")

    assert isinstance(read, Content)
    assert resolved == [("rebinding.invalid", int(port))]
    assert site[1][0][1]["Host"] == f"rebinding.invalid:{port}"


def test_the_next_address_is_tried_where_one_is_dead(site: Served) -> None:
    """As a browser does."""
    port = site[0].rpartition(":")[2]

    read = Web(allow_private=True, resolve=lambda *_: ["127.0.0.77", "127.0.0.1"]).read(f"http://a.invalid:{port}/x")

    assert isinstance(read, Content)


@contextmanager
def behind_tls(name: str, seen: list[str | None]) -> Iterator[tuple[int, ssl.SSLContext]]:
    """Serve with a certificate for a name; gives the port, and what trusts its authority."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    context.sni_callback = lambda _, asked, __: seen.append(asked)

    class Fresh(Site):
        asked: Asked = []  # noqa: RUF012 - one list for one server

    class Patient(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Say nothing: who breaks off here does so on purpose."""

    server = Patient(("127.0.0.1", 0), Fresh)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    try:
        yield server.server_port, trusting
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_certificate_is_that_of_the_name_and_not_of_the_address() -> None:
    """The connection goes to an address, and the name is asked for and checked."""
    seen: list[str | None] = []
    with behind_tls("docs.example", seen) as (port, trusting):

        def read(host: str, tls: ssl.SSLContext) -> Content | Refused:
            source = Web(allow_private=True, resolve=lambda *_: ["127.0.0.1"], tls=lambda: tls)
            return source.read(f"https://{host}:{port}/doc.md")

        assert isinstance(read("docs.example", trusting), Content)
        assert read("other.example", trusting) == unreadable(Why.CERTIFICATE)
        assert read("docs.example", ssl.create_default_context()) == unreadable(Why.CERTIFICATE)
    assert seen == ["docs.example", "other.example", "docs.example"]
