"""The demonstration shows that an answer leads to what it was reading after a re-index."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT


def test_the_demonstration_runs_as_it_stands() -> None:
    """It asks, re-indexes with another window, and traces its first question to every passage."""
    ran = subprocess.run(
        [sys.executable, "-m", "console.demo"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=180
    )

    assert ran.returncode == 0, ran.stderr
    answer = "Unused items can be returned within 30 days of delivery."
    assert ran.stdout.count(answer) == 2
    traced = ran.stdout.partition("$ rastro trace")[2]
    assert traced.count("text: from the archive  source: intact  index: re-indexed") == 5
    assert "cited" in traced
