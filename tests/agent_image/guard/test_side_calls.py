"""A model that a hook calls is paid for by the session, to the nano-dollar, and asks nobody."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from agent_image.contract import Kind, Outcome
from agent_image.errors import AgentError
from agent_image.guard import metrics
from agent_image.guard.budget import Amount
from agent_image.guard.lease import LeaseLost
from agent_image.guard.side_calls import SessionCalls
from agent_image.guard.spending import Spending
from agent_image.guard.work import Run, Work
from tests.agent_image.grounds import SESSION, Stage
from tests.agent_image.guard.alarms import alert
from tests.agent_image.guard.test_spending import CALL_USD
from tests.agent_image.scripted import Says

HOOK = "agent/Stop/1"
USAGE = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
UNPRICED = "nobody-priced-this"


@dataclass
class Beginning:
    """A run that has begun, and what its hooks pay with."""

    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stage = Stage([Says("Done.")], settings=self.settings)
        run = Run("r1", SESSION, Kind.PROMPT, lambda: ("", ""), lambda: None)
        self.work = Work(self.stage.guard, run)
        self.calls = SessionCalls(self.work, Spending(self.work))

    @property
    def budget(self) -> Any:
        """Give what the store holds of the session's budget."""
        return self.stage.guard.store.session(SESSION).session.budget

    def call(self, model: str = "scripted", usage: dict[str, Any] | None = None) -> None:
        """Make a call to its end."""
        self.calls.begin(HOOK, model, 100, 50).end(USAGE if usage is None else usage, "end_turn")

    def ended(self) -> list[dict[str, Any]]:
        """End the run; give its calls of models, and its last event."""
        self.work.close(Outcome.COMPLETED)
        return [event for event in self.stage.events if event["event"] in {"llm_call", "run_ended"}]


def test_a_call_is_set_aside_before_and_settled_to_what_it_used() -> None:
    """A process that dies in between has spent what was set aside."""
    beginning = Beginning()

    call = beginning.calls.begin(HOOK, "scripted", 100, 50)

    assert beginning.budget.spent == Amount()
    # 100 tokens at 3 and 50 at 15 dollars a million.
    assert [*beginning.budget.reserved.values()] == [Amount(1_050_000, 150, 1)]
    call.end(USAGE, "end_turn")
    assert beginning.budget.reserved == {}
    assert beginning.budget.spent == Amount(105_000, 15, 1)


def test_the_trail_says_which_hook_called_which_model_and_what_it_cost() -> None:
    """It is a call of a model like any other, with the hook's name beside it."""
    beginning = Beginning()
    call = beginning.calls.begin(HOOK, "scripted", 100, 50)
    beginning.stage.clock.turn(seconds=2)
    call.end(USAGE, "end_turn")

    event, _ = beginning.ended()

    assert event["hook"] == HOOK
    assert (event["model"], event["stop_reason"], event["is_error"]) == ("scripted", "end_turn", False)
    assert event["latency_ms"] == 2_000
    assert event["tokens"] == {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0}
    assert Decimal(str(event["cost_usd"])) == CALL_USD


def test_what_hooks_spent_is_in_the_runs_last_event_and_in_the_report_to_the_nano_dollar() -> None:
    """The steps add up to the total, whoever took them."""
    beginning = Beginning()
    for tokens in (1, 7, 333):
        beginning.call(usage={"inputTokens": tokens, "outputTokens": tokens})
    beginning.calls.begin(HOOK, "scripted", 1, 1).fail("model_throttled")

    *calls, ended = beginning.ended()

    # 18 dollars a million for one in and one out: 341 pairs used, and one set aside.
    assert Decimal(str(ended["cost_usd"])) == Decimal(18 * 342) / 10**6
    assert sum(Decimal(str(call["cost_usd"])) for call in calls) == Decimal(str(ended["cost_usd"]))
    assert beginning.budget.spent == Amount(18 * 342 * 1000, 2 * 342, 4)
    assert ended["tokens"] == {"input": 341, "output": 341, "cache_read": 0, "cache_write": 0}
    told = metrics.report(beginning.stage.events)
    assert told.cost_usd == Decimal(18 * 342) / 10**6
    assert told.tokens["input"] == 341


def test_a_call_that_fails_costs_what_was_set_aside() -> None:
    """Nobody says what was used."""
    beginning = Beginning()

    beginning.calls.begin(HOOK, "scripted", 100, None).fail("hook_timeout")

    reserved = beginning.stage.guard.settings.max_output_tokens_reserved
    assert beginning.budget.spent == Amount(300_000 + reserved * 15_000, 100 + reserved, 1)
    event, _ = beginning.ended()
    assert (event["code"], event["is_error"], event["hook"], event["tokens"]) == ("hook_timeout", True, HOOK, None)


@pytest.mark.parametrize("first", ["end", "fail"])
def test_a_call_is_accounted_for_once(first: str) -> None:
    """A hook that was given up may still hear its model."""
    beginning = Beginning()
    call = beginning.calls.begin(HOOK, "scripted", 10, 5)
    for told in (first, "end", "fail"):
        call.end(USAGE, "end_turn") if told == "end" else call.fail("hook_timeout")

    assert beginning.budget.spent == Amount(105_000, 15, 1)
    assert len(beginning.ended()) == 2
    assert beginning.work.spent.steps == 1


def test_a_model_without_a_price_leaves_the_runs_cost_unknown() -> None:
    """No price is not a price of 0; and nobody is asked, for the session's next step asks."""
    beginning = Beginning()

    beginning.call(UNPRICED)

    call, ended = beginning.ended()
    assert (call["cost_usd"], ended["cost_usd"]) == (None, None)
    assert call["tokens"]["input"] == ended["tokens"]["input"] == 10
    assert beginning.budget.spent == Amount(0, 15, 1)
    assert metrics.report(beginning.stage.events).unpriced_calls == 1


def test_a_model_that_says_nothing_of_its_use_has_used_what_was_set_aside() -> None:
    """And what it cost is unknown."""
    beginning = Beginning()

    beginning.call(usage={})

    call, ended = beginning.ended()
    assert (call["tokens"], call["cost_usd"], ended["cost_usd"]) == (None, None, None)
    assert beginning.budget.spent == Amount(1_050_000, 150, 1)


def test_beyond_the_soft_limits_nobody_is_asked() -> None:
    """The agent's own next step asks; a hook in between judges."""
    beginning = Beginning({"budget_steps": 1, "budget_usd": Decimal("0.0001"), "limit_usd": Decimal(1)})

    for _ in range(3):
        beginning.call()

    assert beginning.budget.spent == Amount(315_000, 45, 3)
    assert beginning.work.asked == {}
    assert {event["event"] for event in beginning.stage.events} == {"llm_call"}


@pytest.mark.parametrize(
    "settings",
    [
        {"budget_steps": 1, "limit_steps": 1},
        {"budget_tokens": 100, "limit_tokens": 164},
        {"budget_usd": Decimal("0.0001"), "limit_usd": Decimal("0.001154")},
    ],
)
def test_at_a_hard_limit_no_model_is_called_and_the_run_goes_on(settings: dict[str, Any]) -> None:
    """What becomes of the verdict is the hook's affair, and it is told of once, by the hook's own event."""
    beginning = Beginning(settings)
    beginning.call()

    for _ in range(3):
        with pytest.raises(AgentError) as refused:
            beginning.calls.begin(HOOK, "scripted", 100, 50)
        assert refused.value.code == "budget_limit"

    assert beginning.work.halted is None
    assert beginning.budget.reserved == {}
    assert [event["event"] for event in beginning.ended()] == ["llm_call", "run_ended"]
    assert beginning.stage.guard.outbox.put(alert(kind="budget_limit", session_id=SESSION)), "nobody was told before"


def test_a_call_that_just_fits_is_made() -> None:
    """At a limit nothing is left; up to it everything is."""
    beginning = Beginning({"budget_tokens": 100, "limit_tokens": 165})
    beginning.call()

    beginning.calls.begin(HOOK, "scripted", 100, 50)

    assert beginning.budget.committed.tokens == 165


def test_calls_side_by_side_do_not_pass_the_limit_together() -> None:
    """Each is set aside under a name of its own, whoever began it."""
    beginning = Beginning({"budget_steps": 1, "limit_steps": 2})
    again = SessionCalls(beginning.work, Spending(beginning.work))

    beginning.calls.begin(HOOK, "scripted", 1, 1)
    again.begin(HOOK, "scripted", 1, 1)

    with pytest.raises(AgentError):
        again.begin(HOOK, "scripted", 1, 1)
    assert beginning.budget.committed == Amount(36_000, 4, 2)


def test_the_detectors_see_nothing_of_it() -> None:
    """A hook's model is no step of the agent: it neither talks in circles for it nor ends its step."""
    beginning = Beginning()
    beginning.work.spoken("I look.", 7)
    watch = beginning.work.watch

    for _ in range(9):
        beginning.call()

    assert beginning.work.watch is watch
    assert beginning.work._step.text == "I look."  # noqa: SLF001 - nothing public tells what it holds
    assert beginning.work._step.cost_nano == 7  # noqa: SLF001


def test_without_its_session_a_run_pays_for_nothing() -> None:
    """Another run has it: its budget is no longer ours to spend."""
    beginning = Beginning()
    call = beginning.calls.begin(HOOK, "scripted", 100, 50)
    beginning.stage.clock.turn(minutes=2)
    beginning.stage.ask()
    said = len(beginning.stage.events)

    with pytest.raises(LeaseLost):
        beginning.calls.begin(HOOK, "scripted", 100, 50)
    with pytest.raises(LeaseLost):
        call.end(USAGE, "end_turn")

    assert len(beginning.stage.events) == said
