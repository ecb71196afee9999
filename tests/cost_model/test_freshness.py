"""Refuse stacks that were not made from the settings as they are."""

from __future__ import annotations

import pytest

from cost_model.errors import StaleSynthesisError
from cost_model.freshness import UNCHECKED, check_complete, check_fresh
from cost_model.terraform import Stack
from tests.cost_model.conftest import Synthesis


def stacks_of(synthesis: Synthesis) -> list[Stack]:
    """Return the stacks as records."""
    return [Stack(name, document) for name, document in synthesis.stacks.items()]


def test_unchanged_settings_pass(synthesis: Synthesis) -> None:
    """Stacks made from the settings as they are assume nothing."""
    synthesis.add_environment("dev")

    assert check_fresh(stacks_of(synthesis), synthesis.settings) == ()


def test_every_changed_or_vanished_file_is_named(synthesis: Synthesis) -> None:
    """The refusal lists each file and says what to run."""
    synthesis.add_environment("dev")
    synthesis.set_file("dev.toml", "changed")
    (synthesis.settings / "accounts/sandbox.toml").unlink()
    with pytest.raises(StaleSynthesisError) as refusal:
        check_fresh(stacks_of(synthesis), synthesis.settings)
    gone, changed = refusal.value.lines

    assert "accounts/sandbox.toml" in gone
    assert "which is gone; run `make synth`" in gone
    assert "dev.toml: changed since the stacks were made; run `make synth`" in changed


def test_a_settings_file_that_went_into_no_stack_is_named(synthesis: Synthesis) -> None:
    """After a refused synthesis the old folder lacks the new environment."""
    synthesis.add_environment("dev")
    synthesis.set_file("qa.toml", "")

    with pytest.raises(StaleSynthesisError, match=r"qa\.toml: no stack was made from this settings file"):
        check_complete(stacks_of(synthesis), synthesis.settings)


def test_a_path_outside_the_settings_is_not_read(synthesis: Synthesis) -> None:
    """The stacks do not choose which files are opened."""
    stack = Stack("x", {"locals": {"rastro_settings": {"../secret": "sha256:0"}}})

    with pytest.raises(StaleSynthesisError, match="a settings file outside"):
        check_fresh([stack], synthesis.settings)


def test_other_peoples_stacks_are_said_to_be_unchecked(synthesis: Synthesis) -> None:
    """Without the digests nothing can be compared, and that is an assumption."""
    assert check_fresh([Stack("x", {"locals": [{"a": 1}]})], synthesis.settings) == (UNCHECKED,)
