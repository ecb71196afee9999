"""The search finds a marker in every form in which bytes may carry it."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

import pytest

from tests.canary.markers import Marker

MARKER = Marker("question")


def _base64(encode: Callable[[bytes], bytes], before: bytes, text: str) -> bytes:
    return encode(before + text.encode() + b"y")


FORMS: dict[str, Callable[[str], bytes]] = {
    "plain": lambda text: text.encode(),
    "escaped": lambda text: json.dumps(text).encode(),
    "escaped twice": lambda text: json.dumps(json.dumps(text)).encode(),
    "every letter escaped": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text).encode(),
    "in a URL": lambda text: quote(text).encode(),
    "hexadecimal": lambda text: text.encode().hex().encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16, the other way round": lambda text: text.encode("utf-16-be"),
    "Latin-1": lambda text: text.encode("latin-1"),
    "upper case": lambda text: text.upper().encode(),
    "cut before its end": lambda text: text.encode()[: len(text) // 2],
    "cut behind its start": lambda text: text.encode()[len(text) // 2 :],
    **{f"base64 behind {n} bytes": partial(_base64, b64encode, b"x" * n) for n in range(4)},
    **{f"base64 of URLs, behind {n} bytes": partial(_base64, urlsafe_b64encode, b"\xff" * n) for n in range(4)},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_marker_is_found_in_every_form(form: str) -> None:
    """Once, whatever stands around it."""
    data = b"before " + FORMS[form](str(MARKER)) + b" behind"

    assert MARKER.count(data) == 1
    assert Marker("answer").count(data) == 0


def test_repetitions_count() -> None:
    """`content` promises each passage once: twice is told from once."""
    assert MARKER.count(f"{MARKER} and {MARKER}".encode()) == 2
