"""Kill processes for as long as it takes, on every store, and print what became of it: `make crash`."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conformance.place import Place, in_dynamodb, in_sqlite
from tests.crash.places import in_own_database
from tests.crash.points import Point
from tests.crash.runner import Outcome, play_all, spread, whole_plan
from tests.loopback.aws import moto
from tests.loopback.postgres import postgres

ROUNDS = {"sqlite": 200, "dynamodb": 200, "postgresql": 60}
_EVERY = 20


def main() -> None:
    """Play the rounds that the command line asks for; end with 1 where one of them left a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    for store, rounds in ROUNDS.items():
        parser.add_argument(f"--{store}", type=int, default=rounds, metavar="ROUNDS", help=f"default {rounds}")
    parser.add_argument("--seed", default=str(time.time_ns()), help="what chance grows from; printed at the start")
    asked = parser.parse_args()
    _say(f"seed {asked.seed}")
    outcomes: dict[str, list[Outcome]] = {}
    for store in ROUNDS:
        rounds = getattr(asked, store)
        if rounds:
            with TemporaryDirectory(prefix="rastro-crash-") as folder, _places(store) as place:
                outcomes[store] = _played(store, rounds, place, Path(folder), asked.seed)
    for line in table(outcomes):
        _say(line)
    faulty = [(store, one) for store, played in outcomes.items() for one in played if one.faults]
    for store, one in faulty:
        _say(f"FAULT {store}, {one.point.name}: {'; '.join(one.faults)}")
    sys.exit(1 if faulty else 0)


def _played(store: str, rounds: int, place: Callable[[Path], Place], folder: Path, seed: str) -> list[Outcome]:
    rehearsal = folder / "rehearsal"
    rehearsal.mkdir()
    plan = spread(whole_plan(place(rehearsal), rehearsal), rounds)
    began, played = time.monotonic(), []
    for number, outcome in enumerate(play_all(plan, place, folder, seed), start=1):
        played.append(outcome)
        if number % _EVERY == 0 or number == len(plan) or outcome.faults:
            faults = sum(bool(one.faults) for one in played)
            _say(f"{store}: {number} of {len(plan)} rounds, {faults} with faults, {time.monotonic() - began:.0f} s")
    return played


@contextmanager
def _places(store: str) -> Iterator[Callable[[Path], Place]]:
    match store:
        case "sqlite":
            yield in_sqlite
        case "postgresql":
            with postgres() as server:
                yield lambda _: in_own_database(server)
        case _:
            logging.getLogger("werkzeug").setLevel(logging.ERROR)
            with moto() as url:
                yield lambda _: in_dynamodb(url)


def table(outcomes: dict[str, list[Outcome]]) -> Iterator[str]:
    """Render what became of every point, per store: rounds, effects, and actions that were in doubt."""
    rows: dict[str, dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for store, played in outcomes.items():
        for outcome in played:
            rows[_row(outcome.point)][store].append(outcome)
            rows["all"][store].append(outcome)
    rows["all"] = rows.pop("all")
    width = max(map(len, rows))
    yield f"{'point':{width}}  " + "  ".join(f"{store:>24}" for store in outcomes)
    yield f"{'':{width}}  " + "  ".join(f"{'rounds':>8}{'effects':>8}{'doubt':>8}" for _ in outcomes)
    for row, stores in rows.items():
        yield f"{row:{width}}  " + "  ".join(_cell(stores[store]) for store in outcomes)


def _row(point: Point) -> str:
    return f"{point.phase}: {point.strike.at}"


def _cell(played: list[Outcome]) -> str:
    effects, doubtful = sum(one.effects for one in played), sum(one.doubtful for one in played)
    return f"{len(played):>8}{effects:>8}{doubtful:>8}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
