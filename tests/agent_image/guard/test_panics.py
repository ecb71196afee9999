"""A tool may raise what is no Exception, as native code does that panics: it is recorded like any other failure."""

from __future__ import annotations

import pytest

from agent_image.contract import Choice, Zone
from agent_image.guard.checkpoint import State
from tests.agent_image.grounds import SESSION, Stage
from tests.agent_image.guard.gate_grounds import Effects, looking, paying, results, valid
from tests.agent_image.scripted import Calls, Says


class Panic(BaseException):
    """Stand for what PyO3 raises where Rust panics."""


def test_an_approved_call_that_panics_is_in_doubt() -> None:
    """It may have taken effect; the run stops and says so, and the session waits for a person."""
    effects = Effects()
    stage = Stage([paying(), Says("Done.")], tools=[effects.pay()])
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    effects.raises.append(Panic("x"))  # type: ignore[arg-type]

    closing = stage.go_on(checkpoint)

    assert (closing["status"], closing["state"]) == ("suspended", "in_doubt")
    case = stage.guard.store.case(checkpoint)
    assert case is not None
    assert case.state(stage.clock()) is State.IN_DOUBT
    assert stage.guard.store.session(SESSION).session.pending == (checkpoint,)


@pytest.mark.parametrize("zone", [Zone.GREEN, Zone.YELLOW])
def test_every_call_that_panics_has_a_result(zone: Zone) -> None:
    """No conversation is left with a call that nothing answers."""
    effects = Effects()
    green = zone is Zone.GREEN
    call = looking() if green else Calls("draft", '{"text": "x"}')
    stage = Stage([call, Says("Done.")], tools=[effects.look() if green else effects.draft()])
    effects.raises.append(Panic("secret"))  # type: ignore[arg-type]

    assert stage.ask()["status"] == "completed"

    valid(stage.messages())
    (result,) = results(stage.messages())
    assert result["status"] == "error"
    assert "secret" not in str(result)
