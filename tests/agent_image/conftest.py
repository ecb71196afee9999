"""Share moto's server: starting it once is enough."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.loopback.aws import moto


@pytest.fixture(scope="session")
def aws_url() -> Iterator[str]:
    with moto() as url:
        yield url
