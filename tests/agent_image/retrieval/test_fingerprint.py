"""A fingerprint is that of the same words, however they are laid out, and of no others."""

from __future__ import annotations

import hashlib
import unicodedata
import zlib
from base64 import urlsafe_b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.retrieval.fingerprint import Fingerprint, fingerprint, normalised, parse

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
WORDS = st.lists(st.text("abcdefghij áçã", min_size=1, max_size=12), min_size=1, max_size=60)


def test_the_form_is_the_declared_one() -> None:
    """The low 3 bytes of Adler-32, then the first 15 of SHA-256, in base64url, and the length in normalised bytes."""
    data = "Devolução em até 30 dias.".encode()
    found = fingerprint("  Devolução\tem até\n30 dias. ")

    raw = urlsafe_b64decode(found.text)
    assert raw[:3] == (zlib.adler32(data) & 0xFFFFFF).to_bytes(3, "big")
    assert raw[3:] == hashlib.sha256(data).digest()[:15]
    assert (len(found.text), found.length, str(found)) == (24, len(data), f"{found.text}.{len(data)}")


@given(TEXTS)
def test_normalising_twice_changes_nothing(text: str) -> None:
    """What was normalised stays as it is."""
    once = normalised(text)

    assert normalised(once.decode()) == once


@given(WORDS, st.sampled_from([" ", "\n", "\t \r\n", "\u2003", "\u00a0"]))
def test_white_space_and_composition_do_not_matter(words: list[str], space: str) -> None:
    """Another line break, another blank, or letters with their accents apart, give the same fingerprint."""
    text = " ".join(words)
    other = space.join(unicodedata.normalize("NFD", text).split(" "))

    assert fingerprint(other) == fingerprint(text)


def test_a_lone_surrogate_is_no_reason_to_fail() -> None:
    """Broken text of a broken extractor still gets a fingerprint."""
    assert fingerprint("a\ud800b").length == len(b"a?b")


@pytest.mark.parametrize(
    "form",
    [
        "",
        ".",
        "short.3",
        f"{'A' * 24}",
        f"{'A' * 24}.",
        f"{'A' * 24}.-1",
        f"{'A' * 24}.1e3",
        f"{'*' * 24}.3",
        f"{'A' * 25}.3",
    ],
)
def test_what_is_no_fingerprint_is_refused_with_what_is_allowed(form: str) -> None:
    """A form comes from a trail, and a trail may be damaged."""
    with pytest.raises(ValueError, match="allowed: 24 characters of base64url, a dot and a length"):
        parse(form)


@given(TEXTS)
def test_the_form_reads_back(text: str) -> None:
    """Writing and reading lose nothing."""
    found = fingerprint(text)

    assert parse(str(found)) == Fingerprint(found.text, found.length)
