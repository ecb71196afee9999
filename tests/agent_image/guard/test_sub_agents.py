"""The gate holds inside agents that tools bring along, or they fail loudly."""

from __future__ import annotations

from typing import Any

import pytest
from strands import Agent, tool

from agent_image.agent import AgentPlan
from agent_image.contract import Choice, Zone
from agent_image.errors import SettingsError
from agent_image.tools.claimed import ClaimedTool
from agent_image.tools.zoned import ZonedTool
from tests.agent_image.grounds import Stage
from tests.agent_image.guard.gate_grounds import Effects, paying, results, text_of
from tests.agent_image.scripted import Calls, Says, ScriptedModel


def delegating(effects: Effects) -> tuple[Any, list[Any]]:
    """Build a tool that makes an agent with a red tool of its own; give it, and what that tool answered."""
    red = ClaimedTool(effects.pay().tool)
    answers: list[Any] = []

    @tool
    def delegate() -> str:
        """Delegate."""
        inner = Agent(model=ScriptedModel([paying(), Says("Sorry.")]), tools=[red], callback_handler=None)
        inner("pay")
        answers.extend(results(inner.messages))
        return "delegated"

    return delegate, answers


def test_an_agent_as_a_tool_is_refused_when_the_plan_is_made() -> None:
    """Its own tools would run past the guard: it says which, before anything is served."""
    inner = Agent(model=ScriptedModel([Says("x")]), name="helper", callback_handler=None)

    with pytest.raises(SettingsError, match="helper"):
        AgentPlan(ScriptedModel([Says("x")]), [ZonedTool(inner.as_tool(), Zone.GREEN)])


def test_a_red_tool_inside_an_agent_that_a_tool_makes_does_not_run() -> None:
    """Nobody can see into a tool: so the red tool itself asks who let it run."""
    effects = Effects()
    delegate, answers = delegating(effects)
    stage = Stage([Calls("delegate", "{}"), Says("Done.")], tools=[ZonedTool(delegate, Zone.GREEN)])

    stage.ask()

    assert effects.done == []
    assert answers[0]["status"] == "error"


def test_a_red_tool_cannot_borrow_the_approval_of_the_tool_around_it() -> None:
    """A claim is for one tool and its arguments."""
    effects = Effects()
    delegate, answers = delegating(effects)
    stage = Stage([Calls("delegate", "{}"), Says("Done.")], tools=[ZonedTool(delegate, Zone.RED)])
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    stage.go_on(checkpoint)

    assert effects.done == []
    assert answers[0]["status"] == "error"


def test_a_tool_called_past_the_model_does_not_run() -> None:
    """No message asked for it, so nobody can approve it."""
    effects = Effects()
    stage = Stage([Says("Done.")], tools=[effects.pay(), effects.look()])
    raised: list[str] = []

    def call(agent: Agent) -> None:
        for name, arguments in (("pay", {"amount": 1}), ("look", {"at": "x"})):
            try:
                getattr(agent.tool, name)(**arguments, record_direct_tool_call=False)
            except RuntimeError as error:
                raised.append(type(error).__name__)

    stage.changes.append(call)

    stage.ask()

    assert effects.done == []
    assert len(raised) == 2


def test_a_tool_that_pauses_by_itself_ends_the_run() -> None:
    """Under the guard only the gate asks people: another's question would be lost in a restart."""

    @tool(context=True)
    def ask(tool_context: Any) -> str:
        """Ask."""
        return str(tool_context.interrupt("confirm", reason="sure?"))

    stage = Stage([Calls("ask", "{}"), Says("Done.")], tools=[ZonedTool(ask, Zone.GREEN)])

    assert stage.ask()["error"]["code"] == "nested_interrupt"


def test_a_red_tool_that_pauses_by_itself_leaves_a_doubt() -> None:
    """It may have done something before it paused."""

    @tool(context=True)
    def ask(tool_context: Any) -> str:
        """Ask."""
        return str(tool_context.interrupt("confirm", reason="sure?"))

    stage = Stage([Calls("ask", "{}"), Says("Done.")], tools=[ZonedTool(ask, Zone.RED)])
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    assert stage.go_on(checkpoint)["state"] == "in_doubt"


def test_what_was_let_through_is_said_to_the_model_as_the_tool_said_it() -> None:
    """The guard adds nothing to a plain yes."""
    effects = Effects()
    stage = Stage([paying(), Says("Done.")], tools=[effects.pay()])
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    stage.go_on(checkpoint)

    assert text_of(results(stage.messages())[0]) == "paid 150.0"
