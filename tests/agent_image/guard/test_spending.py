"""A session spends what was set aside for it, asks when that is used up, and stops at the end."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from agent_image.contract import Choice, Kind
from agent_image.guard.budget import Amount
from agent_image.guard.carrying import Admitted
from agent_image.guard.checkpoint import Call, Progress
from agent_image.guard.gate import Gate
from agent_image.guard.lease import LeaseLost
from agent_image.guard.spending import Spending
from agent_image.guard.work import Run, Work
from tests.agent_image.grounds import SESSION, Stage
from tests.agent_image.guard.gate_grounds import Effects, looking, paying, results, valid
from tests.agent_image.scripted import CallsAll, Raises, Says

CALL_USD = Decimal("0.000105")
"""10 tokens at 3 and 5 at 15 dollars a million."""


def stage_with(*turns: Any, settings: dict[str, Any], effects: Effects | None = None, **facts: Any) -> Stage:
    effects = effects or Effects()
    tools = facts.pop("tools", None) or [effects.pay(), effects.look()]
    return Stage([*turns, Says("Done.")], tools=tools, settings=settings, **facts)


def spent(stage: Stage) -> Any:
    return stage.guard.store.session(SESSION).session.budget.spent


def test_every_call_of_a_model_and_a_tool_is_counted_the_last_one_too() -> None:
    """The turn that only speaks costs as well."""
    effects = Effects()
    stage = stage_with(looking(), settings={}, effects=effects, tools=[effects.look(price_usd=Decimal("0.01"))])

    stage.ask()

    assert spent(stage).usd == 2 * CALL_USD + Decimal("0.01")
    assert (spent(stage).tokens, spent(stage).steps) == (30, 3)
    assert stage.guard.store.session(SESSION).session.budget.reserved == {}
    costs = [Decimal(str(event["cost_usd"])) for event in stage.events if event["event"] in {"llm_call", "tool_result"}]
    ended = stage.events[-1]
    assert sum(costs) == Decimal(str(ended["cost_usd"])) == spent(stage).usd
    assert ended["tokens"] == {"input": 20, "output": 10, "cache_read": 0, "cache_write": 0}


def test_beyond_the_soft_limit_even_a_green_call_waits() -> None:
    """A loop of harmless calls costs money, too."""
    effects = Effects()
    stage = stage_with(looking(), settings={"budget_steps": 1}, effects=effects)

    suspended = stage.ask()

    assert suspended["status"] == "suspended"
    assert suspended["tool"] == "budget"
    assert suspended["reasons"] == ["budget_steps"]
    assert suspended["arguments"]["adds_steps"] == 1
    assert effects.done == []


def test_a_yes_adds_the_soft_limit_once_more_and_no_further() -> None:
    """An approval is for a sum, not for ever."""
    effects = Effects()
    stage = stage_with(looking(), settings={"budget_steps": 1, "limit_steps": 50}, effects=effects)
    first = stage.ask()
    stage.decide(first["checkpoint_id"], Choice.APPROVE)

    second = stage.go_on(first["checkpoint_id"])

    assert effects.done == [("look", "here")]
    assert second["status"] == "suspended"
    assert second["checkpoint_id"] != first["checkpoint_id"]
    stage.decide(second["checkpoint_id"], Choice.APPROVE)
    assert stage.go_on(second["checkpoint_id"])["status"] == "completed"
    assert len(effects.done) == 1


@pytest.mark.parametrize("choice", [Choice.REJECT, Choice.CANCEL])
def test_a_no_ends_the_run_and_calls_no_model(choice: Choice) -> None:
    """A model that is told no would only ask again."""
    effects = Effects()
    stage = stage_with(looking(), settings={"budget_steps": 1}, effects=effects)
    first = stage.ask()
    stage.decide(first["checkpoint_id"], choice)

    ended = stage.go_on(first["checkpoint_id"])

    assert ended["error"]["code"] == "budget_refused"
    assert len(stage.model.seen) == 1
    assert (stage.spans[-1].attributes or {})["rastro.outcome"] == "budget"
    assert effects.done == []
    assert stage.go_on(first["checkpoint_id"])["error"]["code"] == "budget_refused"


def test_a_limit_of_zero_is_zero_and_not_endless() -> None:
    """The first call asks."""
    stage = stage_with(settings={"budget_usd": Decimal(0), "limit_usd": Decimal(1)})

    assert stage.ask()["status"] == "suspended"
    assert stage.model.seen == []


def test_a_call_that_would_pass_the_limit_asks_before_it_is_made() -> None:
    """Not when the money is gone."""
    effects = Effects()
    settings = {"budget_usd": Decimal("0.50")}
    stage = stage_with(looking(), settings=settings, effects=effects, tools=[effects.look(price_usd=Decimal(100))])

    # 0.50 is soft and 2.00 is hard: 100 passes both.
    assert stage.ask()["error"]["code"] == "budget_limit"
    assert effects.done == []


def test_the_hard_limit_stops_whoever_said_yes() -> None:
    """Approvals raise the soft limit alone."""
    effects = Effects()
    stage = stage_with(looking(), settings={"budget_steps": 1, "limit_steps": 1}, effects=effects)

    ended = stage.ask()

    assert ended["error"]["code"] == "budget_limit"
    assert (stage.spans[-1].attributes or {})["rastro.outcome"] == "budget"
    assert effects.done == []
    assert stage.ask("Again?")["error"]["code"] == "budget_limit"


def test_what_was_spent_before_a_resume_stays_spent() -> None:
    """A pause gives no new budget."""
    effects = Effects()
    stage = stage_with(paying(), settings={"budget_steps": 2, "limit_steps": 3}, effects=effects)
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    waiting = stage.go_on(checkpoint)

    assert len(effects.done) == 1
    assert waiting["reasons"] == ["budget_steps"]
    assert spent(stage).steps == 2


def test_a_red_call_over_the_budget_asks_once_for_both() -> None:
    """One card with all reasons; its approval adds to the budget, too."""
    effects = Effects()
    stage = stage_with(paying(), settings={"budget_steps": 1, "limit_steps": 9}, effects=effects)
    suspended = stage.ask()
    assert suspended["reasons"] == ["zone_red", "budget_steps"]
    stage.decide(suspended["checkpoint_id"], Choice.APPROVE)

    answer = stage.go_on(suspended["checkpoint_id"])

    assert len(effects.done) == 1
    assert answer["status"] == "suspended"  # 2 of 2 steps are used: the next call of the model asks
    assert answer["tool"] == "budget"


def test_a_model_without_a_price_asks() -> None:
    """Unknown is not zero."""
    stage = stage_with(settings={})
    stage.model.id = "nobody-priced-this"

    suspended = stage.ask()
    stage.decide(suspended["checkpoint_id"], Choice.APPROVE)

    assert suspended["reasons"] == ["unpriced_model"]
    assert stage.go_on(suspended["checkpoint_id"])["status"] == "completed"
    assert [event["cost_usd"] for event in stage.events if event["event"] == "llm_call"] == [None]
    # The first run called no model: it cost nothing, and of the second nobody knows.
    assert [event["cost_usd"] for event in stage.events if event["event"] == "run_ended"] == [0, None]


def test_a_call_that_fails_has_no_price_where_its_model_has_none() -> None:
    """Nothing was set aside for it, which is not to say that it was free."""
    stage = stage_with(Raises(RuntimeError("x")), settings={})
    stage.model.id = "nobody-priced-this"
    suspended = stage.ask()
    stage.decide(suspended["checkpoint_id"], Choice.APPROVE)

    stage.go_on(suspended["checkpoint_id"])

    told = [event for event in stage.events if event["event"] in {"llm_call", "run_ended"}]
    assert [event["cost_usd"] for event in told] == [0, None, None]


def test_a_model_call_that_fails_is_paid_for() -> None:
    """Nobody says what was used: what was set aside counts."""
    stage = stage_with(Raises(RuntimeError("x")), settings={})

    stage.ask()

    assert spent(stage).usd > CALL_USD
    assert spent(stage).steps == 1
    failed = next(event for event in stage.events if event["event"] == "llm_call")
    assert (failed["is_error"], failed["code"]) == (True, "internal")


def test_calls_side_by_side_do_not_pass_the_limit_together() -> None:
    """Each is set aside before it runs."""
    effects = Effects()
    calls = CallsAll(tuple(looking(str(n), str(n)) for n in range(8)))
    stage = stage_with(calls, settings={"budget_steps": 4, "limit_steps": 40}, effects=effects)

    suspended = stage.ask()

    assert len(effects.done) == 3
    assert [one["tool"] for one in suspended["waiting"]] == ["budget"]
    assert spent(stage).steps == 4
    stage.decide(suspended["checkpoint_id"], Choice.APPROVE)
    stage.go_on(suspended["checkpoint_id"])
    assert len(effects.done) == len({at for _, at in effects.done}) == 7


def test_what_a_lost_run_had_set_aside_counts_as_spent() -> None:
    """Nobody knows whether the model was called."""
    stage = stage_with(settings={})
    stage.ask()
    found = stage.guard.store.session(SESSION)
    lost = replace(found.session, budget=found.session.budget.reserve("lost", Amount(7, 11, 1)))
    stage.guard.store.put_session(lost, found.version, stage.clock())
    before = found.session.budget.spent

    stage.ask("Again?")

    assert spent(stage).nano_usd == before.nano_usd + 7 + int(CALL_USD * 10**9)


def lost_run(stage: Stage) -> Gate:
    """Begin a run of which nobody will hear again."""
    work = Work(stage.guard, Run("lost", SESSION, Kind.PROMPT, lambda: ("", ""), lambda: None))
    return Gate(work, Spending(work))


def call_of(number: str) -> Call:
    return Call(session_id=SESSION, message="m", tool_use_id=number, tool="look", arguments={"at": number})


def test_the_steps_of_calls_that_only_read_are_kept_with_their_results() -> None:
    """One write a call; a run that dies right after it has taken its steps, and the next one says so."""
    stage = stage_with(settings={})
    gate = lost_run(stage)
    before = stage.guard.store.session(SESSION)
    for number in "12":
        admitted = gate.admit(call_of(number))
        assert isinstance(admitted, Admitted)
        gate.finish(admitted, {"status": "success", "content": [{"text": "saw"}]}, None)
    assert stage.guard.store.session(SESSION) == before
    stage.clock.turn(minutes=2)

    stage.ask()

    assert spent(stage).steps == 3  # two calls, and the answer


def test_a_call_that_only_reads_is_counted_once() -> None:
    """Its step is in the session's record and beside its result, and counts as one."""
    stage = stage_with(looking(), Says("Seen."), settings={})
    stage.ask()

    stage.ask("Again?")

    assert spent(stage).steps == 4


def test_who_lost_the_session_reads_nothing_more() -> None:
    """A run whose lease may be over asks the store first."""
    stage = stage_with(settings={})
    gate = lost_run(stage)
    stage.clock.turn(minutes=2)
    stage.ask()
    said = len(stage.events)

    with pytest.raises(LeaseLost):
        gate.admit(call_of("1"))

    assert len(stage.events) == said


def test_nobody_lets_a_session_spend_more_in_time() -> None:
    """The run ends, and a new question asks anew."""
    stage = stage_with(settings={"budget_usd": Decimal(0), "limit_usd": Decimal(1)})
    first = stage.ask()
    stage.clock.turn(hours=5)

    assert stage.go_on(first["checkpoint_id"])["error"]["code"] == "budget_expired"
    second = stage.ask("Good morning?")
    assert second["status"] == "suspended"
    assert second["checkpoint_id"] != first["checkpoint_id"]
    found = stage.guard.store.case(first["checkpoint_id"])
    assert found is not None
    assert found.checkpoint.progress is Progress.EXPIRED
    valid(stage.messages())


def test_results_survive_a_gate_between_calls() -> None:
    """What ran before the limit is not run again after it."""
    effects = Effects()
    calls = CallsAll((looking("a", "1"), looking("b", "2")))
    stage = stage_with(calls, settings={"budget_steps": 2, "limit_steps": 40}, effects=effects)
    suspended = stage.ask()
    stage.decide(suspended["checkpoint_id"], Choice.APPROVE)

    stage.go_on(suspended["checkpoint_id"])

    assert sorted(effects.done) == [("look", "a"), ("look", "b")]
    assert len(results(stage.messages())) == 2
