"""Compare the time that the tests spend on one shared synthesis with the time that the synthesis takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import pytest

from benchmarks.process import ROOT

SHARED: Final = ("shipped", "variants")
"""The fixtures of the tests that synthesise, each once a session."""
MODULES: Final = tuple(
    f"tests/stacks/test_{name}.py"
    for name in (
        *("account", "destroy", "foundation", "order", "outputs", "permissions"),
        *("runtime", "storage", "terraform_arguments", "trail"),
    )
)


class Stopwatch:
    """Sum what the shared syntheses take, and what the tests take beside them."""

    def __init__(self) -> None:
        """Start at zero."""
        self.synthesis = 0.0
        self.tests = 0.0
        self.count = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:  # noqa: ANN401 - pytest's own type is private
        """Time the fixtures that synthesise."""
        started = time.perf_counter()
        result = yield
        if fixturedef.argname in SHARED:
            self.synthesis += time.perf_counter() - started
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Sum what pytest measured of each test."""
        self.tests += report.duration
        self.count += report.when == "call"


def run() -> Stopwatch:
    """Run the synth assertions in this process."""
    stopwatch = Stopwatch()
    status = pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *MODULES], plugins=[stopwatch])
    if status:
        sys.exit("the synth assertions fail: there is nothing to measure")
    # Setting up a shared synthesis is counted in the first test that asks for it.
    stopwatch.tests -= stopwatch.synthesis
    return stopwatch


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    measured = run()
    print(measured.synthesis, measured.tests, measured.count)
