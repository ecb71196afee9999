"""The courier delivers behind everybody's back, and nothing it meets stops it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event

import pytest

from agent_image.errors import AgentError
from agent_image.guard.alerts import Alert, Channel
from agent_image.guard.courier import ROUND, Courier
from agent_image.guard.outbox import Delivery, Outbox
from agent_image.stores.memory import MemoryRecords
from tests.agent_image.guard.alarms import KeepingChannel, TurnedClock, alert
from tests.agent_image.guard.test_outbox import COOLDOWN

LONG = 60.0


@dataclass
class SlowChannel(KeepingChannel):
    """Take an alert when a test lets it."""

    reached: Event = field(default_factory=Event)
    may_go_on: Event = field(default_factory=Event)

    def send(self, alert: Alert) -> None:
        self.reached.set()
        assert self.may_go_on.wait(LONG)
        super().send(alert)


class FailingOutbox(Outbox):
    """Fail as a store does that nobody can reach, and count the rounds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.limits: list[int] = []

    def deliver(self, channels: Sequence[Channel], limit: int) -> Delivery:
        self.limits.append(limit)
        if self.errors:
            raise self.errors.pop(0)
        return Delivery()


def outbox_with(*alerts: Alert) -> Outbox:
    outbox = Outbox(MemoryRecords(), TurnedClock(), COOLDOWN)
    for one in alerts:
        outbox.put(one)
    return outbox


def test_calling_the_courier_makes_nobody_wait() -> None:
    """The call comes back while the channel still works; a flush tells whether the round is over."""
    channel = SlowChannel()
    courier = Courier(outbox_with(alert(1)), [channel])
    courier.call()
    assert channel.reached.wait(LONG)

    assert not courier.flush(0)
    assert channel.sent == []
    channel.may_go_on.set()
    assert courier.flush(LONG)
    assert channel.sent == [alert(1)]
    courier.close()


def test_a_call_during_a_round_leads_to_one_more() -> None:
    """What came meanwhile is not left until somebody calls again."""
    channel = SlowChannel()
    outbox = outbox_with(alert(1))
    courier = Courier(outbox, [channel])
    courier.call()
    assert channel.reached.wait(LONG)
    outbox.put(alert(2, session_id="another"))
    courier.call()
    courier.call()
    channel.may_go_on.set()
    assert courier.flush(LONG)
    courier.close()

    assert channel.sent == [alert(1), alert(2, session_id="another")]


def test_no_failure_ends_the_courier(capfd: pytest.CaptureFixture[str]) -> None:
    """It says so, and the next round tries again."""
    outbox = FailingOutbox(AgentError("unavailable", "no"), RuntimeError("secret words"))
    courier = Courier(outbox, [])
    for _ in range(3):
        courier.call()
        assert courier.flush(LONG)
    courier.close()

    assert outbox.limits == [ROUND] * 3
    assert [json.loads(line) for line in capfd.readouterr().err.splitlines()] == [
        {"notice": "alerts_not_delivered", "reason": "unavailable"},
        {"notice": "alerts_not_delivered", "reason": "RuntimeError"},
    ]


def test_a_closed_courier_takes_no_more_calls() -> None:
    """What is left stays in the outbox, for the next process."""
    channel = KeepingChannel()
    outbox = outbox_with(alert(1))
    courier = Courier(outbox, [channel])
    courier.close()
    courier.call()

    assert courier.flush(LONG)
    assert channel.sent == []
    assert outbox.deliver([channel], 1) == Delivery(sent=1)


def test_closing_waits_for_the_round_that_runs() -> None:
    """An alert on its way arrives."""
    channel = KeepingChannel()
    courier = Courier(outbox_with(alert(1)), [channel])
    courier.call()
    courier.close(LONG)

    assert channel.sent == [alert(1)]
