"""The detectors look after each step of a real run, tell the model, hold its calls, and end it."""

from __future__ import annotations

import itertools
import json
from typing import Any

from agent_image.contract import Choice, Item, Zone
from agent_image.guard.checkpoint import Call
from agent_image.guard.scene import Scene
from agent_image.guard.verdict import Outcome, Stages, Verdict
from tests.agent_image.grounds import Stage
from tests.agent_image.guard.gate_grounds import Effects, looking, paying, valid
from tests.agent_image.scripted import Calls, Says, Turn


def alerts(stage: Stage) -> list[str]:
    return [record.document["alert"]["kind"] for record in stage.records.due(Item.OUTBOX, before=None, limit=50)]


def stage_with(effects: Effects, *turns: Any, **facts: Any) -> Stage:
    return Stage(turns, tools=[effects.pay(), effects.look()], **facts)


def test_a_loop_ends_the_run_long_before_its_budget() -> None:
    """Told, then held, then stopped: each once."""
    effects = Effects()
    stage = stage_with(effects, looking())

    ended = stage.ask()

    assert ended["error"]["code"] == "loop"
    assert (stage.spans[-1].attributes or {})["rastro.outcome"] == "loop"
    assert len(effects.done) < 8
    assert len(stage.model.seen) < 10
    remedies = [event["decision"] for event in stage.events if event["event"] == "alert" and event["code"] == "loop"]
    assert remedies == ["nudge", "block", "stop"]
    assert "loop" in alerts(stage)
    told = json.dumps(stage.model.seen)
    assert "repeat what was done before" in told
    assert stage.events[-1]["outcome"] == "loop"


def test_a_loop_is_seen_through_what_stages_add_to_calls_and_to_answers() -> None:
    """A nonce in the arguments, a count beside the result: the model still asks for the same, and gets the same."""
    numbers = itertools.count()

    def number(call: Call, _: Scene) -> Verdict:
        return Verdict(source="hook", arguments={**call.arguments, "to": f"shop-{next(numbers)}"})

    def count(_: Outcome, __: Scene) -> Verdict:
        return Verdict(source="hook", context=f"That makes {next(numbers)}.")

    effects = Effects()
    stages = Stages(before_tool=[number], after_tool=[count])
    stage = Stage([paying(5)], tools=[effects.pay(zone=Zone.YELLOW)], stages=stages)

    assert stage.ask()["error"]["code"] == "loop"
    assert len(effects.done) < 8


def test_the_same_search_over_and_over_is_a_loop_whatever_its_passages_are_numbered() -> None:
    """Each answer numbers its passages anew."""
    stage = Stage([Calls("search_knowledge", '{"query": "returns"}')])

    assert stage.ask()["error"]["code"] == "loop"
    assert len(stage.knowledge.asked) < 8


def test_after_a_loop_was_stopped_the_session_answers_again() -> None:
    """A person who speaks starts anew, in a valid conversation."""
    effects = Effects()
    stage = stage_with(effects, *[looking()] * 9, Says("Here I am."))
    while stage.ask()["status"] == "failed":
        valid(stage.messages())

    assert stage.ask("Well?")["answer"] == "Here I am."
    valid(stage.messages())


def test_calls_that_bring_something_new_go_on() -> None:
    """Reading four files is work."""
    effects = Effects()
    stage = stage_with(effects, *[looking(str(n), str(n)) for n in range(8)], Says("Read."))

    assert stage.ask()["status"] == "completed"
    assert alerts(stage) == []


def test_calls_that_differ_in_a_volatile_argument_are_equal() -> None:
    """A counter is no progress."""
    effects = Effects()
    tool = effects.look(volatile=("at",))
    calls = [looking(str(n), str(n)) for n in range(20)]

    stage = Stage([*calls, Says("x")], tools=[tool])
    effects.raises = [RuntimeError("no")] * 20

    assert stage.ask()["status"] == "failed"
    assert len(stage.model.seen) < 12


def test_a_refused_call_that_comes_back_with_other_arguments_is_told() -> None:
    """The model tries to get past a person; another process has not forgotten the first attempt."""
    effects = Effects()
    stage = stage_with(effects, paying(150, "1"))
    first = stage.ask()["checkpoint_id"]
    stage.decide(first, Choice.REJECT, reason="No.")
    other = stage_with(effects, paying(149, "2"), Says("x"), records=stage.records, clock=stage.clock, runs="other-")

    second = other.go_on(first)
    other.decide(second["checkpoint_id"], Choice.REJECT, reason="No.")
    other.go_on(second["checkpoint_id"])

    assert "edited_retry" in alerts(stage)
    assert "blocked_streak" in alerts(stage)
    assert effects.done == []


def test_a_refused_sum_does_not_come_back_just_below_the_bound() -> None:
    """What a person refused is asked again, whatever rule the new arguments slip past."""
    effects = Effects()
    rules = {"pay": {"red_when": [{"argument": "amount", "over": 100}]}}
    tools = [effects.pay(zone=Zone.YELLOW)]
    turns: list[Turn] = [paying(1000, "1"), paying(99, "2"), Says("x")]
    stage = Stage(turns, tools=tools, settings={"tools": rules})
    first = stage.ask()["checkpoint_id"]
    stage.decide(first, Choice.REJECT, reason="No.")

    second = stage.go_on(first)

    assert second["status"] == "suspended"
    assert second["reasons"] == ["edited_retry"]
    assert effects.done == []


def test_calls_that_keep_being_refused_end_the_run_as_refused() -> None:
    """Not as a loop: somebody tries to get at something."""
    effects = Effects()
    stage = stage_with(effects, *[paying("x" * n, str(n)) for n in range(1, 9)])  # type: ignore[arg-type]

    ended = stage.ask()

    assert ended["error"]["code"] == "blocked_streak"
    assert (stage.spans[-1].attributes or {})["rastro.outcome"] == "refused"


def test_an_answer_that_is_cut_short_is_said_and_leaves_a_valid_conversation() -> None:
    """No half of a call stays behind."""
    effects = Effects()
    stage = stage_with(effects, Calls("look", '{"at": "x'), Says("Sorry."))
    stage.model.stop = "max_tokens"

    ended = stage.ask()

    assert ended["error"]["code"] == "answer_too_long"
    assert [event["stop_reason"] for event in stage.events if event["event"] == "llm_call"] == ["max_tokens"]
    stage.model.stop = None
    assert stage.ask()["status"] == "completed"
    valid(stage.messages())
    assert effects.done == []
