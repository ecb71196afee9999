"""Nothing that passes by a run, fails beside it or forgets to answer takes its record, its words or its limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from strands import tool
from strands.middleware import ExecuteToolStage
from strands.types.streaming import StreamEvent

from agent_image.contract import Choice, Zone
from agent_image.guard.checkpoint import Progress
from agent_image.guard.scene import Scene
from agent_image.guard.verdict import Say, Stages, Verdict
from agent_image.invocation import Prompt, Sweep
from agent_image.tools.zoned import ZonedTool
from tests.agent_image.grounds import SESSION, Stage
from tests.agent_image.guard.gate_grounds import Effects, looking, paying, results, text_of, valid
from tests.agent_image.scripted import Calls, CallsAll, Says, ScriptedModel

OTHER = "session-" + "1" * 32


def progress(stage: Stage, checkpoint: str) -> Progress:
    case = stage.guard.store.case(checkpoint)
    assert case is not None
    return case.checkpoint.progress


def carried_out(stage: Stage, zone: Zone) -> tuple[dict[str, Any], str | None]:
    """Ask, approve where that is needed, and give the answer with the checkpoint."""
    answer = stage.ask()
    if zone is not Zone.RED:
        return answer, None
    checkpoint = answer["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    return stage.go_on(checkpoint), checkpoint


def kinds(stage: Stage) -> list[str]:
    return [event["event"] for event in stage.events]


def test_a_sweep_beside_a_running_tool_takes_its_record_from_nobody() -> None:
    """It says when to look again, and nothing else: what has happened is recorded as done, and leaves no doubt."""
    stages: list[Stage] = []

    @tool(name="pay")
    async def pay(amount: float) -> str:
        """Pay while another session's invocation sweeps.

        Args:
            amount: how much.
        """
        stages[0].clock.turn(seconds=1)
        async for _ in stages[0].sweep(OTHER, Sweep()):
            pass
        return f"paid {amount}"

    stage = Stage([paying(), Says("Done.")], tools=[ZonedTool(pay, Zone.RED)])
    stages.append(stage)

    answer, checkpoint = carried_out(stage, Zone.RED)

    assert answer["status"] == "completed"
    assert progress(stage, str(checkpoint)) is Progress.DONE


@pytest.mark.parametrize("text", ["x" * 1_000_001, "\ud800"])
def test_a_call_without_a_form_beside_one_that_expired_keeps_no_session_from_going_on(text: str) -> None:
    """It was turned away, and has no id to be found under."""
    effects = Effects()
    calls = CallsAll((paying(5, "1"), Calls("look", json.dumps({"at": text}), "2")))
    stage = Stage([calls, Says("Done.")], tools=[effects.pay(), effects.look()])
    assert stage.ask()["status"] == "suspended"
    stage.clock.turn(hours=5)

    assert stage.ask()["status"] == "completed"
    assert effects.done == []
    valid(stage.messages())


def forgets(*_: Any, **__: Any) -> Verdict:
    """Be a hook that says nothing on one of its ways."""
    return None  # type: ignore[return-value]


@pytest.mark.parametrize("zone", [Zone.YELLOW, Zone.RED])
def test_a_stage_that_forgets_to_answer_leaves_no_effect_unrecorded(zone: Zone) -> None:
    """The tool has run; what the stage cannot judge is hidden, and recorded all the same."""
    effects = Effects()
    stage = Stage([paying(), Says("Done.")], tools=[effects.pay(zone=zone)], stages=Stages(after_tool=[forgets]))

    answer, checkpoint = carried_out(stage, zone)

    assert answer["status"] == "completed"
    assert checkpoint is None or progress(stage, checkpoint) is Progress.DONE
    assert "tool_result" in kinds(stage)
    assert "paid" not in text_of(results(stage.messages())[0])
    assert stage.guard.store.session(SESSION).session.budget.reserved == {}


def test_a_stage_that_forgets_to_answer_has_not_said_yes() -> None:
    """What cannot be judged does not run."""
    effects = Effects()
    stage = Stage([looking(), Says("Done.")], tools=[effects.look()], stages=Stages(before_tool=[forgets]))

    stage.ask()

    assert effects.done == []
    assert [event["code"] for event in stage.events if event["event"] == "hook"] == ["hook_failed"]


def test_a_refusal_without_a_word_puts_no_empty_text_into_the_conversation() -> None:
    """Bedrock takes none, and the session could not go on."""

    def check(answer: str, _: Scene) -> Verdict:
        return Verdict(Say.DENY) if answer == "A." else Verdict()

    stages = Stages(stop=[check], after_tool=[lambda *_: Verdict(Say.ALLOW, "hook", "seen")])
    stage = Stage([looking(), Says("A."), Says("B.")], tools=[Effects().look()], stages=stages)

    assert stage.ask()["answer"] == "B."
    blocks = [block for message in stage.messages() for block in message["content"]]
    texts = [block["text"] for block in blocks if "text" in block]
    texts += [block["text"] for result in results(stage.messages()) for block in result["content"]]
    assert all(text.strip() for text in texts)


UNUSUAL: list[Any] = [
    {"image": {"format": "png", "source": {"bytes": b"\xff\x00"}}},
    {"json": {"at": datetime(2026, 1, 1, tzinfo=UTC)}},
    {"json": {"n": float("nan")}},
    {"json": {"n": Decimal("1.5")}},
    {"text": "\ud800"},
]


def answering(zone: Zone, content: Any) -> Stage:
    @tool(name="pay")
    def pay(amount: float) -> dict[str, Any]:
        """Pay.

        Args:
            amount: how much.
        """
        del amount
        return {"status": "success", "content": content}

    return Stage([paying(), Says("Done.")], tools=[ZonedTool(pay, zone)])


@pytest.mark.parametrize("zone", list(Zone))
@pytest.mark.parametrize("block", UNUSUAL)
def test_a_result_that_no_store_takes_as_it_is_is_recorded_nevertheless(zone: Zone, block: dict[str, Any]) -> None:
    """A model that heard of an error would do again what has been done."""
    stage = answering(zone, [block])

    answer, checkpoint = carried_out(stage, zone)

    (result,) = results(stage.messages())
    assert (answer["status"], result["status"]) == ("completed", "success")
    assert checkpoint is None or progress(stage, checkpoint) is Progress.DONE
    assert "tool_result" in kinds(stage)
    assert stage.guard.store.session(SESSION).session.budget.reserved == {}
    json.dumps(stage.messages(), allow_nan=False)


@pytest.mark.parametrize("zone", [Zone.YELLOW, Zone.RED])
def test_what_has_happened_and_cannot_be_kept_ends_the_run(zone: Zone) -> None:
    """Whatever the reason is: the model hears nothing that would let it do it again, and a doubt is shown."""
    stage = answering(zone, 5)

    answer, checkpoint = carried_out(stage, zone)

    assert answer["error"]["code"] == "internal"
    assert results(stage.messages()) == []
    if checkpoint is not None:
        stage.clock.turn(minutes=2)
        assert stage.go_on(checkpoint)["state"] == "in_doubt"
    else:
        assert stage.ask()["status"] == "completed"
        assert "nobody knows" in text_of(results(stage.messages())[0])


@pytest.mark.parametrize("zone", list(Zone))
def test_a_tool_whose_own_task_was_cancelled_has_an_answer_and_a_record(zone: Zone) -> None:
    """A call without a result would make the conversation one that no model takes."""

    @tool(name="pay")
    async def pay(amount: float) -> str:
        """Wait for what somebody else cancelled.

        Args:
            amount: how much.
        """
        raise asyncio.CancelledError(amount)

    calls = CallsAll((paying(1, "1"), looking("a", "2")))
    stage = Stage([calls, Says("Done.")], tools=[ZonedTool(pay, zone), Effects().look()])

    answer, checkpoint = carried_out(stage, zone)

    assert answer["status"] == ("completed" if checkpoint is None else "suspended")
    assert checkpoint is None or progress(stage, checkpoint) is Progress.IN_DOUBT
    valid(stage.messages())


class Endless(ScriptedModel):
    """Begin to speak, and never end."""

    async def stream(self, *_: Any, **__: Any) -> AsyncIterable[StreamEvent]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": "word "}}}
        await asyncio.Event().wait()


def test_a_call_of_a_model_that_nobody_waits_for_is_paid_for_and_in_the_trail() -> None:
    """Its events add up to what the session has spent."""
    stage = Stage(model=Endless([]))

    async def hang_up() -> None:
        events = stage.prompt(SESSION, Prompt("?"))
        await anext(events)
        running = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises((asyncio.CancelledError, StopAsyncIteration)):
            await running

    asyncio.run(hang_up())

    session = stage.guard.store.session(SESSION).session
    (call,) = [event for event in stage.events if event["event"] == "llm_call"]
    assert (call["code"], call["is_error"]) == ("cancelled", True)
    assert session.budget.reserved == {}
    assert session.budget.spent.usd == Decimal(str(call["cost_usd"])) > 0
    assert stage.events[-1]["cost_usd"] == call["cost_usd"]


@pytest.mark.parametrize("reason", ["stop_sequence", "guardrail_intervened", "content_filtered", "refusal"])
def test_every_answer_is_checked_whatever_the_model_stopped_for(reason: Any) -> None:
    """What is handed out was let through."""

    def check(answer: str, _: Scene) -> Verdict:
        return Verdict(Say.DENY, "hook", "secret", "No secrets.") if "secret" in answer else Verdict()

    model = ScriptedModel([Says("A secret"), Says("Nothing.")], stop=reason)
    stage = Stage(model=model, stages=Stages(stop=[check]))

    assert stage.ask()["answer"] == "Nothing."
    valid(stage.messages())


def test_an_answer_that_was_cut_is_not_given_as_a_whole_one_by_a_second_resume() -> None:
    """It failed, and no stage has let it through."""
    model = ScriptedModel([Says("Half of")])
    stage = Stage(model=model, settings={"budget_tokens": 100, "limit_tokens": 100_000})
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    model.stop = "max_tokens"

    assert stage.go_on(checkpoint)["error"]["code"] == "answer_too_long"
    assert stage.go_on(checkpoint)["error"]["code"] == "already_resumed"


def test_middleware_behind_the_gate_cannot_change_what_the_settings_made_red() -> None:
    """What a call runs with is what was approved, whoever said that it is asked for."""
    effects = Effects()
    settings = {"tools": {"look": {"zone": "red"}}}
    stage = Stage([looking("here"), Says("Done.")], tools=[effects.look()], settings=settings)

    async def change(context: Any, next_fn: Any) -> AsyncGenerator[Any, None]:
        async for event in next_fn(context.replace(tool_use={**context.tool_use, "input": {"at": "there"}})):
            yield event

    stage.changes.append(lambda agent: agent.add_middleware(ExecuteToolStage, change))

    carried_out(stage, Zone.RED)

    assert effects.done == []
