"""Prompt hooks in a run: they judge calls and answers, the session pays, and its conversation is none of theirs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from agent_image.guard.verdict import Stages
from agent_image.hooks.hook import FailMode, Hook, HookEvent, Said
from agent_image.hooks.prompt import PromptHooks
from agent_image.hooks.stage import stages_of
from tests.agent_image.grounds import SESSION, Stage
from tests.agent_image.guard.gate_grounds import Effects, looking, results, valid
from tests.agent_image.guard.test_spending import CALL_USD
from tests.agent_image.hooks.prompting import hook_of
from tests.agent_image.scripted import Raises, Says, ScriptedModel, Turn

OK = Says('{"ok": true}')
NO = Says('{"ok": false, "reason": "Say when it arrives."}')


class NoCommands:
    """Runs no program: there is no command hook here."""

    def run(self, hook: Hook, context: Mapping[str, Any], folder: Path, gone: Any) -> Said:
        """Never."""
        raise AssertionError


@dataclass
class Judged:
    """An agent whose hooks are judged by a model of their own."""

    judge: ScriptedModel
    made: list[PromptHooks] = field(default_factory=list)

    def stages(self, *hooks: Hook) -> Stages:
        """Stand hooks in their stages."""
        self.made.append(prompts := PromptHooks(lambda _: self.judge, attempts=1))
        return stages_of(hooks, NoCommands(), prompts, TracerProvider().get_tracer("test"), time.monotonic)


@pytest.fixture
def judged() -> Iterator[Any]:
    """Build what judges, and end it."""
    made: list[Judged] = []

    def judge(*turns: Turn) -> Judged:
        made.append(Judged(ScriptedModel(turns)))
        return made[-1]

    yield judge
    for one in made:
        for prompts in one.made:
            prompts.close()


def of(stage: Stage, name: str) -> list[dict[str, Any]]:
    return [event for event in stage.events if event["event"] == name]


def test_an_answer_is_sent_back_until_the_model_lets_it_pass(judged: Any) -> None:
    """The agent reads the reason, and the hook's model the conversation as it then is."""
    judge = judged(NO, OK)
    stage = Stage([Says("It is on its way."), Says("It arrives on Monday.")], stages=judge.stages(hook_of()))

    closed = stage.ask("Where is my order?")

    assert closed["answer"].strip() == "It arrives on Monday."
    assert "Say when it arrives." in str(stage.messages())
    assert [event["decision"] for event in of(stage, "hook")] == ["blocked", "allowed"]
    valid(stage.messages())
    first, second = (seen[0]["content"][0]["text"] for seen in judge.judge.seen)
    assert '"final_output":"It is on its way."' in first
    assert '"stop_hook_active":true' in second


def test_the_steps_of_a_run_add_up_to_what_it_cost_hooks_and_all(judged: Any) -> None:
    """Two answers, and two verdicts: each is a call of a model."""
    judge = judged(NO, OK)
    stage = Stage([Says("On its way."), Says("On Monday.")], stages=judge.stages(hook_of()))

    stage.ask()

    calls, (ended,) = of(stage, "llm_call"), of(stage, "run_ended")
    assert [call.get("hook") for call in calls] == [None, "agent/Stop/1", None, "agent/Stop/1"]
    total = sum(Decimal(str(call["cost_usd"])) for call in calls)
    assert total == Decimal(str(ended["cost_usd"])) == 4 * CALL_USD
    budget = stage.guard.store.session(SESSION).session.budget
    assert (budget.spent.usd, budget.spent.steps, budget.reserved) == (total, 4, {})
    assert ended["tokens"] == {"input": 40, "output": 20, "cache_read": 0, "cache_write": 0}
    assert (stage.span("invocation").attributes or {})["rastro.cost_usd"] == float(total)


def test_nothing_of_a_hooks_talk_is_in_the_conversation(judged: Any) -> None:
    """Its question, its looks and its verdict are its own."""
    effects = Effects()
    judge = judged(Says('{"decision": "allow", "hookSpecificOutput": {"additionalContext": "It was dark."}}'))
    hook = hook_of(HookEvent.POST_TOOL_USE, matcher="look", max_rejections=None)
    stage = Stage([looking(), Says("Done.")], tools=[effects.look()], stages=judge.stages(hook))

    stage.ask()

    kept = str(stage.messages())
    assert "It was dark." in kept
    assert "additionalContext" not in kept
    assert "Is it complete" not in kept
    assert len(results(stage.messages())) == 1
    assert '"tool_result":"saw here"' in judge.judge.seen[0][0]["content"][0]["text"]
    assert effects.done == [("look", "here")]


@pytest.mark.parametrize(("mode", "ruling"), [(FailMode.ALLOW, "allowed"), (FailMode.BLOCK, "blocked")])
def test_a_model_that_fails_counts_as_the_hook_says(judged: Any, mode: FailMode, ruling: str) -> None:
    """The trail names the fault; the model's words are nowhere."""
    effects = Effects()
    judge = judged(Raises(RuntimeError("secret words")))
    hook = hook_of(HookEvent.PRE_TOOL_USE, matcher="look", max_rejections=None, fail_mode=mode)
    stage = Stage([looking(), Says("Done.")], tools=[effects.look()], stages=judge.stages(hook))

    assert stage.ask()["status"] == "completed"

    (told,) = of(stage, "hook")
    assert (told["decision"], told["code"]) == (ruling, "hook_model_failed")
    assert bool(effects.done) is (mode is FailMode.ALLOW)
    assert "secret words" not in str(stage.events) + str(stage.messages())


def test_a_hook_that_the_session_cannot_pay_for_ends_nothing(judged: Any) -> None:
    """The answer that is there is given; the trail says that nobody judged it."""
    judge = judged(OK)
    settings = {"budget_steps": 1, "limit_steps": 1}
    stage = Stage([Says("Done.")], settings=settings, stages=judge.stages(hook_of()))

    assert stage.ask()["answer"].strip() == "Done."

    assert judge.judge.seen == []
    assert [(event["decision"], event["code"]) for event in of(stage, "hook")] == [("allowed", "hook_over_budget")]
    assert of(stage, "budget") == []
