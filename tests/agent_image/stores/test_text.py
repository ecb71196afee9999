"""Documents and moments are written one way, so that what is read is what was written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from agent_image.stores.text import document_of, document_text, moment_of, moment_text

TEXT = st.text(st.characters())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1000, 1, 2), datetime(9999, 12, 30), timezones=OFFSETS)  # noqa: DTZ001 - the bounds of zoned ones


@given(st.dictionaries(TEXT, VALUES))
def test_any_document_comes_back_in_plain_ascii(document: dict[str, object]) -> None:
    """No database and no encoding comes between."""
    text = document_text(document)

    assert text.isascii()
    assert "\0" not in text
    assert document_of(text) == document


@given(MOMENTS, MOMENTS)
def test_moments_sort_as_their_texts_do(one: datetime, other: datetime) -> None:
    """A store compares texts, whatever zones the moments came in."""
    assert moment_of(moment_text(one)) == one
    assert moment_of(moment_text(one)).tzinfo == UTC
    assert (moment_text(one) < moment_text(other)) == (one < other)
    assert (moment_text(one) == moment_text(other)) == (one == other)
