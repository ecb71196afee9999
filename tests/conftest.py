"""Share one synthesis among all tests: building the stacks once is what makes many assertions cheap."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.synthesis import Synthesis, synthesise

ROOT = Path(__file__).parent.parent

# How long an example takes says something of the machine, and nothing of the code.
settings.register_profile("rastro", deadline=None)
settings.load_profile("rastro")


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    return synthesise(ROOT / "environments", tmp_path_factory.mktemp("shipped"))


@pytest.fixture(scope="session")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """Synthesise environments that set what the shipped ones leave alone."""
    return synthesise(ROOT / "tests" / "stacks" / "variants", tmp_path_factory.mktemp("variants"))
