"""Play many rounds, each in a world of its own, and say what each came to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from random import Random

import pytest

from tests.conformance.place import Place
from tests.crash.child import Do
from tests.crash.findings import faults, neglected
from tests.crash.points import Phase, Point, any_write, points
from tests.crash.rounds import Player
from tests.crash.strikes import Boundary, Side
from tests.crash.wishes import WISH
from tests.crash.world import World

JOBS = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold what a round came to."""

    point: Point
    effects: int
    doubtful: int
    faults: tuple[str, ...]


def play(place: Place, folder: Path, point: Point, seed: str) -> Outcome:
    """Play one round."""
    folder.mkdir(parents=True, exist_ok=True)
    world = World(place, folder)
    chance = Random(f"{seed} {point.name}")  # noqa: S311 - no secret depends on it
    try:
        player = Player(world, point, chance)
        played = player.play()
        found = neglected(world)
        player.attend()
        found += faults(world, played)
    except (AssertionError, pytest.fail.Exception) as error:
        return Outcome(point, 0, 0, (str(error),))
    return Outcome(point, len(world.refunds()), len(played.doubtful), tuple(found))


def play_all(
    plan: Sequence[Point], place: Callable[[Path], Place], folder: Path, seed: str = "", *, jobs: int = JOBS
) -> Iterator[Outcome]:
    """Play rounds side by side, each in an empty store; give them as they end, in the plan's order."""

    def one(number: int) -> Outcome:
        own = folder / f"round-{number}"
        own.mkdir(parents=True)
        return play(place(own), own, plan[number], f"{seed} {number}")

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, range(len(plan)))


def whole_plan(place: Place, folder: Path) -> list[Point]:
    """List every named point, and every single write of an answer and of a resume."""
    writes = _writes(place, folder)
    anywhere = [
        any_write(phase, number, side)
        for phase, count in writes.items()
        for number in range(1, count + 1)
        for side in Side
    ]
    return [*points(), *anywhere]


def spread(plan: Sequence[Point], rounds: int) -> list[Point]:
    """Spread rounds over a plan: some of it, evenly, or all of it again and again."""
    if rounds < len(plan):
        return [plan[number * len(plan) // rounds] for number in range(rounds)]
    return list(islice(cycle(plan), rounds))


def _writes(place: Place, folder: Path) -> dict[Phase, int]:
    """Count the writes of a run that nobody kills."""
    world = World(place, folder)
    asked = world.run(Do.ASK, WISH)
    world.run(Do.DECIDE, asked["checkpoint_id"])
    resumed = world.run(Do.RESUME, asked["checkpoint_id"])
    assert resumed["status"] == "completed", resumed
    return {
        phase: answer["passed"].count(Boundary.WRITE) for phase, answer in ((Phase.ASK, asked), (Phase.RESUME, resumed))
    }
