"""Whatever a process was doing when it was killed, people can end it, and nothing happens that nobody approved.

Here a process dies once at every point on SQLite, and at the main points on the other stores, which takes about a
minute. `make crash` dies hundreds of times: see `python -m tests.crash --help`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.conformance.place import Place, in_sqlite
from tests.crash.points import MAIN, Phase, Point, points
from tests.crash.runner import play_all


def faulty(plan: Sequence[Point], places: Callable[[Path], Place], folder: Path) -> dict[str, tuple[str, ...]]:
    return {one.point.name: one.faults for one in play_all(plan, places, folder, "ci") if one.faults}


@pytest.mark.parametrize("phase", Phase)
def test_a_process_that_is_killed_leaves_what_people_can_end(phase: Phase, folder: Path) -> None:
    """At every boundary of every thing that a process does, right before and right after it."""
    plan = [point for point in points() if point.phase is phase]

    assert plan
    assert faulty(plan, in_sqlite, folder) == {}


def test_so_it_is_on_every_store(places: Callable[[Path], Place], folder: Path) -> None:
    """Where it matters most: approval, claim, effect, record."""
    assert faulty(MAIN, places, folder) == {}
