"""What the tests of `rastro trace` share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.console.trace.cloud import Cloud, standing


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """Serve an environment whose group is there and empty."""
    with standing() as one:
        yield one
