"""A claim lets one run of one call start, and reaches the tool wherever it runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_image.guard.canonical import NotCanonical
from agent_image.guard.claim import (
    Claim,
    Unclaimed,
    arguments_digest,
    carried,
    claim_of,
    claimed,
    current_claim,
    take_claim,
)

DIGEST = arguments_digest({"order_id": "5501", "amount": 150})
CLAIM = Claim(key="k", fence=3, session_id="s", tool="refund_order", digest=DIGEST)


async def told(count: int) -> AsyncGenerator[Claim | None, None]:
    """Say under which claim each event is made."""
    for _ in range(count):
        yield current_claim()


def test_nothing_runs_under_a_claim_by_itself() -> None:
    """And nothing does behind it."""
    assert current_claim() is None
    with claimed(CLAIM):
        assert current_claim() == CLAIM
    assert current_claim() is None


def test_a_claim_reaches_a_worker_of_the_event_loop() -> None:
    """There the framework runs a tool that is a plain function; a thread of somebody else's holds none."""
    seen: list[Claim | None] = []

    async def run() -> None:
        with claimed(CLAIM):
            seen.append(await asyncio.to_thread(current_claim))
            other = Thread(target=lambda: seen.append(current_claim()))
            other.start()
            other.join()

    asyncio.run(run())

    assert seen == [CLAIM, None]


@pytest.mark.parametrize("claim", [None, CLAIM])
def test_another_tool_s_claim_is_none(claim: Claim | None) -> None:
    """A tool that calls another one on its own account hands on no right to it."""
    if claim is None:
        with pytest.raises(Unclaimed, match="unclaimed"):
            claim_of("open_ticket")
        return
    with claimed(claim), pytest.raises(Unclaimed, match="unclaimed"):
        claim_of("open_ticket")


def test_a_claim_is_good_for_one_run() -> None:
    """A second start, by a retry or by a wrap that repeats, is refused."""
    with claimed(CLAIM):
        assert take_claim("refund_order", DIGEST) == CLAIM
        assert claim_of("refund_order") == CLAIM
        with pytest.raises(Unclaimed, match="claim_taken"):
            take_claim("refund_order", DIGEST)


def test_of_many_that_start_at_once_one_runs() -> None:
    """Whichever it is."""
    refused: list[str] = []

    def start() -> None:
        try:
            take_claim("refund_order", DIGEST)
        except Unclaimed as error:
            refused.append(error.code)

    async def run() -> None:
        with claimed(CLAIM):
            await asyncio.gather(*(asyncio.to_thread(start) for _ in range(16)))

    asyncio.run(run())

    assert refused == ["claim_taken"] * 15


def test_other_arguments_are_not_what_was_let_run() -> None:
    """And the attempt does not use the claim up."""
    with claimed(CLAIM):
        with pytest.raises(Unclaimed, match="arguments_changed"):
            take_claim("refund_order", arguments_digest({"order_id": "5501", "amount": 9_999}))
        assert take_claim("refund_order", DIGEST)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=4))
def test_equal_arguments_have_one_digest(arguments: dict[str, int | str]) -> None:
    """Whatever their order."""
    assert arguments_digest(arguments) == arguments_digest(dict(reversed(arguments.items())))
    assert arguments_digest(arguments) != arguments_digest({**arguments, "more": None})


def test_what_is_no_json_has_no_digest() -> None:
    """It cannot be claimed either."""
    with pytest.raises(NotCanonical):
        arguments_digest({"amount": float("nan")})


def test_a_stream_runs_under_its_claim_and_its_consumer_does_not() -> None:
    """Between two events other calls run in the same context."""
    between: list[Claim | None] = []

    async def run() -> list[Claim | None]:
        made = []
        async for claim in carried(CLAIM, told(3)):
            made.append(claim)
            between.append(current_claim())
        return made

    assert asyncio.run(run()) == [CLAIM] * 3
    assert between == [None] * 3


def test_a_stream_may_start_one_run_over_all_its_events() -> None:
    """The right does not come back with the next event."""

    async def greedy() -> AsyncGenerator[str, None]:
        for _ in range(2):
            try:
                take_claim("refund_order", DIGEST)
                yield "ran"
            except Unclaimed as error:
                yield error.code

    async def run() -> list[str]:
        return [event async for event in carried(CLAIM, greedy())]

    assert asyncio.run(run()) == ["ran", "claim_taken"]


def test_a_stream_that_is_left_early_is_closed_under_its_claim() -> None:
    """What it cleans up, it cleans up before anything else happens."""
    closed: list[Claim | None] = []

    async def endless() -> AsyncGenerator[int, None]:
        try:
            while True:
                yield 1
        finally:
            closed.append(current_claim())

    async def run() -> None:
        events = carried(CLAIM, endless())
        await anext(events)
        await events.aclose()
        assert closed == [CLAIM]
        assert current_claim() is None

    asyncio.run(run())


def test_what_a_stream_raises_goes_through() -> None:
    """And leaves no claim behind."""

    async def failing() -> AsyncGenerator[int, None]:
        yield 1
        raise KeyError

    async def run() -> None:
        with pytest.raises(KeyError):
            [event async for event in carried(CLAIM, failing())]
        assert current_claim() is None

    asyncio.run(run())


def test_sessions_side_by_side_keep_their_own_claims() -> None:
    """Streams that take turns in one process never see each other's."""

    async def run(session: str) -> set[str]:
        claim = Claim(key=session, fence=1, session_id=session, tool="t", digest="")
        seen = set()
        async for current in carried(claim, told(20)):
            seen.add(current.session_id if current else "")
            await asyncio.sleep(0)
        return seen

    async def both() -> list[set[str]]:
        return list(await asyncio.gather(run("a"), run("b")))

    assert asyncio.run(both()) == [{"a"}, {"b"}]
