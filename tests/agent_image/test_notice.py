"""A notice holds codes, numbers and ids, and never free text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.notice import line, notice


def test_a_notice_is_one_json_line_on_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    """Whatever guards sys.stderr, the line arrives."""
    notice("archive_lost", count=3, error="ConnectTimeoutError", known=None, whole=False)

    assert capfd.readouterr().err == (
        '{"notice":"archive_lost","count":3,"error":"ConnectTimeoutError","known":null,"whole":false}\n'
    )


def test_free_text_is_told_by_its_length() -> None:
    """A value with a space in it is no code."""
    assert json.loads(line("x", {"why": "João said no"})) == {"notice": "x", "why": {"bytes": 13}}


@given(st.text())
def test_a_line_break_never_gets_through(text: str) -> None:
    """A value cannot forge a second line."""
    rendered = line("x", {"value": text})

    assert rendered.count(b"\n") == 1
    assert rendered.endswith(b"\n")
