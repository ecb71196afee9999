"""Nothing red runs without a person's yes, and then exactly what was approved, once."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent
from strands.middleware import ExecuteToolStage

from agent_image.contract import Choice, Level, Zone
from agent_image.errors import AuditError
from agent_image.guard.checkpoint import Checkpoint, Progress, Resolution, State
from agent_image.guard.codec import decode, encode
from agent_image.guard.outlet import MemoryOutlet
from agent_image.guard.store import checkpoint_key
from agent_image.invocation import Prompt, Resume
from tests.agent_image.grounds import SESSION, Clock, Stage, closing
from tests.agent_image.guard.gate_grounds import Effects, Refused, looking, paying, results, text_of, valid
from tests.agent_image.scripted import Calls, CallsAll, Raises, Says

OTHER = "session-" + "1" * 32


def stage_for(effects: Effects, *turns: Any, **facts: Any) -> Stage:
    tools = facts.pop("tools", None) or [effects.pay(), effects.look(), effects.draft()]
    return Stage([*turns, Says("Done.")], tools=tools, **facts)


def case(stage: Stage, checkpoint: str) -> Any:
    found = stage.guard.store.case(checkpoint)
    assert found is not None
    return found


def test_a_red_call_waits_and_runs_once_after_a_yes() -> None:
    """The invocation answers at once; another one, in another process, carries it out."""
    effects = Effects()
    stage = stage_for(effects, paying())
    suspended = stage.ask()

    assert suspended["status"] == "suspended"
    assert (suspended["tool"], suspended["arguments"], suspended["reasons"]) == ("pay", {"amount": 150}, ["zone_red"])
    assert effects.done == []

    stage.decide(suspended["checkpoint_id"], Choice.APPROVE)
    answer = stage.go_on(suspended["checkpoint_id"])

    assert (answer["status"], answer["answer"]) == ("completed", "Done.")
    assert effects.done == [("pay", {"amount": 150, "to": "shop"})]
    assert case(stage, suspended["checkpoint_id"]).checkpoint.progress is Progress.DONE
    assert stage.guard.store.session(SESSION).session.pending == ()


def test_a_second_resume_is_told_and_runs_nothing() -> None:
    """An operator may press twice; a replay of the request may arrive late."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    stage.go_on(checkpoint)

    again = stage.go_on(checkpoint)

    assert again["error"]["code"] == "already_resumed"
    assert len(effects.done) == 1


def test_a_resume_before_anybody_decided_stays_suspended() -> None:
    """Silence is no consent."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]

    assert stage.go_on(checkpoint)["status"] == "suspended"
    assert effects.done == []


def test_a_rejection_and_its_reason_reach_the_model() -> None:
    """It can plan anew."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.REJECT, reason="More than 15 %.")

    answer = stage.go_on(checkpoint)

    (result,) = results(stage.messages())
    assert answer["status"] == "completed"
    assert (result["status"], "More than 15 %." in text_of(result)) == ("error", True)
    assert effects.done == []
    assert case(stage, checkpoint).checkpoint.progress is Progress.REJECTED


def test_an_edit_is_what_runs_and_the_model_hears_of_it() -> None:
    """What a person wrote in the place of the model's arguments, and no others."""
    effects = Effects()
    stage = stage_for(effects, paying(150))
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.EDIT, arguments={"amount": 100, "to": "shop"}, reason="Half of it.")

    stage.go_on(checkpoint)

    (result,) = results(stage.messages())
    assert effects.done == [("pay", {"amount": 100, "to": "shop"})]
    assert '"amount":100' in text_of(result)
    assert "Half of it." in text_of(result)
    assert case(stage, checkpoint).checkpoint.executed == {"amount": 100, "to": "shop"}


@pytest.mark.parametrize("arguments", [{}, {"amount": "a lot"}, {"amount": 1, "to": 5}])
def test_an_edit_that_the_tool_cannot_take_runs_nothing(arguments: dict[str, Any]) -> None:
    """Even where somebody wrote it past the console."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.EDIT, arguments=arguments)

    stage.go_on(checkpoint)

    assert effects.done == []
    assert case(stage, checkpoint).checkpoint.progress is Progress.REJECTED


def test_a_tool_of_level_2_may_not_be_edited() -> None:
    """Level 2 is yes or no."""
    effects = Effects()
    stage = stage_for(effects, paying(), tools=[effects.pay(level=Level.BLOCK)])
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.EDIT, arguments={"amount": 1})

    stage.go_on(checkpoint)

    assert effects.done == []


def test_a_cancellation_ends_the_turn() -> None:
    """The model is not asked again."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.CANCEL)

    answer = stage.go_on(checkpoint)

    assert answer["error"]["code"] == "cancelled"
    assert len(stage.model.seen) == 1
    assert effects.done == []
    assert stage.ask("And now?")["status"] == "completed"


@pytest.mark.parametrize(("late", "status"), [(-1, "approved"), (0, "expired"), (1, "expired")])
def test_an_approval_counts_only_before_its_time_is_over(late: int, status: str) -> None:
    """One millisecond late is late, and no rejection either."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.clock.now = case(stage, checkpoint).checkpoint.expires_at + timedelta(milliseconds=late)
    stage.decide(checkpoint, Choice.APPROVE)

    assert case(stage, checkpoint).state(stage.clock()).value == status
    stage.go_on(checkpoint)

    assert len(effects.done) == (status == "approved")


def test_the_model_hears_that_nobody_answered_in_time() -> None:
    """It asks the user to come again; nobody is said to have refused."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.clock.turn(hours=5)

    assert stage.go_on(checkpoint)["status"] == "completed"
    (result,) = results(stage.messages())
    assert "next working day" in text_of(result)
    assert "rejected" not in text_of(result)
    assert case(stage, checkpoint).checkpoint.progress is Progress.EXPIRED


def test_an_approval_that_nobody_carries_out_in_time_is_worth_nothing() -> None:
    """What was right in the morning may be wrong at night."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    stage.clock.turn(minutes=61)

    stage.go_on(checkpoint)

    assert effects.done == []
    assert case(stage, checkpoint).checkpoint.progress is Progress.EXPIRED


def test_a_new_question_while_one_waits_is_answered_with_what_waits() -> None:
    """It is not lost in a conversation that cannot go on, and it decides nothing."""
    effects = Effects()
    stage = stage_for(effects, paying())
    first = stage.ask()

    second = stage.ask("Hello?")

    assert (second["status"], second["checkpoint_id"]) == ("suspended", first["checkpoint_id"])
    assert len(stage.model.seen) == 1


def test_a_new_question_after_an_expiry_goes_on_in_a_valid_conversation() -> None:
    """Every call has its result, and roles alternate."""
    effects = Effects()
    stage = stage_for(effects, paying())
    stage.ask()
    stage.clock.turn(hours=5)

    assert stage.ask("Hello?")["status"] == "completed"
    valid(stage.messages())
    assert "next working day" in text_of(results(stage.messages())[0])


def test_a_checkpoint_of_another_session_is_refused() -> None:
    """An id is no key to somebody else's session."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    assert stage.go_on(checkpoint, OTHER)["error"]["code"] == "foreign_checkpoint"
    assert stage.go_on("0" * 64)["error"]["code"] == "unknown_checkpoint"
    assert effects.done == []


def test_the_same_call_in_another_session_is_asked_anew() -> None:
    """An approval is for one session."""
    effects = Effects()
    stage = stage_for(effects, paying(), paying())
    first = stage.ask()["checkpoint_id"]
    stage.decide(first, Choice.APPROVE)

    second = stage.ask(session=OTHER)

    assert second["status"] == "suspended"
    assert second["checkpoint_id"] != first


def test_the_same_call_id_in_a_later_turn_is_asked_anew() -> None:
    """Models count their calls anew; an old approval must not be found again."""
    effects = Effects()
    stage = stage_for(effects, paying(), Says("Paid."), paying())
    first = stage.ask()["checkpoint_id"]
    stage.decide(first, Choice.APPROVE)
    stage.go_on(first)

    second = stage.ask()

    assert second["status"] == "suspended"
    assert second["checkpoint_id"] != first
    assert len(effects.done) == 1


def test_arguments_changed_on_disk_are_asked_anew() -> None:
    """What was approved is not what the stored message says now."""
    effects = Effects()
    stage = stage_for(effects, paying(150))
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    conversation = stage.conversations.load(SESSION)
    conversation.messages[-1]["content"][0]["toolUse"]["input"] = {"amount": 9999}
    stage.conversations.save(SESSION, conversation)

    answer = stage.go_on(checkpoint)

    assert answer["status"] == "suspended"
    assert answer["arguments"] == {"amount": 9999}
    assert effects.done == []


def test_a_checkpoint_changed_on_disk_runs_nothing() -> None:
    """A person approved what they were shown, and that was not this call."""
    effects = Effects()
    stage = stage_for(effects, paying(150))
    checkpoint = stage.ask()["checkpoint_id"]
    shown = replace(case(stage, checkpoint).checkpoint, arguments={"amount": 1})
    record = stage.records.get(checkpoint_key(checkpoint))
    assert record is not None
    stage.records.put(record.key, encode(shown), expected=record.version, due=record.due)
    stage.decide(checkpoint, Choice.APPROVE)

    stage.go_on(checkpoint)

    assert effects.done == []
    assert not case(stage, checkpoint).checkpoint.genuine


def test_two_calls_under_one_id_with_other_arguments_need_two_approvals() -> None:
    """A doubled id releases only the call that was approved."""
    effects = Effects()
    stage = stage_for(effects, CallsAll((paying(1, "same"), paying(2, "same"))))
    first, second = stage.ask()["waiting"]
    stage.decide(first["checkpoint_id"], Choice.APPROVE)

    answer = stage.go_on(first["checkpoint_id"])

    assert answer["status"] == "suspended"
    assert [one["checkpoint_id"] for one in answer["waiting"]] == [second["checkpoint_id"]]
    assert effects.done == [("pay", {"amount": first["arguments"]["amount"], "to": "shop"})]


def test_green_calls_beside_a_red_one_run_once_and_keep_their_results() -> None:
    """They do not wait, and a restart does not repeat them."""
    effects = Effects()
    calls = CallsAll((looking("a", "1"), paying(5, "2"), looking("b", "3")))
    stage = stage_for(effects, calls)
    checkpoint = stage.ask()["checkpoint_id"]
    assert sorted(effects.done) == [("look", "a"), ("look", "b")]
    stage.decide(checkpoint, Choice.APPROVE)

    stage.go_on(checkpoint)

    assert sorted(effects.done, key=str) == [("look", "a"), ("look", "b"), ("pay", {"amount": 5, "to": "shop"})]
    valid(stage.messages())
    assert {result["toolUseId"]: text_of(result) for result in results(stage.messages())} == {
        "1": "saw a",
        "2": "paid 5.0",
        "3": "saw b",
    }


def test_of_two_red_calls_the_undecided_one_still_waits() -> None:
    """One answer does not eat the other question."""
    effects = Effects()
    stage = stage_for(effects, CallsAll((paying(1, "a"), paying(2, "b"))))
    waiting = stage.ask()["waiting"]
    stage.decide(waiting[0]["checkpoint_id"], Choice.APPROVE)

    between = stage.go_on(waiting[0]["checkpoint_id"])
    stage.decide(waiting[1]["checkpoint_id"], Choice.REJECT, reason="No.")
    answer = stage.go_on(waiting[1]["checkpoint_id"])

    assert [one["checkpoint_id"] for one in between["waiting"]] == [waiting[1]["checkpoint_id"]]
    assert answer["status"] == "completed"
    assert len(effects.done) == 1
    valid(stage.messages())


def test_a_tool_that_raises_leaves_a_doubt_and_says_so() -> None:
    """It may have happened: nobody calls that done, and nobody tries again."""
    effects = Effects(raises=[RuntimeError("connection reset")])
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    answer = stage.go_on(checkpoint)

    assert (answer["status"], answer["state"]) == ("suspended", "in_doubt")
    assert case(stage, checkpoint).checkpoint.progress is Progress.IN_DOUBT
    assert stage.go_on(checkpoint)["state"] == "in_doubt"
    assert stage.ask("And?")["state"] == "in_doubt"
    assert effects.done == []


@pytest.mark.parametrize(("took_effect", "word", "status"), [(True, "took effect", "success"), (False, "not", "error")])
def test_a_named_person_ends_a_doubt(took_effect: bool, word: str, status: str) -> None:  # noqa: FBT001 - a table
    """The model hears what was found, and the call does not run again."""
    effects = Effects(raises=[RuntimeError("x")])
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    stage.go_on(checkpoint)
    stage.people.resolve(
        Resolution(
            checkpoint_id=checkpoint,
            took_effect=took_effect,
            approver="operator",
            at=stage.clock(),
            reason="Seen in the bank's list.",
        )
    )

    answer = stage.go_on(checkpoint)

    (result,) = results(stage.messages())
    assert answer["status"] == "completed"
    assert result["status"] == status
    assert word in text_of(result)
    assert "Seen in the bank's list." in text_of(result)
    assert effects.done == []


def test_a_tool_that_refuses_before_any_effect_has_failed() -> None:
    """There is no doubt about what did not begin."""
    effects = Effects(raises=[Refused("closed", "The shop is closed.")])
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    assert stage.go_on(checkpoint)["status"] == "completed"
    assert case(stage, checkpoint).checkpoint.progress is Progress.FAILED


def test_a_model_that_fails_after_the_effect_finds_the_result_again() -> None:
    """The effect stays in the history, and a retry repeats nothing."""
    effects = Effects()
    stage = stage_for(effects, paying(), Raises(RuntimeError("x")))
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    failed = stage.go_on(checkpoint)
    answer = stage.ask("Did it work?")

    assert failed["status"] == "failed"
    assert answer["status"] == "completed"
    assert len(effects.done) == 1
    assert "paid 150" in json.dumps(stage.model.seen[-1])
    valid(stage.messages())


class Deaf(MemoryOutlet):
    """An audit that cannot be written from some event on."""

    def __init__(self, deaf_to: str) -> None:
        super().__init__()
        self.deaf_to = deaf_to
        self.deaf = True

    def write(self, lines: Any, **where: Any) -> None:
        if self.deaf and any(self.deaf_to.encode() in line for line in lines):
            raise AuditError("audit_full", "The audit cannot be written.")
        super().write(lines, **where)


def test_nothing_runs_while_the_audit_cannot_be_written() -> None:
    """The approval holds, and carries the call out when the audit is back."""
    effects = Effects()
    outlet = Deaf('"event":"tool_call"')
    stage = stage_for(effects, paying(), outlet=outlet)
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    refused = stage.go_on(checkpoint)

    assert refused["error"]["code"] == "audit_full"
    assert effects.done == []
    assert case(stage, checkpoint).state(stage.clock()) is State.APPROVED

    outlet.deaf = False

    assert stage.go_on(checkpoint)["status"] == "completed"
    assert len(effects.done) == 1


def test_a_green_call_does_not_run_unrecorded_either() -> None:
    """What is not written down is not done."""
    effects = Effects()
    stage = stage_for(effects, looking(), outlet=Deaf('"event":"tool_call"'))

    assert stage.ask()["error"]["code"] == "audit_full"
    assert effects.done == []


def test_a_tool_that_nobody_has_is_turned_away_and_its_name_goes_nowhere() -> None:
    """The name is the model's own words; a person is not asked about nothing."""
    effects = Effects()
    stage = stage_for(effects, Calls("secret_tool", "{}"))

    assert stage.ask()["status"] == "completed"
    assert text_of(results(stage.messages())[0]) == "There is no tool of this name."
    told = [event for event in stage.events if event["event"] == "tool_result"]
    assert [(event["tool"], event["code"], event["is_error"]) for event in told] == [("unknown", "unknown_tool", True)]
    assert "secret_tool" not in json.dumps(stage.events)


@pytest.mark.parametrize("arguments", ["{}", '{"amount": "a lot"}', '{"amount": 1, "to": 5}', '"all"', "[1]"])
def test_nobody_is_asked_about_arguments_that_the_tool_cannot_take(arguments: str) -> None:
    """The model is told, and may correct itself."""
    effects = Effects()
    stage = stage_for(effects, Calls("pay", arguments))

    assert stage.ask()["status"] == "completed"
    assert results(stage.messages())[0]["status"] == "error"
    assert effects.done == []


def test_what_a_tool_raises_is_not_told_to_the_model() -> None:
    """An exception may hold a password; its type says enough."""
    effects = Effects(raises=[RuntimeError("password=hunter2")])
    stage = stage_for(effects, looking())

    stage.ask()

    assert text_of(results(stage.messages())[0]) == "The tool failed (RuntimeError)."
    assert "hunter2" not in json.dumps(stage.events)


def test_an_unclassified_tool_is_red() -> None:
    """Whoever forgot to say something is asked."""
    effects = Effects()
    stage = stage_for(effects, looking(), tools=[effects.look(zone=None)])

    suspended = stage.ask()

    assert suspended["zone"] == "red"
    assert "unclassified" in suspended["reasons"]


def test_settings_may_turn_a_green_tool_red() -> None:
    """They may tighten without asking anybody."""
    effects = Effects()
    stage = stage_for(effects, looking(), settings={"tools": {"look": {"zone": "red"}}})

    assert stage.ask()["status"] == "suspended"
    assert effects.done == []


def test_arguments_may_turn_a_green_call_red_and_every_reason_is_shown() -> None:
    """Not the first reason alone."""
    effects = Effects()
    settings = {
        "budget_steps": 1,
        "tools": {"pay": {"red_when": [{"argument": "amount", "over": 100}], "level": 2}},
    }
    stage = stage_for(effects, paying(150), settings=settings, tools=[effects.pay(zone=Zone.YELLOW)])

    suspended = stage.ask()

    assert suspended["reasons"] == ["red_when:amount", "level_block", "budget_steps"]


def test_a_retry_that_a_hook_asks_for_reuses_no_approval() -> None:
    """One approval is one run: the recorded result comes again."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    retried: list[int] = []

    def retry(event: AfterToolCallEvent[Any]) -> None:
        if not retried:
            retried.append(1)
            event.retry = True

    stage.changes.append(lambda agent: agent.add_hook(retry, AfterToolCallEvent))

    assert stage.go_on(checkpoint)["status"] == "completed"
    assert retried == [1]
    assert len(effects.done) == 1


def test_a_hook_that_changes_arguments_after_the_approval_is_asked_anew() -> None:
    """What was approved is what runs, whatever stands in between."""
    effects = Effects()
    stage = stage_for(effects, paying(150))
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    def change(event: BeforeToolCallEvent[Any]) -> None:
        event.tool_use = {**event.tool_use, "input": {"amount": 9999}}

    stage.changes.append(lambda agent: agent.add_hook(change, BeforeToolCallEvent))

    answer = stage.go_on(checkpoint)

    assert answer["status"] == "suspended"
    assert answer["arguments"] == {"amount": 9999}
    assert effects.done == []


def test_middleware_that_stands_behind_the_gate_cannot_change_what_runs() -> None:
    """The tool itself checks that its arguments are those that were let through."""
    effects = Effects()
    stage = stage_for(effects, paying(150))
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    async def change(context: Any, next_fn: Any) -> Any:
        async for event in next_fn(context.replace(tool_use={**context.tool_use, "input": {"amount": 9999}})):
            yield event

    stage.changes.append(lambda agent: agent.add_middleware(ExecuteToolStage, change))

    stage.go_on(checkpoint)

    assert effects.done == []
    assert case(stage, checkpoint).checkpoint.progress is Progress.FAILED


def test_a_caller_who_hangs_up_does_not_leave_an_approved_call_in_doubt() -> None:
    """What has begun ends, and is recorded."""
    effects = Effects()
    stage = stage_for(effects, CallsAll((looking("a", "1"), paying(5, "2"))))
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)

    async def hang_up() -> None:
        events = stage.resume(SESSION, Resume(checkpoint))
        running = asyncio.ensure_future(anext(events))
        # The tool runs in a thread of its own, which knows no events of this loop.
        while not effects.done or effects.done[-1][0] != "pay":  # noqa: ASYNC110
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises((asyncio.CancelledError, StopAsyncIteration)):
            await running
        await events.aclose()  # type: ignore[attr-defined]

    asyncio.run(hang_up())

    assert case(stage, checkpoint).checkpoint.progress is Progress.DONE


def test_a_paused_run_and_its_resume_are_linked() -> None:
    """The trail leads from one trace to the other."""
    effects = Effects()
    stage = stage_for(effects, paying())
    suspended = stage.ask()
    stage.decide(suspended["checkpoint_id"], Choice.APPROVE)
    stage.go_on(suspended["checkpoint_id"])

    resumed = stage.span("invocation resume")
    assert [f"{link.context.trace_id:032x}" for link in resumed.links] == [suspended["trace_id"]]
    asked = stage.span("guard asked")
    assert dict(asked.attributes or {}) == {
        "rastro.tool": "pay",
        "rastro.zone": "red",
        "rastro.decision": "asked",
        "rastro.checkpoint": suspended["checkpoint_id"],
    }


def test_the_audit_tells_the_whole_story_in_order() -> None:
    """The intent stands before the effect, and every step once."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    stage.go_on(checkpoint)

    told = [(event["event"], event.get("decision")) for event in stage.events]
    assert told == [
        ("run_started", None),
        ("llm_call", None),
        ("gate", "asked"),
        ("run_ended", None),
        ("run_started", None),
        ("tool_call", "approved"),
        ("tool_result", "approved"),
        ("llm_call", None),
        ("run_ended", None),
    ]
    assert [event["seq"] for event in stage.events] == list(range(1, 10))
    assert stage.events[5]["approver"] == "approver"


def test_malformed_records_fail_closed() -> None:
    """A checkpoint that cannot be read lets nothing run."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    record = stage.records.get(checkpoint_key(checkpoint))
    assert record is not None
    broken = {key: value for key, value in record.document.items() if key != "expires_at"}
    stage.records.put(record.key, broken, expected=record.version, due=record.due)

    assert stage.go_on(checkpoint)["error"]["code"] == "record_malformed"
    assert effects.done == []


def test_arguments_that_are_no_json_are_turned_away() -> None:
    """The model is told, and nothing ran."""
    effects = Effects()
    stage = stage_for(effects, Calls("pay", '{"amount": NaN}'))

    assert stage.ask()["status"] == "completed"
    (result,) = results(stage.messages())
    assert result["status"] == "error"
    assert effects.done == []


def test_huge_arguments_are_turned_away() -> None:
    """A megabyte is no amount."""
    effects = Effects()
    stage = stage_for(effects, Calls("pay", json.dumps({"amount": 1, "to": "x" * 1_100_000})))

    assert stage.ask()["status"] == "completed"
    assert results(stage.messages())[0]["status"] == "error"
    assert effects.done == []


def test_a_clock_that_goes_backwards_frees_no_session_and_approves_nothing() -> None:
    """Time is not what lets things run."""
    effects = Effects()
    clock = Clock()
    stage = stage_for(effects, paying(), clock=clock)
    checkpoint = stage.ask()["checkpoint_id"]
    clock.turn(minutes=-10)
    stage.decide(checkpoint, Choice.APPROVE)

    assert case(stage, checkpoint).state(clock()) is State.EXPIRED
    stage.go_on(checkpoint)

    assert effects.done == []


def test_one_run_at_a_time_holds_a_session_across_processes() -> None:
    """The lease is in the store, not in the process."""
    effects = Effects()
    clock = Clock()
    first = stage_for(effects, looking(), clock=clock)
    second = stage_for(effects, looking(), clock=clock, records=first.records, runs="second-")

    async def both() -> dict[str, Any]:
        events = first.prompt(SESSION, Prompt("?"))
        await anext(events)
        answer = [event async for event in second.prompt(SESSION, Prompt("?"))][-1].document
        async for _ in events:
            pass
        return answer

    assert asyncio.run(both())["error"]["code"] == "busy"
    assert closing(second.prompt(SESSION, Prompt("?")))["status"] == "completed"


def test_a_checkpoint_reads_back_as_it_was_written() -> None:
    """Digits, order and types of arguments survive the store."""
    effects = Effects()
    stage = stage_for(effects, paying(150.5, to='Łódź \u2028 "x"'))
    checkpoint = stage.ask()["checkpoint_id"]

    found = case(stage, checkpoint).checkpoint

    assert found.arguments == {"amount": 150.5, "to": 'Łódź \u2028 "x"'}
    assert found.genuine
    assert decode(Checkpoint, encode(found)) == found


def test_arguments_without_a_form_are_not_those_of_the_id() -> None:
    """Whoever wrote them into the store, nobody is asked to believe them."""
    effects = Effects()
    stage = stage_for(effects, paying())
    checkpoint = stage.ask()["checkpoint_id"]

    assert not replace(case(stage, checkpoint).checkpoint, arguments={"amount": float("nan")}).genuine


def test_a_cancellation_ends_what_else_the_message_asked_for() -> None:
    """Another's approval of a part is no reason to go on with a task that is over."""
    effects = Effects()
    stage = stage_for(effects, CallsAll((paying(1, "a"), paying(2, "b"))))
    first, second = stage.ask()["waiting"]
    stage.decide(first["checkpoint_id"], Choice.CANCEL)
    stage.decide(second["checkpoint_id"], Choice.APPROVE)

    answer = stage.go_on(second["checkpoint_id"])

    assert answer["error"]["code"] == "cancelled"
    assert effects.done == []
    assert {case(stage, one["checkpoint_id"]).checkpoint.progress for one in (first, second)} == {Progress.CANCELLED}
    assert stage.ask("And now?")["status"] == "completed"
    valid(stage.messages())


def test_no_session_s_id_names_a_part_of_another_session() -> None:
    """A caller chooses its id."""
    effects = Effects()
    stage = stage_for(effects, Says("Hello."))
    stage.ask()

    assert stage.ask(session=f"{SESSION}#conversation")["status"] == "completed"
    assert len(stage.messages()) == len(stage.messages(f"{SESSION}#conversation")) == 2
