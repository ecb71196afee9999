"""State what hooks cost where there are none."""

from __future__ import annotations

import time
from collections.abc import Callable

from agent_image.guard.checkpoint import Call
from agent_image.guard.checks import Asked, Checks
from agent_image.guard.hearing import heard
from benchmarks.guard.ground import RESULT, SESSION, calls_in_memory
from benchmarks.ratio import Ratio

_ROUND = 2_000
_ROUNDS = 9


def none_ratio() -> Ratio:
    """Compare the ways past the stages, where nobody stands in them, with the green call that takes them."""
    print("the stages of a green call, with nobody in them")
    with calls_in_memory() as calls:
        work = calls.work
        checks = Checks(work)
        call = Call(session_id=SESSION, message="0", tool_use_id="0", tool="look", arguments={"at": "0"})
        asked = Asked(call, call)

        def past() -> None:
            checks.ask(asked)
            heard(work, call, RESULT, succeeded=True, ruling="allowed")

        rounds = [(_seconds(past), _seconds(calls.one)) for _ in range(_ROUNDS + 1)][1:]
    nobody, whole = min(one for one, _ in rounds), min(other for _, other in rounds)
    return Ratio(
        "a green call's stages with no hook configured / the call, its store in memory",
        nobody / whole,
        0.02,
        f"{nobody * 1e6:.1f} us / {whole * 1e6:.0f} us",
    )


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    for _ in range(_ROUND):
        run()
    return (time.perf_counter() - started) / _ROUND
