"""An invocation's body has one kind, and a faulty one is refused with what is allowed."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import Verdict
from agent_image.errors import BadInvocation
from agent_image.invocation import NOTE_LIMIT, PROMPT_LIMIT, Feedback, Prompt, is_session_id, parse

SESSION = "s" * 33


def test_a_prompt_is_taken_as_it_is() -> None:
    """White space in it may mean something."""
    assert parse({"prompt": " how long?\n"}) == Prompt(" how long?\n")


def test_feedback_names_its_session_and_a_verdict() -> None:
    """A note is optional."""
    assert parse({"feedback": {"session_id": SESSION, "verdict": "bad"}}) == Feedback(SESSION, Verdict.BAD, "")
    assert parse({"feedback": {"session_id": SESSION, "verdict": "good", "note": "yes"}}) == Feedback(
        SESSION, Verdict.GOOD, "yes"
    )


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (None, "invalid_body"),
        ([], "invalid_body"),
        ("prompt", "invalid_body"),
        ({}, "unknown_kind"),
        ({"question": "?"}, "unknown_kind"),
        ({"prompt": "a", "feedback": {}}, "unknown_kind"),
        ({"prompt": ""}, "invalid_prompt"),
        ({"prompt": " \n"}, "invalid_prompt"),
        ({"prompt": 7}, "invalid_prompt"),
        ({"prompt": None}, "invalid_prompt"),
        ({"prompt": "x" * (PROMPT_LIMIT + 1)}, "prompt_too_long"),
        ({"feedback": "bad"}, "invalid_feedback"),
        ({"feedback": {}}, "invalid_feedback"),
        ({"feedback": {"session_id": "short", "verdict": "bad"}}, "invalid_feedback"),
        ({"feedback": {"session_id": SESSION, "verdict": "perhaps"}}, "invalid_feedback"),
        ({"feedback": {"session_id": SESSION, "verdict": ["bad"]}}, "invalid_feedback"),
        ({"feedback": {"session_id": SESSION, "verdict": "bad", "note": 1}}, "invalid_feedback"),
        ({"feedback": {"session_id": SESSION, "verdict": "bad", "note": "x" * (NOTE_LIMIT + 1)}}, "invalid_feedback"),
    ],
)
def test_a_faulty_body_is_refused_by_a_code(body: Any, code: str) -> None:
    """The code tells a program what the sentence tells a person."""
    with pytest.raises(BadInvocation) as refused:
        parse(body)

    assert refused.value.code == code


def test_every_fault_of_feedback_is_said_at_once() -> None:
    """Three faults, three clauses."""
    with pytest.raises(BadInvocation) as refused:
        parse({"feedback": {"session_id": 1, "verdict": 2, "note": 3}})

    assert refused.value.message.count(";") == 2


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["prompt", "feedback", "session_id", "verdict", "note"]) | st.text(), inner
            )
        ),
    )
)
def test_any_json_is_understood_or_refused(body: Any) -> None:
    """No body raises anything else."""
    with suppress(BadInvocation):
        assert isinstance(parse(body), Prompt | Feedback)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("s" * 33, True),
        ("s" * 256, True),
        ("s" * 32, False),
        ("s" * 257, False),
        ("s" * 40 + " x", False),
        ("é" * 40, False),
        ("s" * 40 + "\n", False),
    ],
)
def test_a_session_id_is_visible_ascii_of_aws_length(text: str, holds: bool) -> None:  # noqa: FBT001
    """It becomes a header, baggage and an attribute."""
    assert is_session_id(text) is holds
