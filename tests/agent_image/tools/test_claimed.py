"""A claimed tool runs when exactly this call was let run, wherever it is called from, and otherwise not at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from strands import Agent, ToolContext, tool
from strands.middleware import ExecuteToolContext, ExecuteToolStage
from strands.types.tools import AgentTool, ToolUse

from agent_image.errors import AgentError
from agent_image.guard.claim import Claim, arguments_digest, carried, current_claim
from agent_image.tools.claimed import ClaimedTool
from tests.agent_image.scripted import Calls, Says, ScriptedModel

ARGUMENTS = {"order_id": "5501", "amount": 150}


class Till:
    """Hold a tool that pays, and what it was asked to pay, under which claim."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, Any, Claim | None]] = []

        @tool(name="refund")
        def refund(order_id: str, amount: Any) -> str:
            """Pay back."""
            self.paid.append((order_id, amount, current_claim()))
            return "paid"

        self.bare: AgentTool = refund
        self.tool = ClaimedTool(refund)


@pytest.fixture
def till() -> Till:
    return Till()


def claim_for(arguments: Any, name: str = "refund") -> Claim:
    return Claim(key="k", fence=1, session_id="s", tool=name, digest=arguments_digest(arguments))


def use(arguments: Any) -> ToolUse:
    return {"name": "refund", "toolUseId": "t1", "input": arguments}


def run(one: AgentTool, arguments: Any, claim: Claim | None) -> list[Any]:
    async def collect() -> list[Any]:
        events = one.stream(use(arguments), {})
        return [event async for event in (carried(claim, events) if claim else events)]

    return asyncio.run(collect())


def test_it_runs_as_the_tool_does(till: Till) -> None:
    """With the same specification and the same answer, and the claim is in the tool's hands."""
    events = run(till.tool, ARGUMENTS, claim := claim_for(ARGUMENTS))

    assert events == run(till.bare, ARGUMENTS, None)
    assert till.paid[0] == ("5501", 150, claim)
    assert (till.tool.tool_name, till.tool.tool_spec, till.tool.tool_type) == (
        till.bare.tool_name, till.bare.tool_spec, till.bare.tool_type,
    )  # fmt: skip
    assert till.tool.get_display_properties() == till.bare.get_display_properties()
    assert not till.tool.supports_hot_reload


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        (None, "unclaimed"),
        (claim_for(ARGUMENTS, "another"), "unclaimed"),
        (claim_for({**ARGUMENTS, "amount": 9_999}), "arguments_changed"),
        (claim_for({**ARGUMENTS, "more": None}), "arguments_changed"),
    ],
)
def test_what_nobody_let_run_does_not(till: Till, claim: Claim | None, code: str) -> None:
    """Without a claim, with another tool's, with one for other arguments."""
    with pytest.raises(AgentError, match=code):
        run(till.tool, ARGUMENTS, claim)

    assert till.paid == []


def test_arguments_that_are_no_json_do_not_run(till: Till) -> None:
    """They have no digest that could have been let run."""
    with pytest.raises(AgentError, match="invalid_arguments"):
        run(till.tool, {**ARGUMENTS, "amount": object()}, claim_for(ARGUMENTS))

    assert till.paid == []


class Slow(AgentTool):
    """A tool that looks at its arguments some time after it was started."""

    tool_name, tool_spec, tool_type = "refund", {"name": "refund", "description": "", "inputSchema": {}}, "slow"

    async def stream(self, tool_use: ToolUse, invocation_state: dict[str, Any], **kwargs: Any) -> Any:
        yield "started"
        yield json.dumps(tool_use["input"])


def test_what_was_hashed_is_what_runs() -> None:
    """Whoever keeps the arguments that came, and changes them while the tool runs, changes nothing."""
    shared: dict[str, Any] = {"order_id": "5501", "lines": [1]}

    async def collect() -> list[Any]:
        events = []
        async for event in carried(claim_for(shared), ClaimedTool(Slow()).stream(use(shared), {})):
            shared["lines"].append(2)
            events.append(event)
        return events

    assert asyncio.run(collect()) == ["started", '{"lines": [1], "order_id": "5501"}']


def test_a_call_under_another_name_borrows_no_right(till: Till) -> None:
    """What counts is the tool that would run, whatever the call says its name is."""

    async def collect() -> list[Any]:
        events = till.tool.stream({**use(ARGUMENTS), "name": "another"}, {})
        return [event async for event in carried(claim_for(ARGUMENTS, "another"), events)]

    with pytest.raises(AgentError, match="unclaimed"):
        asyncio.run(collect())
    assert till.paid == []


def gated(model: ScriptedModel, one: AgentTool, runs: int = 1) -> Agent:
    """Build an agent whose gate lets every call run, and runs it so often."""
    agent = Agent(model=model, tools=[one], callback_handler=None)

    async def gate(context: ExecuteToolContext, next_fn: Callable[[ExecuteToolContext], Any]) -> Any:
        let_run = claim_for(context.tool_use["input"], context.tool_use["name"])

        async def again() -> Any:
            for _ in range(runs):
                async for event in next_fn(context):
                    yield event

        async for event in carried(let_run, again()):
            yield event

    agent.add_middleware(ExecuteToolStage, gate)
    return agent


def answers(agent: Agent) -> list[tuple[str, str]]:
    results = [
        block["toolResult"] for message in agent.messages for block in message["content"] if "toolResult" in block
    ]
    return [(result["status"], result["content"][0]["text"]) for result in results]


def test_strands_runs_it_behind_a_gate(till: Till) -> None:
    """In a worker of the event loop, where the framework runs plain functions; the claim gets there."""
    agent = gated(ScriptedModel([Calls("refund", json.dumps(ARGUMENTS)), Says("Done.")]), till.tool)

    agent("Refund it.")

    assert answers(agent) == [("success", "paid")]
    assert [claim and claim.key for *_, claim in till.paid] == ["k"]


def test_strands_does_not_run_it_without_a_gate(till: Till) -> None:
    """The model reads a code, and goes on; calling it directly fails too."""
    agent = Agent(
        model=ScriptedModel([Calls("refund", json.dumps(ARGUMENTS)), Says("Done.")]),
        tools=[till.tool],
        callback_handler=None,
    )

    agent("Refund it.")
    direct = agent.tool.refund(**ARGUMENTS)

    assert answers(agent)[0] == ("error", "Error: unclaimed")
    assert direct["status"] == "error"
    assert till.paid == []


def test_a_wrap_that_repeats_a_call_runs_it_once(till: Till) -> None:
    """One approval, one run."""
    agent = gated(ScriptedModel([Calls("refund", json.dumps(ARGUMENTS)), Says("Done.")]), till.tool, runs=2)

    agent("Refund it.")

    assert answers(agent) == [("error", "Error: claim_taken")]
    assert len(till.paid) == 1


def test_an_agent_inside_a_tool_has_no_right_of_its_own(till: Till) -> None:
    """Where a gate let the outer tool run, the inner agent holds the outer tool's claim, and no other."""
    said: list[Any] = []

    @tool(name="delegate", context=True)
    async def delegate(task: str, tool_context: ToolContext[Any]) -> str:
        """Let another agent do it."""
        del tool_context
        inner = Agent(
            model=ScriptedModel([Calls("refund", json.dumps(ARGUMENTS)), Says("Done.")]),
            tools=[till.tool],
            callback_handler=None,
        )
        await inner.invoke_async(task)
        said.extend(answers(inner))
        return "done"

    agent = gated(ScriptedModel([Calls("delegate", '{"task": "refund"}'), Says("Done.")]), delegate)

    agent("Refund it.")

    assert said == [("error", "Error: unclaimed")]
    assert till.paid == []
