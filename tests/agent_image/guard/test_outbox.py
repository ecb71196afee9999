"""Alerts are told once within a cool-down, delivered at least once, and given up in the end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from agent_image.contract import Item
from agent_image.errors import StoreError
from agent_image.guard.findings import Severity
from agent_image.guard.outbox import ATTEMPTS, KEPT, Delivery, Outbox
from agent_image.guard.records import NEW, Conflict, Document, Record, StoreUnavailable
from agent_image.stores.memory import MemoryRecords
from tests.agent_image.guard.alarms import SESSION, KeepingChannel, TurnedClock, alert

COOLDOWN = timedelta(minutes=30)
LIMIT = 10


@dataclass
class Watched(MemoryRecords):
    """Keep records; let somebody else come first where a test says so, and fail where it says so."""

    down: str = ""
    first: list[Any] = field(default_factory=list)
    forget_at: dict[str, datetime | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    def get(self, key: str) -> Record | None:
        self._fail("get")
        return super().get(key)

    def put(self, key: str, document: Document, *, expected: int, **when: datetime | None) -> None:
        self._fail("put")
        if self.first:
            self.first.pop(0)()
        super().put(key, document, expected=expected, **when)
        self.forget_at[key] = when.get("forget_at")

    def due(self, item: Item, *, before: datetime | None, limit: int) -> Sequence[Record]:
        self._fail("due")
        return super().due(item, before=before, limit=limit)

    def _fail(self, method: str) -> None:
        if self.down == method:
            raise StoreUnavailable("unavailable", "The store is down.")


@dataclass
class Post:
    """An outbox with all that it needs."""

    clock: TurnedClock = field(default_factory=TurnedClock)
    records: Watched = field(default_factory=Watched)
    channel: KeepingChannel = field(default_factory=KeepingChannel)

    @property
    def outbox(self) -> Outbox:
        """Give the outbox of a fresh process."""
        return Outbox(self.records, self.clock, COOLDOWN)

    def deliver(self) -> Delivery:
        return self.outbox.deliver([self.channel], LIMIT)

    def waiting(self) -> Sequence[Record]:
        return self.records.due(Item.OUTBOX, before=None, limit=100)

    @property
    def sent(self) -> list[int]:
        return [int(one.id, 16) for one in self.channel.sent]


def notices(capfd: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capfd.readouterr().err.splitlines()]


def test_an_alert_is_delivered_once() -> None:
    """And nothing waits afterwards."""
    post = Post()
    assert post.outbox.put(alert(1))

    assert post.deliver() == Delivery(sent=1)
    assert post.deliver() == Delivery()
    assert post.channel.sent == [alert(1)]
    assert not post.waiting()


def test_equal_alerts_within_the_cool_down_are_told_once() -> None:
    """Whether or not the first was delivered yet; other sessions have their own."""
    post = Post()
    assert [post.outbox.put(alert(n)) for n in (1, 2)] == [True, False]
    post.deliver()
    post.clock.turn(minutes=29, seconds=59)
    assert not post.outbox.put(alert(3))
    assert post.outbox.put(alert(4, session_id="another"))
    post.deliver()

    assert post.sent == [1, 4]


def test_after_the_cool_down_it_is_told_again_with_what_was_held_back() -> None:
    """The count of equal alerts since; then it begins anew."""
    post = Post()
    for number in (1, 2, 3):
        post.outbox.put(alert(number))
    post.deliver()
    post.clock.turn(minutes=30)
    assert post.outbox.put(alert(4))
    post.deliver()
    post.clock.turn(minutes=30)
    assert post.outbox.put(alert(5))
    post.deliver()

    assert post.sent == [1, 4, 5]
    assert [one.evidence.get("repeats") for one in post.channel.sent] == [None, 2, None]


def test_a_worse_alert_is_not_held_back_by_a_milder_one() -> None:
    """A held call, then the end of the run: people hear of both."""
    post = Post()

    assert post.outbox.put(alert(1, severity=Severity.WARNING))
    assert post.outbox.put(alert(2, severity=Severity.CRITICAL))


def test_what_is_only_noted_is_not_told() -> None:
    """The event is enough."""
    post = Post()

    assert not post.outbox.put(alert(severity=Severity.INFO))
    assert not post.waiting()


def test_an_alert_that_fails_is_tried_again_later_and_later() -> None:
    """Thirty seconds, a minute, two, … not before; then it is sent."""
    post = Post(channel=KeepingChannel(down=OSError()))
    post.outbox.put(alert(1))
    pauses = []
    for _ in range(4):
        assert post.deliver() == Delivery(failed=1)
        pause = 0
        while not post.waiting()[0].due <= post.clock.now:  # type: ignore[operator]
            assert post.deliver() == Delivery()
            post.clock.turn(seconds=15)
            pause += 15
        pauses.append(pause)
    post.channel.down = None

    assert pauses == [30, 60, 120, 240]
    assert post.deliver() == Delivery(sent=1)
    assert post.channel.tried == 5


def test_an_alert_that_nobody_takes_is_given_up_with_a_notice(capfd: pytest.CaptureFixture[str]) -> None:
    """After so many attempts, once; then an equal one may be told."""
    post = Post(channel=KeepingChannel(down=StoreError("webhook_status_500", "no")))
    post.outbox.put(alert(1))
    counts = []
    for _ in range(ATTEMPTS + 2):
        counts.append(post.deliver())
        post.clock.turn(hours=1)

    assert counts == [Delivery(failed=1)] * (ATTEMPTS - 1) + [Delivery(dead=1)] + [Delivery()] * 2
    assert notices(capfd) == [
        {
            "notice": "alert_dead",
            "kind": "loop",
            "session": SESSION,
            "attempts": ATTEMPTS,
            "reason": "webhook_status_500",
        }
    ]
    assert not post.waiting()
    assert post.outbox.put(alert(2))


def test_a_pause_has_a_longest(capfd: pytest.CaptureFixture[str]) -> None:
    """The last attempts are an hour apart at most."""
    post = Post(channel=KeepingChannel(down=OSError()))
    post.outbox.put(alert(1))
    while post.waiting():
        post.deliver()
        for record in post.waiting():
            assert record.due is not None
            assert record.due - post.clock.now <= timedelta(hours=1)
            post.clock.now = record.due

    assert notices(capfd)[0]["reason"] == "OSError"


def test_an_alert_that_waits_holds_equal_ones_back_beyond_the_cool_down() -> None:
    """A channel that is down for a day is no reason for a flood."""
    post = Post(channel=KeepingChannel(down=OSError()))
    post.outbox.put(alert(1))
    post.deliver()
    post.clock.turn(hours=5)

    assert not post.outbox.put(alert(2))
    post.channel.down = None
    post.deliver()
    assert post.sent == [1]


def test_a_channel_that_took_an_alert_is_not_asked_again() -> None:
    """The other one failing is not its fault."""
    post, other = Post(), KeepingChannel(name="other", down=OSError())
    post.outbox.put(alert(1))
    for _ in range(3):
        assert post.outbox.deliver([other, post.channel], LIMIT) == Delivery(failed=1)
        assert post.outbox.deliver([other, post.channel], LIMIT) == Delivery()
        post.clock.turn(hours=1)
    other.down = None
    post.outbox.deliver([other, post.channel], LIMIT)

    assert (post.channel.tried, other.tried) == (1, 4)
    assert not post.waiting()


def test_without_a_channel_nothing_piles_up() -> None:
    """The event is in the trail; there is nobody to tell."""
    post = Post()
    post.outbox.put(alert(1))

    assert post.outbox.deliver([], LIMIT) == Delivery(sent=1)
    assert not post.waiting()


def test_two_processes_do_not_deliver_one_alert() -> None:
    """Whoever puts off the next attempt first delivers; the other finds it done."""
    post = Post()
    post.outbox.put(alert(1))
    post.records.first.append(post.deliver)

    assert post.deliver() == Delivery()
    assert post.sent == [1]


def test_a_process_that_dies_while_it_delivers_leaves_the_alert() -> None:
    """At least once: it is tried again after the pause."""
    post = Post(channel=KeepingChannel(down=KeyboardInterrupt()))  # type: ignore[arg-type] # as a signal would
    post.outbox.put(alert(1))
    with pytest.raises(KeyboardInterrupt):
        post.deliver()
    post.channel.down = None

    assert post.deliver() == Delivery()
    post.clock.turn(seconds=30)
    assert post.deliver() == Delivery(sent=1)


def test_an_equal_alert_that_comes_while_one_is_delivered_is_counted() -> None:
    """Neither write undoes the other."""
    post = Post()
    post.outbox.put(alert(1))

    class Telling(KeepingChannel):
        def send(self, alert_: Any) -> None:
            super().send(alert_)
            assert not post.outbox.put(alert(2))

    assert post.outbox.deliver([Telling()], LIMIT) == Delivery(sent=1)
    assert not post.waiting()
    post.clock.turn(hours=1)
    post.outbox.put(alert(3))
    post.deliver()
    assert post.channel.sent[0].evidence["repeats"] == 1


def test_two_processes_that_find_the_same_tell_it_once() -> None:
    """The second put meets the first, whichever write it raced with."""
    post = Post()
    told: list[bool] = []
    post.records.first.append(lambda: told.append(post.outbox.put(alert(1))))
    told.append(post.outbox.put(alert(2)))

    assert told == [True, False]
    assert len(post.waiting()) == 1


def test_many_threads_tell_and_deliver_one_alert_once() -> None:
    """However their writes interleave: one is told, one is sent, the others are counted or given up."""
    for _ in range(20):
        post = Post()
        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(lambda number, outbox=post.outbox: outbox.put(alert(number)), range(16)))
        with ThreadPoolExecutor(8) as pool:
            delivered = list(pool.map(lambda _, post=post: post.deliver(), range(8)))

        assert told.count(True) == 1
        assert sum(delivered, start=Delivery()) == Delivery(sent=1)
        assert len(post.sent) == 1


def test_a_put_that_always_comes_second_gives_up() -> None:
    """Others tell the same all the while."""
    post = Post()

    def conflict() -> None:
        raise Conflict

    post.records.first += [conflict] * 20
    assert not post.outbox.put(alert(1))


def test_the_limit_bounds_a_round() -> None:
    """The most urgent first."""
    post = Post()
    for number in range(5):
        post.outbox.put(alert(number, session_id=f"session-{number}"))
        post.clock.turn(seconds=1)

    assert post.outbox.deliver([post.channel], 2) == Delivery(sent=2)
    assert post.sent == [0, 1]


@pytest.mark.parametrize("method", ["get", "put"])
def test_a_store_that_fails_ends_nothing(method: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The alert is lost with a notice, and news for whoever writes the event."""
    post = Post(records=Watched(down=method))

    assert post.outbox.put(alert(1))
    assert notices(capfd) == [{"notice": "alert_lost", "kind": "loop", "severity": "critical", "reason": "unavailable"}]


def test_a_round_says_that_the_store_failed() -> None:
    """Whoever runs it decides what that means."""
    post = Post(records=Watched(down="due"))

    with pytest.raises(StoreUnavailable):
        post.deliver()


def test_a_record_that_nobody_can_read_is_set_aside(capfd: pytest.CaptureFixture[str]) -> None:
    """It does not stand in the way of those behind it, and is written over by the next equal alert."""
    post = Post()
    key = f"{Item.OUTBOX}{alert(1).key}"
    post.records.put(key, {"not": "an entry"}, expected=NEW, due=post.clock.now)

    assert post.deliver() == Delivery(dead=1)
    assert notices(capfd) == [{"notice": "alert_unreadable", "key": key}]
    assert not post.waiting()
    assert post.outbox.put(alert(1))
    assert post.deliver() == Delivery(sent=1)


def test_what_is_done_may_be_forgotten_and_what_waits_may_not() -> None:
    """The record of the cool-down outlives the cool-down."""
    post = Post()
    post.outbox.put(alert(1))
    (key,) = post.records.forget_at
    assert post.records.forget_at[key] is None
    post.deliver()

    assert post.records.forget_at[key] == post.clock.now + KEPT
    longer = Outbox(post.records, post.clock, KEPT * 2)
    longer.put(alert(2, session_id="another"))
    longer.deliver([post.channel], LIMIT)
    assert post.clock.now + KEPT * 2 in post.records.forget_at.values()


@pytest.mark.parametrize(("back", "told"), [(timedelta(minutes=29), False), (timedelta(minutes=30), True)])
def test_a_clock_that_went_backwards_does_not_silence_for_long(back: timedelta, told: bool) -> None:  # noqa: FBT001
    """A few minutes cool down as well; a wrong year does not silence until that year."""
    post = Post()
    post.outbox.put(alert(1))
    post.deliver()
    post.clock.now -= back

    assert post.outbox.put(alert(2)) == told
