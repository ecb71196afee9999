"""Read documents of the web, at addresses that were looked at before: a URI of a trail is a stranger's words.

A name is resolved once, and the connection goes to the very address that was allowed, so that no second answer of a
name server leads elsewhere. Each redirect is looked at in the same way. Credentials and cookies are never sent, and no
proxy is asked: there is no client that would, only what carries one request.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cached_property
from http import HTTPStatus
from typing import Final

import httpx

from console.trace.sources.connection import until
from console.trace.sources.content_type import media_type_and_charset
from console.trace.sources.destinations import allowed
from console.trace.sources.source import LIMIT_BYTES, Content, Refused, Version, Why, missing, unreadable
from console.trace.sources.unpacking import collected

REDIRECTS: Final = 5
"""Redirects that are followed, at most."""
SECONDS: Final = 60.0
"""Time that one document may take, redirects included."""
_TIMEOUT: Final = httpx.Timeout(10.0, connect=5.0)
_PORTS: Final = {"http": 80, "https": 443}
_MOVED: Final = frozenset(
    {
        HTTPStatus.MOVED_PERMANENTLY,
        HTTPStatus.FOUND,
        HTTPStatus.SEE_OTHER,
        HTTPStatus.TEMPORARY_REDIRECT,
        HTTPStatus.PERMANENT_REDIRECT,
    }
)
_HEADERS: Final = {
    "User-Agent": "rastro-trace",
    "Accept": "*/*",
    # What is packed otherwise could not be unpacked within bounds.
    "Accept-Encoding": "gzip",
}

_TOO_LONG: Final = "the document takes too long"
_HOST: Final = re.compile(r"[0-9A-Za-z._-]+|[0-9A-Fa-f:.]+")

Resolve = Callable[[str, int], Sequence[str]]


class Web:
    """Read documents by their `http:` and `https:` URIs."""

    def __init__(
        self,
        *,
        allow_private: bool = False,
        limit_bytes: int = LIMIT_BYTES,
        seconds: float = SECONDS,
        resolve: Resolve | None = None,
        tls: Callable[[], ssl.SSLContext] = httpx.create_ssl_context,
    ) -> None:
        """Say what is allowed.

        Args:
            allow_private: also read from loopback and private networks.
            limit_bytes: the longest document, unpacked.
            seconds: time that one document may take, redirects included.
            resolve: gives the addresses of a host and port; the system's resolver where None.
            tls: makes what checks certificates.
        """
        self._allow_private = allow_private
        self._limit_bytes = limit_bytes
        self._seconds = seconds
        self._resolve = resolve or _addresses
        self._make_tls = tls

    def read(self, uri: str) -> Content | Refused:
        """Read a document."""
        deadline = time.monotonic() + self._seconds
        try:
            url = httpx.URL(uri)
            for _ in range(REDIRECTS + 1):
                read = self._fetched(url, deadline)
                if not isinstance(read, httpx.URL):
                    return read
                url = read
        except (httpx.InvalidURL, UnicodeError, ValueError):
            return unreadable(Why.BAD_URI)
        except httpx.TimeoutException:
            return unreadable(Why.TIMEOUT)
        except httpx.HTTPError as error:
            if time.monotonic() >= deadline:
                return unreadable(Why.TIMEOUT)
            return unreadable(Why.CERTIFICATE if _is_of_tls(error) else Why.UNREACHABLE)
        return unreadable(Why.TOO_MANY_REDIRECTS)

    def older(self, uri: str, newest: str) -> Sequence[Version]:  # noqa: ARG002 - the web keeps none
        """Know of no older versions."""
        return ()

    def _fetched(self, url: httpx.URL, deadline: float) -> Content | Refused | httpx.URL:
        """Fetch a document, or learn where it has gone."""
        host = _host(url)
        if url.scheme not in _PORTS or not _HOST.fullmatch(host):
            return unreadable(Why.BAD_URI)
        try:
            addresses = self._resolve(host, url.port or _PORTS[url.scheme])
        except (OSError, UnicodeError):
            return unreadable(Why.UNREACHABLE)
        # One address that is not allowed among others is an attempt.
        if not addresses or not all(allowed(address, private=self._allow_private) for address in addresses):
            return unreadable(Why.NOT_ALLOWED)
        return self._from(addresses, url, deadline)

    def _from(self, addresses: Sequence[str], url: httpx.URL, deadline: float) -> Content | Refused | httpx.URL:
        for address in addresses[:-1]:
            try:
                return self._asked(address, url, deadline)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return self._asked(addresses[-1], url, deadline)

    def _asked(self, address: str, url: httpx.URL, deadline: float) -> Content | Refused | httpx.URL:
        # A name may have any number of addresses, and each may be dead.
        if time.monotonic() >= deadline:
            raise httpx.ReadTimeout(_TOO_LONG)
        with until(deadline) as connection, httpx.HTTPTransport(verify=self._tls) as transport:
            request = httpx.Request(
                "GET",
                # Neither the name, which is resolved already, nor a user's name and password.
                url.copy_with(host=address, userinfo=b"", fragment=None),
                headers={**_HEADERS, "Host": url.netloc.decode("ascii")},
                extensions={"timeout": _TIMEOUT.as_dict(), "sni_hostname": _host(url), "trace": connection.trace},
            )
            with closing(transport.handle_request(request)) as response:
                answer = self._answer(response, url)
            if connection.is_cut:
                # Without a length of its own, what was cut off looks like all of it.
                raise httpx.ReadTimeout(_TOO_LONG)
            return answer

    def _answer(self, response: httpx.Response, url: httpx.URL) -> Content | Refused | httpx.URL:
        location = response.headers.get("Location")
        if response.status_code in _MOVED and location:
            return url.join(location)
        if response.status_code != HTTPStatus.OK:
            return _refused(response.status_code)
        data = collected(
            response.iter_raw(), response.headers.get("Content-Encoding", "").strip().lower(), self._limit_bytes
        )
        if isinstance(data, Refused):
            return data
        media_type, charset = media_type_and_charset(response.headers.get("Content-Type", ""))
        return Content(data, url.path.rpartition("/")[2], media_type, charset)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._make_tls()


def _host(url: httpx.URL) -> str:
    """Give the host as name servers know it: in ASCII."""
    return url.raw_host.decode("ascii")


def _addresses(host: str, port: int) -> Sequence[str]:
    """Resolve a name.

    Raises:
        OSError: it has no address.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def _refused(status: int) -> Refused:
    match status:
        case HTTPStatus.NOT_FOUND | HTTPStatus.GONE:
            return missing(Why.NOT_FOUND)
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return unreadable(Why.ACCESS_DENIED)
        case HTTPStatus.TOO_MANY_REQUESTS:
            return unreadable(Why.THROTTLED)
        case HTTPStatus.REQUEST_TIMEOUT | HTTPStatus.GATEWAY_TIMEOUT:
            return unreadable(Why.TIMEOUT)
    return unreadable(Why.SERVER_ERROR if status >= HTTPStatus.INTERNAL_SERVER_ERROR else Why.FAILED)


def _is_of_tls(error: BaseException | None) -> bool:
    """Look for a failed handshake below an error: libraries wrap it."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
