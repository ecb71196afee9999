"""Every fault that was found in the articles' sample code is answered by tests that the sample would fail."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.conftest import ROOT

GUARD = "tests/agent_image/guard"

AUDIT_COST_ANOMALY = {
    "saving twice writes steps twice": f"{GUARD}/test_audit.py::test_an_event_is_written_when_it_happens_and_once",
    "a crash loses the whole log": f"{GUARD}/test_audit_file.py::test_a_line_is_there_before_the_process_can_die",
    "a new run overwrites the old log": f"{GUARD}/test_audit_file.py::test_earlier_runs_survive",
    "the documented grep finds nothing": f"{GUARD}/test_events.py::"
    "test_members_stand_in_the_contract_s_order_without_white_space",
    "the time has no zone": f"{GUARD}/test_events.py::test_time_is_utc_and_says_so",
    "no ids": f"{GUARD}/test_events.py::test_every_event_is_named_and_placed",
    "rounding makes a small cost nothing": f"{GUARD}/test_events.py::test_money_is_written_exactly",
    "floats do not add up": f"{GUARD}/test_events.py::test_the_sum_of_written_amounts_is_the_sum_of_amounts",
    "cutting a result of None raises": f"{GUARD}/test_events.py::test_a_result_of_none_is_a_result",
    "bytes kill the log": f"{GUARD}/test_plain.py::test_every_type_has_a_plain_form",
    "a cut is not said": f"{GUARD}/test_audit.py::test_a_long_text_is_cut_and_says_so",
    "one model has another's price": f"{GUARD}/test_prices.py::test_real_references_have_their_price",
    "an unknown model is free": f"{GUARD}/test_spending.py::test_a_model_without_a_price_asks",
    "the last turn is left out": f"{GUARD}/test_spending.py::"
    "test_every_call_of_a_model_and_a_tool_is_counted_the_last_one_too",
    "the budget is looked at when it is spent": f"{GUARD}/test_spending.py::"
    "test_a_call_that_would_pass_the_limit_asks_before_it_is_made",
    "three calls of one tool are a loop": f"{GUARD}/test_loops.py::test_reading_three_different_files_is_no_loop",
    "a circle of two is missed": f"{GUARD}/test_loops.py::test_three_rounds_of_a_circle_are_a_loop",
    "two of the last three are consecutive": f"{GUARD}/test_anomalies.py::"
    "test_refused_calls_with_another_between_are_no_streak",
    "an alert repeats at every step": f"{GUARD}/test_outbox.py::test_equal_alerts_within_the_cool_down_are_told_once",
    "severity is a word in a sentence": f"{GUARD}/test_alerts.py::test_who_is_woken_is_a_matter_of_types",
    "what is not on the list runs": f"{GUARD}/test_gate.py::test_an_unclassified_tool_is_red",
    "a dangerous call is approved by simulation": f"{GUARD}/test_gate.py::"
    "test_a_resume_before_anybody_decided_stays_suspended",
    "the summary contradicts the log": f"{GUARD}/test_metrics.py::test_a_run_s_summary_is_what_its_log_says",
    "checked only at the end": f"{GUARD}/test_watching.py::test_a_loop_ends_the_run_long_before_its_budget",
}

EVENTS_LOOPS_METRICS = {
    "four different reads are a loop": f"{GUARD}/test_loops.py::test_reading_three_different_files_is_no_loop",
    "four steps of text are a loop": f"{GUARD}/test_loops.py::test_four_steps_that_only_write_are_no_loop_of_calls",
    "AAA and ABCABC are missed": f"{GUARD}/test_loops.py::test_three_rounds_are_always_a_loop",
    "the loop is found when the run is over": f"{GUARD}/test_watching.py::"
    "test_a_loop_ends_the_run_long_before_its_budget",
    "errors are always none": f"{GUARD}/test_metrics.py::test_errors_are_counted_where_they_happen",
    "the model reads what an exception says": f"{GUARD}/test_gate.py::test_what_a_tool_raises_is_not_told_to_the_model",
    "only calls of models are events": f"{GUARD}/test_gate.py::test_the_audit_tells_the_whole_story_in_order",
    "an answer cut short leaves an empty message": f"{GUARD}/test_watching.py::"
    "test_an_answer_that_is_cut_short_is_said_and_leaves_a_valid_conversation",
    "an unknown tool is only a text": f"{GUARD}/test_gate.py::"
    "test_a_tool_that_nobody_has_is_turned_away_and_its_name_goes_nowhere",
    "span names grow with the steps": "tests/agent_image/test_run.py::"
    "test_the_spans_hold_addresses_and_marks_and_no_words",
    "the task's text stands on the span": "tests/agent_image/test_run.py::"
    "test_the_spans_hold_addresses_and_marks_and_no_words",
    "capital letters and country domains hide an address": f"{GUARD}/test_detectors.py::"
    "test_an_address_is_found_in_any_case_and_domain",
    "telephone numbers of other countries are missed": f"{GUARD}/test_detectors.py::"
    "test_a_telephone_number_is_found_as_it_is_written",
    "other keys, tokens and JWT are missed": f"{GUARD}/test_detectors.py::"
    "test_a_credential_is_found_by_its_form_or_its_label",
    "CPF and cards are missed": f"{GUARD}/test_detectors.py::test_a_number_with_check_digits_is_found",
    "order numbers are masked": f"{GUARD}/test_detectors.py::test_what_is_no_secret_is_left",
    "completion is whether a text came": f"{GUARD}/test_metrics.py::test_a_run_that_waits_has_not_ended_its_task",
}

GATE = {
    "an approval may be given again with other arguments": "tests/crash/test_decisions.py::"
    "test_two_people_decide_in_every_order_that_chance_finds",
    "an unknown checkpoint is silently nothing": f"{GUARD}/test_gate.py::"
    "test_a_checkpoint_of_another_session_is_refused",
    "positional arguments are lost": f"{GUARD}/test_gate.py::test_a_checkpoint_reads_back_as_it_was_written",
    "an empty edit is ignored": f"{GUARD}/test_gate.py::test_an_edit_that_the_tool_cannot_take_runs_nothing",
    "an argument that is no JSON raises": f"{GUARD}/test_gate.py::test_arguments_that_are_no_json_are_turned_away",
    "nothing expires": f"{GUARD}/test_gate.py::test_an_approval_counts_only_before_its_time_is_over",
    "nobody is named": f"{GUARD}/test_gate.py::test_the_audit_tells_the_whole_story_in_order",
    "arguments are not bound": f"{GUARD}/test_gate.py::test_a_checkpoint_changed_on_disk_runs_nothing",
    "ids are short": f"{GUARD}/test_gate.py::test_the_same_call_id_in_a_later_turn_is_asked_anew",
    "the state leaves cost and messages out": f"{GUARD}/test_spending.py::"
    "test_what_was_spent_before_a_resume_stays_spent",
    "the approved call opens another checkpoint": f"{GUARD}/test_gate.py::"
    "test_a_red_call_waits_and_runs_once_after_a_yes",
    "an edit runs nothing": f"{GUARD}/test_gate.py::test_an_edit_is_what_runs_and_the_model_hears_of_it",
    "a rejection does not reach the history": f"{GUARD}/test_gate.py::test_a_rejection_and_its_reason_reach_the_model",
    "a hundred dollars pass at 0.499 of 0.50": f"{GUARD}/test_budget.py::test_a_call_that_costs_more_than_is_left_asks",
    "steps are never counted": f"{GUARD}/test_spending.py::test_beyond_the_soft_limit_even_a_green_call_waits",
    "the budget hides that a tool is red": f"{GUARD}/test_spending.py::"
    "test_a_red_call_over_the_budget_asks_once_for_both",
    "connections are never closed": "tests/agent_image/stores/test_sql.py::"
    "test_many_threads_and_many_openings_leave_no_connection",
}


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("faults", [AUDIT_COST_ANOMALY, EVENTS_LOOPS_METRICS, GATE])
def test_each_fault_has_its_test(faults: dict[str, str]) -> None:
    """A test that was renamed is to be named here as well."""
    missing = [
        f"{fault}: {test}"
        for fault, test in faults.items()
        for path, _, name in [test.partition("::")]
        if not name or name not in names_in(path)
    ]

    assert missing == []
