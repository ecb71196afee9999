"""A span that is too large loses texts first and addresses never."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from agent_image.contract import Span
from agent_image.telemetry.shape import encoded
from agent_image.telemetry.size import SPAN_LIMIT, at_most, cut_to, fitted, measured
from tests.agent_image.telemetry.spans import FINGERPRINT, attributes, documents, ids, made

REJECTED = 200_000
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)
SMALL_LIMIT = 1_600


def contents(value: object) -> list[str]:
    return [one["content"] for one in json.loads(str(value))]


@pytest.mark.parametrize("character", ["a", "ç", "€", "😀", '"', "\\", "\n", "\x00"])
def test_a_span_of_300_kb_leaves_under_200_kb_with_every_address(character: str) -> None:
    """Whatever the texts are made of, in both encodings."""
    size = len(character.encode())
    value = documents(*(character * (60_000 // size) for _ in range(5)))
    whole = made(attributes={Span.DOCUMENTS: value, Span.BASE: "s3://kb/", Span.INDEX_VERSION: "v1"})
    assert measured(whole) > 300_000

    span = fitted(whole)

    left = attributes(span)
    assert len(encoded(span)) < REJECTED
    assert len(encode_spans([span]).SerializeToString()) < REJECTED
    assert measured(span) > 0.99 * SPAN_LIMIT
    assert ids(left[Span.DOCUMENTS]) == ids(value)
    assert (left[Span.BASE], left[Span.INDEX_VERSION]) == ("s3://kb/", "v1")
    assert left[Span.CONTENT_BYTES] == 5 * 60_000 // size * size
    assert left[Span.CONTENT_TRUNCATED] == 5
    assert all(content.endswith("…") for content in contents(left[Span.DOCUMENTS]))


def test_a_span_that_fits_is_left_as_it_is() -> None:
    """Nothing is measured twice, and nothing is rewritten."""
    span = made(attributes={Span.DOCUMENTS: documents("short")})

    assert fitted(span) is span


def test_short_texts_stay_whole_beside_a_long_one() -> None:
    """Each text has the same allowance; what one does not use is there for the others."""
    value = documents("short", "x" * 300_000, "another")

    left = attributes(fitted(made(attributes={Span.DOCUMENTS: value})))

    short, long, another = contents(left[Span.DOCUMENTS])
    assert (short, another) == ("short", "another")
    assert len(long) > 180_000
    assert left[Span.CONTENT_TRUNCATED] == 1


def test_question_and_answer_are_cut_too() -> None:
    """Texts stand on the invocation span as well."""
    left = attributes(fitted(made(attributes={Span.QUESTION: "why?", Span.ANSWER_TEXT: "é" * 200_000})))

    assert left[Span.QUESTION] == "why?"
    assert left[Span.ANSWER_TEXT].endswith("é…")
    assert left[Span.CONTENT_BYTES] == 400_004


def test_the_sizes_that_the_span_declared_stay() -> None:
    """The retrieval span knows what it retrieved."""
    left = attributes(fitted(made(attributes={Span.DOCUMENTS: documents("x" * 300_000), Span.CONTENT_BYTES: 7})))

    assert left[Span.CONTENT_BYTES] == 7


def test_addresses_alone_may_take_what_they_need() -> None:
    """A hundred addresses of a kilobyte each leave whole, and the texts make room for them."""
    value = documents(*("text " * 400 for _ in range(100)), uri="folder/" * 140 + "a.md")

    left = attributes(fitted(made(attributes={Span.DOCUMENTS: value})))

    assert ids(left[Span.DOCUMENTS]) == ids(value)


def test_addresses_longer_than_any_span_keep_their_fingerprints() -> None:
    """A URI that is cut still says so, and the fingerprint still finds the words."""
    value = documents(*("text" for _ in range(100)), uri="folder/" * 1_000 + "a.md")

    span = fitted(made(attributes={Span.DOCUMENTS: value}))

    left = ids(attributes(span)[Span.DOCUMENTS])
    assert measured(span) <= SPAN_LIMIT
    assert len(left) == 100
    assert all(one.endswith(f"…#{FINGERPRINT}.4") for one in left)


def test_other_attributes_go_longest_first() -> None:
    """Where no text is left to cut, the addresses outlive everything else."""
    span = made(
        attributes={
            Span.DOCUMENTS: documents(),
            Span.BASE: "s3://kb/",
            "rastro.long": "x" * 150_000,
            "rastro.longest": "x" * 180_000,
            "rastro.run": "r1",
        }
    )

    left = attributes(fitted(span))

    assert left == {
        Span.DOCUMENTS: "[]",
        Span.BASE: "s3://kb/",
        "rastro.long": "x" * 150_000,
        "rastro.run": "r1",
        Span.STRIPPED: 1,
    }


@pytest.mark.parametrize("values", [{"texts": ["x"] * 1_000}, {"text": "\n" * 1_000}])
def test_the_larger_of_both_encodings_counts(values: dict[str, Any]) -> None:
    """Lists of short texts are longer in protobuf, escaped characters in JSON; the backend may count either."""
    span = made(attributes=values)

    assert measured(span) == max(len(encoded(span)), len(encode_spans([span]).SerializeToString()))


@given(st.lists(TEXTS, max_size=6), st.one_of(st.none(), TEXTS), st.integers(SMALL_LIMIT, 4_000))
def test_any_texts_fit_any_limit(texts: list[str], answer: str | None, limit: int) -> None:
    """The JSON stays valid, each text is a beginning of what it was, and what is cut is counted."""
    value = documents(*texts)
    values: dict[str, Any] = {Span.DOCUMENTS.value: value} | ({Span.ANSWER_TEXT.value: answer} if answer else {})
    span = fitted(made(attributes=values), limit)
    left = attributes(span)

    assert measured(span) <= limit
    assert ids(left[Span.DOCUMENTS]) == ids(value)
    kept = [*contents(left[Span.DOCUMENTS]), *([left[Span.ANSWER_TEXT]] if answer else [])]
    before = [*texts, *([answer] if answer else [])]
    assert all(was.startswith(now.removesuffix("…")) for was, now in zip(before, kept, strict=True))
    assert left.get(Span.CONTENT_TRUNCATED, 0) == sum(was != now for was, now in zip(before, kept, strict=True))


@given(TEXTS, st.integers(0, 300))
def test_a_cut_text_is_a_beginning_within_its_allowance(text: str, allowance: int) -> None:
    """Characters are never split; an ellipsis says that something is missing."""
    cut = cut_to(text, allowance)

    assert len(cut.encode()) <= max(allowance, 0)
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1])) or (not cut and allowance < 3)
    assert (cut == text) == (len(text.encode()) <= allowance)


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=9),
        st.one_of(TEXTS, st.integers(-(2**63), 2**63 - 1), st.floats(), st.lists(TEXTS, max_size=3)),
        max_size=6,
    )
)
def test_the_quick_bound_is_never_below_the_size(values: dict[str, Any]) -> None:
    """A span that is not measured is one that fits."""
    span = made(attributes=values)

    assert measured(span) <= at_most(span)
