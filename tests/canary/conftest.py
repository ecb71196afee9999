"""Run the canaries beside each other, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.canary.stage import Haul, Run, haul
from tests.loopback.aws import moto

AT_ONCE = 3
"""A canary waits as long as it works, when AWS throttles it."""

Hauls = Callable[[Run], Haul]


@pytest.fixture(scope="module")
def hauls(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hauls]:
    """Start every run that a test of this file asks for, and give each one's haul."""
    items = [item for item in request.session.items if item.path == request.path]
    asked = [item.callspec.params for item in items if hasattr(item, "callspec")]
    runs = dict.fromkeys(params["run"] for params in asked if isinstance(params.get("run"), Run))
    with moto() as aws, ThreadPoolExecutor(AT_ONCE) as pool:
        found = {run: pool.submit(haul, run, tmp_path_factory.mktemp("canary"), aws) for run in runs}
        yield lambda run: found[run].result()
        pool.shutdown(cancel_futures=True)
