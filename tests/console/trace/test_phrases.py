"""Facts are said in words that a person reads."""

from __future__ import annotations

import pytest

from console.trace import phrases
from console.trace.archive import Lack
from console.trace.facts import Text, TextFact


@pytest.mark.parametrize("lack", Lack)
def test_what_the_archive_lacks_is_said_in_words(lack: Lack) -> None:
    """A code is for programs."""
    said = phrases.text_words(TextFact(Text.NOT_RECOVERED, why=lack))

    assert said.startswith("not recovered (")
    assert "archive" in said
    assert "_" not in said
