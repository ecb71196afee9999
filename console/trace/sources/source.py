"""Say what a source is to the rest of the trace: a URI is read, or it is said why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from console.trace.facts import Source

LIMIT_BYTES: Final = 100_000_000
"""The longest document that is read, as it lies there and unpacked."""


class Why(StrEnum):
    """Name why a document is missing, was not read, or gave no text."""

    NOT_FOUND = "not_found"
    DELETED = "deleted"
    """The newest version is a delete marker."""
    NO_BUCKET = "no_bucket"
    ACCESS_DENIED = "access_denied"
    """Whoever asks may not read it; to who may not list a bucket, S3 says so of objects that do not exist, too."""
    NOT_ALLOWED = "not_allowed"
    """A trail may not make this machine read from there: an address of a private network, a device."""
    OTHER_MACHINE = "other_machine"
    """A file of the machine on which the agent ran."""
    NO_SCHEME = "no_scheme"
    """Nothing reads URIs of this kind."""
    BAD_URI = "bad_uri"
    URI_CUT = "uri_cut"
    """The span had no room for the whole URI: what is left of it names another document, or none."""
    TOO_LARGE = "too_large"
    TIMEOUT = "timeout"
    THROTTLED = "throttled"
    UNREACHABLE = "unreachable"
    CERTIFICATE = "certificate"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    SERVER_ERROR = "server_error"
    COLD = "cold"
    """It lies in a storage class from which it must be restored first."""
    NO_CREDENTIALS = "no_credentials"
    BROKEN = "broken"
    """It broke off, or is not packed as it says."""
    UNSUPPORTED = "unsupported"
    """A form from which no text is taken."""
    NOT_TEXT = "not_text"
    """It is called text, and is none in any encoding that it names."""
    NO_TEXT = "no_text"
    """It holds pictures of text at most."""
    ENCRYPTED = "encrypted"
    MALFORMED = "malformed"
    TOO_COSTLY = "too_costly"
    """Taking its text out, or searching it, takes more time or memory than any honest document."""
    NOTATION = "written_in_a_notation"
    """It is text whose form writes words in a way of its own: JSON escapes them, CSV doubles their quotes."""
    VERSIONS_NOT_READ = "versions_not_read"
    """The newest version was read, and those before it could not be listed."""
    FAILED = "failed"
    """Something else went wrong in reading it."""


@dataclass(frozen=True, slots=True)
class Content:
    """Hold a document as it was read.

    Attributes:
        name: the last part of its path, whose ending may say what it is.
        media_type: as its server says, in small letters and without parameters; empty where nobody says.
        charset: as its server says; empty where nobody does.
        version: the object version that was read; empty where there are none.
    """

    data: bytes
    name: str = ""
    media_type: str = ""
    charset: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """Say that a document is missing or unreadable, and why, as a code."""

    state: Source
    why: str


@dataclass(frozen=True, slots=True)
class Version:
    """Hold an older version: its id, when it was written, in UTC as ISO 8601, and what reads it."""

    id: str
    time: str
    read: Callable[[], Content | Refused]


class Sources(Protocol):
    """Read documents; from several threads at once."""

    def read(self, uri: str) -> Content | Refused:
        """Read a document as it is now."""
        ...

    def older(self, uri: str, newest: str) -> Sequence[Version] | Refused:
        """List versions before the one that was read, the newest first; none where nothing keeps versions.

        Args:
            uri: the document's.
            newest: the version that was read; empty where none was, and every version is older.
        """
        ...


def missing(why: str) -> Refused:
    """Say that a document is not there."""
    return Refused(Source.MISSING, why)


def unreadable(why: str) -> Refused:
    """Say that nobody can tell what a document holds."""
    return Refused(Source.UNREADABLE, why)
