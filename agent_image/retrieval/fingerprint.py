"""Fingerprint a passage so that its words can be found again in their source, whatever happened to the index.

As rsync does it: a weak checksum that rolls, to find, and a strong hash, to be sure. A fingerprint is the low 3 bytes
of Adler-32 and the first 15 bytes of SHA-256 of the normalised text, as 24 characters of base64url. With the length in
normalised bytes it finds the passage in linear time and without any index; 120 strong bits keep it from being forged.
"""

from __future__ import annotations

import unicodedata
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

WEAK_BYTES: Final = 3
STRONG_BYTES: Final = 15
CHARACTERS: Final = 24
"""Length of a fingerprint's text form."""
_WEAK_MASK: Final = 0xFF_FFFF


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Hold the text form of a fingerprint, and the length of the normalised text in bytes."""

    text: str
    length: int

    def __str__(self) -> str:
        """Render the form that stands in an address: `<24 characters>.<length>`."""
        return f"{self.text}.{self.length}"


def normalised(text: str) -> bytes:
    """Normalise a text: Unicode NFC, every run of white space to one space, stripped, UTF-8.

    Lone surrogates, which no encoding carries, become a question mark.
    """
    return " ".join(unicodedata.normalize("NFC", text).split()).encode("utf-8", "replace")


def fingerprint(text: str) -> Fingerprint:
    """Fingerprint a passage."""
    return fingerprint_of(normalised(text))


def fingerprint_of(data: bytes) -> Fingerprint:
    """Fingerprint a text that is normalised already."""
    weak = (zlib.adler32(data) & _WEAK_MASK).to_bytes(WEAK_BYTES, "big")
    strong = sha256(data).digest()[:STRONG_BYTES]
    return Fingerprint(urlsafe_b64encode(weak + strong).decode("ascii"), len(data))


def parse(form: str) -> Fingerprint:
    """Read a fingerprint out of its address form.

    Raises:
        ValueError: the form is not 24 characters of base64url, a dot and a length.
    """
    text, dot, length = form.partition(".")
    try:
        raw = urlsafe_b64decode(text)
    except ValueError:
        raw = b""
    canonical = len(text) == CHARACTERS and urlsafe_b64encode(raw).decode("ascii") == text
    if not (canonical and dot and length.isascii() and length.isdigit()):
        message = f"{form!r} is no fingerprint; allowed: {CHARACTERS} characters of base64url, a dot and a length"
        raise ValueError(message)
    return Fingerprint(text, int(length))
