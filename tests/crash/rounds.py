"""Play one round: come to a point, die there, and do afterwards what people would do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from agent_image.contract import Choice
from agent_image.guard.checkpoint import State
from tests.crash.child import Do
from tests.crash.points import Phase, Point
from tests.crash.strikes import Boundary, Side, Strike
from tests.crash.wishes import EDITED, WISH
from tests.crash.world import Killed, World

TURNS = 8
"""How often people try to go on, at most."""
ANSWERED_MINUTES = 241
"""After which nobody's answer counts any more."""


@dataclass
class Round:
    """Hold what a round came to.

    Attributes:
        checkpoints: all that anybody saw.
        doubtful: those that were in doubt at some moment.
    """

    point: Point
    checkpoints: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)


class Player:
    """Play one round in a world of its own."""

    def __init__(self, world: World, point: Point, chance: Random) -> None:
        self.world = world
        self.round = Round(point)
        self._chance = chance
        self._arguments = {"order_id": "5501", "amount": EDITED} if chance.random() < 1 / 4 else None
        self._neglects = chance.random() < 1 / 3

    def play(self) -> Round:
        """Come to the point, and go on behind it."""
        strike = self.round.point.strike
        match self.round.point.phase:
            case Phase.ASK:
                self._struck(lambda: self.world.run(Do.ASK, WISH, strike=strike))
            case Phase.DECIDE:
                self._struck(lambda: self._decide(self._asked(), strike=strike))
            case phase:
                checkpoint = self._brought_to(phase)
                if phase is Phase.RESOLVE:
                    self._struck(lambda: self._resolve(checkpoint, strike=strike))
                else:
                    do = Do.SWEEP if phase in {Phase.SWEEP_EXPIRED, Phase.SWEEP_LOST} else Do.RESUME
                    self._struck(lambda: self.world.run(do, checkpoint, strike=strike))
        self.world.outlive_the_lease()
        self._recover()
        return self.round

    def attend(self) -> None:
        """Look after what was neglected until here."""
        self._neglects = False
        self._recover()

    def _struck(self, run: Callable[[], Any]) -> None:
        try:
            answer = run()
        except Killed:
            return
        pytest.fail(f"nothing died at {self.round.point.name}: {answer}")

    def _asked(self) -> str:
        answer = self.world.run(Do.ASK, WISH)
        assert answer["status"] == "suspended", answer
        checkpoint: str = answer["checkpoint_id"]
        self.round.checkpoints.add(checkpoint)
        return checkpoint

    def _brought_to(self, phase: Phase) -> str:
        """Do everything that comes before the process which is to die."""
        world, checkpoint = self.world, self._asked()
        match phase:
            case Phase.RESUME:
                self._decide(checkpoint)
            case Phase.RESUME_REJECTED:
                self._decide(checkpoint, Choice.REJECT)
            case Phase.RESUME_CANCELLED:
                self._decide(checkpoint, Choice.CANCEL)
            case Phase.RESUME_EXPIRED | Phase.SWEEP_EXPIRED:
                world.turn(minutes=ANSWERED_MINUTES)
            case _:
                self._decide(checkpoint)
                side = self._chance.choice(list(Side))
                self._struck(lambda: world.run(Do.RESUME, checkpoint, strike=Strike(Boundary.EFFECT, side)))
                world.outlive_the_lease()
                if phase in {Phase.RESOLVE, Phase.RESUME_RESOLVED}:
                    self._doubted(world.run(Do.RESUME, checkpoint))
                if phase is Phase.RESUME_RESOLVED:
                    self._resolve(checkpoint)
        return checkpoint

    def _decide(self, checkpoint: str, choice: Choice = Choice.APPROVE, *, strike: Strike | None = None) -> None:
        edits = choice is Choice.APPROVE and self._arguments is not None
        answer = self.world.run(
            Do.DECIDE,
            checkpoint,
            choice=Choice.EDIT if edits else choice,
            arguments=self._arguments if edits else None,
            strike=strike,
        )
        assert answer["status"] == "written", answer

    def _resolve(self, checkpoint: str, *, strike: Strike | None = None) -> None:
        """Look into the ledger, as a person does, and say what is there."""
        took_effect = any(entry["key"] == checkpoint for entry in self.world.refunds())
        answer = self.world.run(Do.RESOLVE, checkpoint, took_effect=took_effect, strike=strike)
        assert answer["status"] == "written", answer

    def _doubted(self, answer: dict[str, Any]) -> None:
        assert answer["status"] == "suspended", answer
        assert answer["state"] == State.IN_DOUBT, answer

    def _recover(self) -> None:
        """Go on until nothing waits: ask again where the wish was lost, answer what waits, resume."""
        for turn in range(TURNS):
            if self._chance.random() < 1 / 3:
                self.world.run(Do.SWEEP)
            waiting = self.world.cases()
            self.round.checkpoints |= {case.checkpoint.id for case in waiting}
            if not waiting:
                if self.round.checkpoints:
                    return
                self._ask_again(turn)
                continue
            if self._neglects and all(case.state(self.world.now) is State.IN_DOUBT for case in waiting):
                self.round.doubtful |= {case.checkpoint.id for case in waiting}
                return
            for case in waiting:
                self._follow(case.checkpoint.id)
        pytest.fail("people cannot get on")

    def _ask_again(self, turn: int) -> None:
        answer = self.world.run(Do.ASK, WISH)
        assert answer["status"] == "suspended", (turn, answer)
        self.round.checkpoints.add(answer["checkpoint_id"])

    def _follow(self, checkpoint: str) -> None:
        case = self.world.case(checkpoint)
        match case.state(self.world.now):
            case State.PENDING:
                self._decide(checkpoint)
            case State.IN_DOUBT:
                self.round.doubtful.add(checkpoint)
                self._resolve(checkpoint)
            case _:
                pass
        answer = self.world.run(Do.RESUME, checkpoint)
        known = answer["status"] in {"completed", "suspended"} or answer["error"]["code"] in {
            "cancelled",
            "already_resumed",
        }
        assert known, answer
