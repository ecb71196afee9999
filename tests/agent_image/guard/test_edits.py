"""A stage may change what a call runs with: the policy and people judge the changed call, and no other runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from strands import tool

from agent_image.contract import Choice, EventName, Zone
from agent_image.guard import sayings
from agent_image.guard.checkpoint import Call, Progress
from agent_image.guard.claim import claim_of
from agent_image.guard.records import Document, StoreUnavailable
from agent_image.guard.scene import Scene
from agent_image.guard.verdict import ALLOWED, Outcome, Say, Stages, Verdict
from agent_image.stores.memory import MemoryRecords
from agent_image.tools.zoned import ZonedTool
from tests.agent_image.grounds import SESSION, Stage
from tests.agent_image.guard.gate_grounds import Effects, paying, results, text_of, valid
from tests.agent_image.scripted import Calls, CallsAll, Says


def edits(**arguments: Any) -> Callable[[Call, Scene], Verdict]:
    """Set arguments to values, whatever they were."""

    def edit(call: Call, _: Scene) -> Verdict:
        return Verdict(source="hook", arguments={**call.arguments, **arguments})

    return edit


def pays(effects: Effects, stages: Stages, *turns: Any, **rules: Any) -> Stage:
    """Ask an agent that pays small sums alone, and asks for more than 100."""
    rule = {"tools": {"pay": {"red_when": [{"argument": "amount", "over": 100}]}}}
    tools = [effects.pay(zone=Zone.YELLOW, **rules), effects.look(), effects.draft()]
    return Stage([*turns, Says("Done.")], tools=tools, stages=stages, settings=rule)


def test_the_changed_call_runs_and_the_model_hears_of_it() -> None:
    """What ran is what was recorded."""
    effects = Effects()
    stage = pays(effects, Stages(before_tool=[edits(amount=7)]), paying(50))

    stage.ask()

    assert effects.done == [("pay", {"amount": 7, "to": "shop"})]
    assert text_of(results(stage.messages())[0]) == (
        'A check changed the arguments of this call; it ran with {"amount":7}. paid 7.0'
    )
    (call,) = [event for event in stage.events if event["event"] == EventName.TOOL_CALL]
    assert call["args"]["text"] == '{"amount":7}'
    (hook,) = [event for event in stage.events if event["event"] == EventName.HOOK]
    assert (hook["decision"], hook["args"]["text"]) == ("edited", '{"amount":7}')


def test_each_stage_judges_what_the_one_before_made_of_the_call() -> None:
    """In their order; what one that refuses would change counts for nothing."""
    seen: list[Any] = []

    def looks(call: Call, _: Scene) -> Verdict:
        seen.append(call.arguments)
        return ALLOWED

    effects = Effects()
    stage = pays(effects, Stages(before_tool=[edits(amount=7), looks, edits(to="bank"), looks]), paying(50))

    stage.ask()

    assert seen == [{"amount": 7}, {"amount": 7, "to": "bank"}]
    assert effects.done == [("pay", {"amount": 7, "to": "bank"})]


def test_a_change_into_a_red_call_asks_a_person_who_sees_the_changed_call() -> None:
    """What was approved is what runs, once."""
    effects = Effects()
    stage = pays(effects, Stages(before_tool=[edits(amount=500)]), paying(50))

    suspended = stage.ask()
    assert suspended["arguments"] == {"amount": 500}
    assert suspended["reasons"] == ["red_when:amount", "hook_edited"]
    assert effects.done == []
    stage.decide(suspended["checkpoint_id"], Choice.APPROVE)
    answer = stage.go_on(suspended["checkpoint_id"])

    assert answer["status"] == "completed"
    assert effects.done == [("pay", {"amount": 500, "to": "shop"})]
    valid(stage.messages())


def test_what_a_stage_makes_of_an_approved_call_needs_an_approval_of_its_own() -> None:
    """The first one is used up, and nothing has run."""
    effects, sums = Effects(), iter([500, 600, 600])

    def restless(call: Call, _: Scene) -> Verdict:
        return Verdict(source="hook", arguments={**call.arguments, "amount": next(sums)})

    stage = pays(effects, Stages(before_tool=[restless]), paying(50))
    first = stage.ask()
    stage.decide(first["checkpoint_id"], Choice.APPROVE)

    second = stage.go_on(first["checkpoint_id"])

    assert (second["status"], second["arguments"], effects.done) == ("suspended", {"amount": 600}, [])
    assert second["checkpoint_id"] != first["checkpoint_id"]
    stage.decide(second["checkpoint_id"], Choice.APPROVE)
    assert stage.go_on(second["checkpoint_id"])["status"] == "completed"
    assert effects.done == [("pay", {"amount": 600, "to": "shop"})]


def test_even_a_harmless_change_of_an_approved_call_is_asked_for() -> None:
    """Nobody has said yes to it."""
    effects, sums = Effects(), iter([500, 5])

    def restless(call: Call, _: Scene) -> Verdict:
        return Verdict(source="hook", arguments={**call.arguments, "amount": next(sums, 5)})

    stage = pays(effects, Stages(before_tool=[restless]), paying(50))
    first = stage.ask()
    stage.decide(first["checkpoint_id"], Choice.APPROVE)

    second = stage.go_on(first["checkpoint_id"])

    assert (second["status"], second["reasons"], effects.done) == ("suspended", ["hook_edited"], [])


def test_a_run_that_goes_on_repeats_no_call_that_a_stage_changed_another_way_before() -> None:
    """A check that changes its mind does not make a second effect."""
    effects, texts = Effects(), iter(["first", "second", "third"])

    def restless(call: Call, _: Scene) -> Verdict:
        if call.tool != "draft":
            return ALLOWED
        return Verdict(source="hook", arguments={"text": next(texts)})

    both = CallsAll((Calls("draft", '{"text": "mine"}', "call-1"), paying(500, "call-2")))
    stage = pays(effects, Stages(before_tool=[restless]), both)
    suspended = stage.ask()
    stage.decide(suspended["checkpoint_id"], Choice.APPROVE)
    stage.go_on(suspended["checkpoint_id"])

    assert [done for done in effects.done if done[0] == "draft"] == [("draft", "first")]
    assert text_of(results(stage.messages())[0]).endswith("drafted first")
    valid(stage.messages())


@pytest.mark.parametrize(
    "arguments", [{"amount": "much"}, {}, {"amount": float("nan")}, {"amount": 1, "to": {"a": object()}}]
)
def test_what_the_tool_cannot_take_does_not_run(arguments: Mapping[str, Any]) -> None:
    """The model hears why."""
    effects = Effects()
    stages = Stages(before_tool=[lambda *_: Verdict(source="hook", arguments=arguments)])
    stage = pays(effects, stages, paying(50))

    stage.ask()

    assert effects.done == []
    assert text_of(results(stage.messages())[0]) == sayings.MISCHANGED


def test_a_stage_that_says_the_same_arguments_changes_nothing() -> None:
    """One, and one point zero, and true are not the same; a copy is."""
    effects = Effects()
    stage = pays(effects, Stages(before_tool=[lambda call, _: Verdict(arguments=dict(call.arguments))]), paying(50))

    stage.ask()

    assert text_of(results(stage.messages())[0]) == "paid 50.0"


def withholding(call: Outcome, _: Scene) -> Verdict:
    """Hide what the red tool says."""
    return Verdict(Say.DENY, "hook", "secret", "Not for you.") if call.call.tool == "pay" else ALLOWED


def test_a_replay_gives_what_the_stage_let_through_and_not_what_it_hid() -> None:
    """The record holds nothing else."""
    effects = Effects()
    both = CallsAll((paying(500, "call-1"), paying(900, "call-2")))
    stage = pays(effects, Stages(after_tool=[withholding]), both)
    first = stage.ask()
    waiting = [one["checkpoint_id"] for one in first["waiting"]]
    stage.decide(waiting[0], Choice.APPROVE)
    stage.go_on(waiting[0])
    stage.decide(waiting[1], Choice.APPROVE)
    stage.go_on(waiting[1])

    assert len(effects.done) == 2
    hidden = [text_of(result) for result in results(stage.messages())]
    assert hidden == ["A check withheld the result of this call. It says:\n<<<check\nNot for you.\ncheck>>>"] * 2
    assert "paid" not in str([stage.guard.store.case(one) for one in waiting])


@pytest.mark.parametrize(("amount", "red"), [(50, False), (500, True)])
def test_that_a_call_has_run_is_kept_before_anybody_judges_its_answer(amount: int, *, red: bool) -> None:
    """A check may take minutes: a process that dies meanwhile leaves no doubt, and shows nothing unchecked."""
    effects, kept = Effects(), []
    holder: list[Stage] = []

    def looks(outcome: Outcome, _: Scene) -> Verdict:
        store = holder[0].guard.store
        case = store.case(outcome.call.id)
        result = case.checkpoint.result if case is not None else store.part(SESSION, "batch")[0]["results"]
        kept.append((None if case is None else case.checkpoint.progress, "paid" in str(result), str(result)))
        return ALLOWED

    stage = pays(effects, Stages(after_tool=[looks]), paying(amount))
    holder.append(stage)
    answer = stage.ask()
    if red:
        stage.decide(answer["checkpoint_id"], Choice.APPROVE)
        stage.go_on(answer["checkpoint_id"])

    ((progress, told, result),) = kept
    assert (progress, told) == (Progress.DONE if red else None, False)
    assert sayings.UNCHECKED in result
    assert "paid" in text_of(results(stage.messages())[0])


BOTH = CallsAll((Calls("draft", '{"text": "mine"}', "call-1"), paying(500, "call-2")))


def drafts_otherwise(call: Call, _: Scene) -> Verdict:
    """Change what is drafted, and nothing else."""
    return Verdict(source="hook", arguments={"text": "other"}) if call.tool == "draft" else ALLOWED


def test_of_a_task_that_a_person_ends_the_changed_call_that_ran_is_told_as_that() -> None:
    """Told that it had no effect, the model would do it again."""
    effects = Effects()
    stage = pays(effects, Stages(before_tool=[drafts_otherwise]), BOTH)
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.CANCEL)

    stage.go_on(checkpoint)

    assert effects.done == [("draft", "other")]
    assert text_of(results(stage.messages())[0]).endswith("drafted other")


class Dying(MemoryRecords):
    """Records of a process that dies as the first call of a message has ended."""

    dies = True

    def put(self, key: str, document: Document, **how: Any) -> None:
        if self.dies and "started" in document and document.get("results"):
            raise StoreUnavailable("store_unavailable", "The store did not answer.")
        super().put(key, document, **how)


@pytest.mark.parametrize(
    "later",
    [Verdict(source="hook", arguments={"text": "third"}), Verdict(Say.DENY, "hook"), Verdict(Say.ASK, "hook")],
    ids=["edits", "refuses", "asks"],
)
def test_a_call_that_began_and_can_be_repeated_becomes_no_other_call(later: Verdict) -> None:
    """Its key is what keeps it to one effect; and nobody may say of it that it did not run."""
    keys: list[str] = []

    @tool(name="draft")
    def draft(text: str) -> str:
        """Draft.

        Args:
            text: what to write.
        """
        keys.append(claim_of("draft").key)
        return f"drafted {text}"

    said = iter([Verdict(source="hook", arguments={"text": "second"})])
    stages = Stages(before_tool=[lambda call, _: next(said, later) if call.tool == "draft" else ALLOWED])
    records, effects = Dying(), Effects()
    tools = [ZonedTool(draft, Zone.YELLOW, idempotent=True), effects.pay()]
    stage = Stage([BOTH, Says("Done.")], tools=tools, stages=stages, records=records)
    assert stage.ask()["status"] == "failed"
    records.dies = False
    (checkpoint,) = stage.guard.store.session(SESSION).session.pending
    stage.decide(checkpoint, Choice.APPROVE)

    stage.go_on(checkpoint)

    assert len(keys) == 1
    assert text_of(results(stage.messages())[0]) == sayings.UNKNOWN


def test_a_person_is_not_asked_again_for_what_a_stage_makes_of_their_own_change() -> None:
    """They saw that call, and wanted another: it does not run, and nobody is said to have rejected it."""
    effects = Effects()
    stage = pays(effects, Stages(before_tool=[edits(amount=500)]), paying(50))
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.EDIT, arguments={"amount": 300}, reason="Less.")

    answer = stage.go_on(checkpoint)

    assert (answer["status"], effects.done) == ("completed", [])
    assert text_of(results(stage.messages())[0]) == sayings.UNDONE
    gates = [event for event in stage.events if event["event"] == EventName.GATE]
    assert [(gate["decision"], gate.get("approver"), gate.get("code")) for gate in gates] == [
        ("asked", None, None),
        ("rejected", None, "hook_edited"),
    ]


def test_what_a_stage_refuses_after_an_approval_is_told_as_that_by_every_later_run() -> None:
    """The person who approved it has not rejected it."""
    effects = Effects()
    allows = iter([ALLOWED, ALLOWED])
    late = Verdict(Say.DENY, "hook", "late", "Too late.")
    both = CallsAll((paying(500, "call-1"), paying(900, "call-2")))
    stage = pays(effects, Stages(before_tool=[lambda *_: next(allows, late)]), both)
    for checkpoint in [one["checkpoint_id"] for one in stage.ask()["waiting"]]:
        stage.decide(checkpoint, Choice.APPROVE, reason="Fine.")
        stage.go_on(checkpoint)

    assert effects.done == []
    told = "A check refused this call. It says:\n<<<check\nToo late.\ncheck>>>"
    assert [text_of(result) for result in results(stage.messages())] == [told, told]
