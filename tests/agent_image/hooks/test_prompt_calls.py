"""Calls of a hook's model are metered between two threads: one calls the model, one may give the hook up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from strands import Agent
from strands.middleware import InvokeModelContext, ModelStopReason, TypedEvent
from strands.models import Model

from agent_image.hooks.hook import HookFailed, HookFault
from agent_image.hooks.prompt_calls import Metered
from tests.agent_image.hooks.prompting import Paid, Purse
from tests.agent_image.scripted import Says, ScriptedModel

TIMEOUT = HookFailed(HookFault.TIMEOUT)


def called(metered: Metered, *events: Any, model: Model | None = None) -> list[TypedEvent]:
    """Call a model that gives these events, or raises one of them."""
    model = model or ScriptedModel([Says("x")])
    agent = Agent(model=model, callback_handler=None, tools=[])
    context = InvokeModelContext(
        agent=agent,
        messages=[],
        system_prompt=None,
        tool_specs=[],
        tool_choice=None,
        invocation_state={},
        model=model,
        projected_input_tokens=7,
    )

    async def terminal(_: InvokeModelContext) -> AsyncGenerator[TypedEvent, None]:
        for event in events:
            if isinstance(event, BaseException):
                raise event
            yield event

    async def run() -> list[TypedEvent]:
        return [event async for event in metered(context, terminal)]

    return asyncio.run(run())


def stopped() -> ModelStopReason:
    usage: Any = {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}
    return ModelStopReason("end_turn", {"role": "assistant", "content": []}, usage, {"latencyMs": 1})


@dataclass
class Bounded(ScriptedModel):
    """A model whose configuration says how much it may write."""

    def get_config(self) -> dict[str, Any]:
        """Say it."""
        return {"model_id": self.id, "max_tokens": 321}


def test_what_may_be_read_and_written_is_set_aside_before_the_call() -> None:
    """As far as it is known."""
    purse = Purse()
    metered = Metered(purse, "agent/Stop/1")

    called(metered, stopped())
    called(metered, stopped(), model=Bounded([Says("x")]))

    assert [call.begun for call in purse.calls] == [
        ("agent/Stop/1", "scripted", 7, None),
        ("agent/Stop/1", "scripted", 7, 321),
    ]
    assert purse.told == [[("end", 1, 2, "end_turn")]] * 2


def test_once_given_up_it_calls_no_model() -> None:
    """The session has gone on, and pays for nothing more."""
    purse = Purse()
    metered = Metered(purse, "h")
    metered.give_up(TIMEOUT)

    with pytest.raises(HookFailed) as failed:
        called(metered, stopped())

    assert failed.value is TIMEOUT
    assert purse.calls == []


@pytest.mark.parametrize("last", [stopped(), RuntimeError("x"), asyncio.CancelledError()])
def test_a_call_that_was_on_its_way_when_it_was_given_up_is_told_of_once(last: Any) -> None:
    """However it ends."""
    purse = Purse()
    metered = Metered(purse, "h")

    class GivesUp(TypedEvent):
        """The moment at which the hook is given up, while the model speaks."""

    async def run() -> None:
        async def terminal(_: Any) -> AsyncGenerator[TypedEvent, None]:
            metered.give_up(TIMEOUT)
            yield GivesUp({})
            if isinstance(last, BaseException):
                raise last
            yield last

        context: Any = Context(ScriptedModel([Says("x")]))
        async for _ in metered(context, terminal):
            pass

    with suppress(RuntimeError, asyncio.CancelledError):
        asyncio.run(run())

    assert purse.told == [[("fail", "hook_timeout")]]


@dataclass
class Context:
    """As much of a call's context as the meter reads."""

    model: Model
    projected_input_tokens: int | None = None


def test_a_model_that_ends_without_an_end_is_accounted_for() -> None:
    """Nothing stays set aside for ever."""
    purse = Purse()

    called(Metered(purse, "h"))

    assert purse.told == [[("fail", "model_unanswered")]]


@dataclass
class Settling(Paid):
    """A call whose settling takes until a test lets it go on."""

    begins: threading.Event = field(default_factory=threading.Event)
    goes_on: threading.Event = field(default_factory=threading.Event)

    def end(self, usage: Mapping[str, Any], stop_reason: str) -> None:
        """Take time, and note it."""
        self.begins.set()
        assert self.goes_on.wait(10)
        super().end(usage, stop_reason)


class SettlingPurse(Purse):
    """Pays for one such call."""

    def begin(self, hook: str, model: str, projected_tokens: int | None, output_tokens: int | None) -> Paid:
        """Note the call."""
        self.calls.append(paid := Settling((hook, model, projected_tokens, output_tokens)))
        return paid


def test_who_gives_up_waits_until_what_is_being_written_is_written() -> None:
    """From then on nobody but the run itself touches its books."""
    purse = SettlingPurse()
    metered = Metered(purse, "h")
    calling = threading.Thread(target=called, args=(metered, stopped()))
    calling.start()
    while not purse.calls:
        threading.Event().wait(0.01)
    (call,) = purse.calls
    assert isinstance(call, Settling)
    assert call.begins.wait(10)
    giving_up = threading.Thread(target=metered.give_up, args=(TIMEOUT,))
    giving_up.start()

    giving_up.join(0.1)
    assert giving_up.is_alive()

    call.goes_on.set()
    giving_up.join(10)
    calling.join(10)
    assert purse.told == [[("end", 1, 2, "end_turn")]]


def test_a_call_that_is_cancelled_costs_what_was_set_aside() -> None:
    """The loop ended under it, and nobody says what was used."""
    purse = Purse()

    with pytest.raises(asyncio.CancelledError):
        called(Metered(purse, "h"), asyncio.CancelledError())

    assert purse.told == [[("fail", "cancelled")]]
