"""An address says where a passage stands, in as few bytes as its neighbours allow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.retrieval.passage import Passage, addresses, base_of, parse_address

URIS = st.lists(st.text("abc/#-.", min_size=1, max_size=20).map(lambda path: f"s3://bucket/{path}"), min_size=1)


def test_what_the_uris_share_is_said_once() -> None:
    """The base ends with a slash; what is left names the document."""
    passages = [Passage("s3://kb/policies/returns.md", "a"), Passage("s3://kb/policies/shipping/eu.md", "b")]

    base, found = addresses(passages)

    assert base == "s3://kb/policies/"
    assert [address.relative_uri for address in found] == ["returns.md", "shipping/eu.md"]


def test_uris_that_share_no_folder_keep_their_whole_length() -> None:
    """Half a name is no folder."""
    assert base_of(["a1.md", "a2.md"]) == ""
    assert base_of(["s3://one/x", "https://two/x"]) == ""


def test_one_document_alone_keeps_its_name() -> None:
    """The base is its folder, not itself."""
    assert base_of(["s3://kb/returns.md"]) == "s3://kb/"
    assert base_of([]) == ""


@given(URIS)
def test_base_and_rest_give_the_uri_back(uris: list[str]) -> None:
    """Nothing is lost by factoring, in any order and with any repeats."""
    base, found = addresses([Passage(uri, f"text {n}") for n, uri in enumerate(uris)])

    assert [address.uri(base) for address in found] == uris


@given(st.text("abc/#. %", max_size=30), st.text(max_size=50))
def test_an_address_reads_back_even_from_a_uri_with_a_hash(uri: str, text: str) -> None:
    """The fingerprint stands behind the last `#`."""
    (address,) = addresses([Passage(uri, text)])[1]

    assert parse_address(str(address)) == address


def test_an_address_without_a_fingerprint_is_refused() -> None:
    """A damaged trail is said, not guessed at."""
    with pytest.raises(ValueError, match="is no fingerprint"):
        parse_address("returns.md")
