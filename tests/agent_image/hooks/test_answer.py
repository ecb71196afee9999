"""A hook answers in one of two forms, strictly; what is not exactly one of them is no answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.guard.verdict import Say
from agent_image.hooks.answer import CUT, TEXT_LIMIT, cut, read_answer
from agent_image.hooks.hook import HookEvent, HookFailed, HookFault, Said

PRE, POST, STOP = HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE, HookEvent.STOP
SECRET = "correct-horse"  # noqa: S105 - stands for what a hook must not find in its own fault


def fault(text: str, event: HookEvent = POST) -> HookFailed:
    with pytest.raises(HookFailed) as caught:
        read_answer(text, event)
    assert caught.value.fault is HookFault.MALFORMED
    return caught.value


def read_or_none(text: str, event: HookEvent) -> Said | None:
    try:
        return read_answer(text, event)
    except HookFailed:
        return None


@pytest.mark.parametrize("event", HookEvent)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"ok": true}', Said()),
        ('{"ok": true, "reason": "Fine."}', Said(reason="Fine.")),
        ('{"ok": false, "reason": "More detail."}', Said(say=Say.DENY, reason="More detail.")),
        ('{"decision": "allow"}', Said()),
        ('{"decision": "block", "reason": "Dangerous."}', Said(say=Say.DENY, reason="Dangerous.")),
        (
            '{"decision": "allow", "hookSpecificOutput": {"additionalContext": "Noted."}}',
            Said(context="Noted."),
        ),
        (
            '{"decision": "block", "reason": "No.", "hookSpecificOutput": {"additionalContext": "Noted."}}',
            Said(say=Say.DENY, reason="No.", context="Noted."),
        ),
        ('{"decision": "allow", "hookSpecificOutput": {"alert": "blocked_call"}}', Said(alert="blocked_call")),
        ('{"decision": "allow", "hookSpecificOutput": {}}', Said()),
        (' \r\n\t{"ok" : true}\n', Said()),
    ],
)
def test_both_documented_forms_are_read(event: HookEvent, text: str, said: Said) -> None:
    """In every event, with white space around."""
    assert read_answer(text, event) == said


@pytest.mark.parametrize("event", HookEvent)
@pytest.mark.parametrize(
    "text",
    [
        '{"ok": false}',
        '{"ok": false, "reason": ""}',
        '{"ok": false, "reason": "  "}',
        '{"ok": false, "reason": null}',
        '{"decision": "block"}',
        '{"decision": "block", "reason": null}',
    ],
)
def test_a_refusal_without_a_reason_refuses(event: HookEvent, text: str) -> None:
    """Azure takes it for an approval; here the guard gives it a stated sentence."""
    assert read_answer(text, event) == Said(say=Say.DENY)


def test_a_hook_before_a_tool_may_ask_and_edit() -> None:
    """What it asks about is the call as it changed it."""
    text = '{"decision": "ask", "reason": "Late.", "hookSpecificOutput": {"updatedInput": {"amount": 5}}}'

    assert read_answer(text, PRE) == Said(say=Say.ASK, reason="Late.", arguments={"amount": 5})


def test_an_edit_may_be_empty() -> None:
    """A call without arguments is another than one that nobody edited."""
    text = '{"decision": "allow", "hookSpecificOutput": {"updatedInput": {}}}'

    assert read_answer(text, PRE).arguments == {}


def test_what_is_refused_is_not_edited() -> None:
    """The call runs with no arguments at all."""
    text = '{"decision": "block", "reason": "No.", "hookSpecificOutput": {"updatedInput": {"amount": 5}}}'

    assert read_answer(text, PRE) == Said(say=Say.DENY, reason="No.")


@pytest.mark.parametrize("event", [POST, STOP])
@pytest.mark.parametrize(
    "text", ['{"decision": "ask"}', '{"decision": "allow", "hookSpecificOutput": {"updatedInput": {}}}']
)
def test_other_hooks_may_neither_ask_nor_edit(event: HookEvent, text: str) -> None:
    """The tool has run, or there is none."""
    fault(text, event)


@pytest.mark.parametrize("event", HookEvent)
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "null",
        "true",
        "[]",
        '"ok"',
        "{}",
        '{"reason": "x"}',
        "ok",
        '{"ok": true',
        "{'ok': true}",
        '{"ok": true,}',
        '\ufeff{"ok": true}',
        '{"ok": true} done',
        'Here it is: {"ok": true}',
        '```json\n{"ok": true}\n```',
        '{"ok": true}{"ok": true}',
        '{"ok": true, "ok": true}',
        '{"ok": false, "ok": true}',
        '{"ok": true, "decision": "allow"}',
        '{"ok": null, "decision": "allow"}',
        '{"ok": "true"}',
        '{"ok": 1}',
        '{"ok": null}',
        '{"ok": false, "reason": 1}',
        '{"ok": false, "reason": ["x"]}',
        '{"ok": true, "hookSpecificOutput": {}}',
        '{"ok": true, "note": "x"}',
        '{"OK": true}',
        '{"decision": "deny"}',
        '{"decision": "Allow"}',
        '{"decision": "approve"}',
        '{"decision": true}',
        '{"decision": null}',
        '{"decision": ["allow"]}',
        '{"decision": "allow", "continue": false}',
        '{"decision": "allow", "hookSpecificOutput": null}',
        '{"decision": "allow", "hookSpecificOutput": []}',
        '{"decision": "allow", "hookSpecificOutput": {"hookEventName": "Stop"}}',
        '{"decision": "allow", "hookSpecificOutput": {"additionalContext": null}}',
        '{"decision": "allow", "hookSpecificOutput": {"additionalContext": 4}}',
        '{"decision": "allow", "hookSpecificOutput": {"additionalContext": "a", "additionalContext": "b"}}',
        '{"decision": "allow", "hookSpecificOutput": {"updatedInput": []}}',
        '{"decision": "allow", "hookSpecificOutput": {"updatedInput": null}}',
        '{"decision": "allow", "hookSpecificOutput": {"updatedInput": {"a": NaN}}}',
        '{"decision": "allow", "hookSpecificOutput": {"updatedInput": {"a": -Infinity}}}',
        '{"decision": "allow", "hookSpecificOutput": {"updatedInput": {"a": 1e999}}}',
        '{"decision": "allow", "hookSpecificOutput": {"updatedInput": {"a": "\\ud800"}}}',
        '{"decision": "allow", "hookSpecificOutput": {"alert": ""}}',
        '{"decision": "allow", "hookSpecificOutput": {"alert": "Blocked"}}',
        '{"decision": "allow", "hookSpecificOutput": {"alert": "a b"}}',
        '{"decision": "allow", "hookSpecificOutput": {"alert": "a\\n"}}',
        '{"decision": "allow", "hookSpecificOutput": {"alert": "' + "a" * 41 + '"}}',
        '{"decision": "allow", "hookSpecificOutput": {"alert": 1}}',
        '{"ok": false, "reason": "\\ud800"}',
        '{"ok": ' + "9" * 5_000 + "}",
        '{"ok": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"ok": true, "reason": "' + "a" * 1_000_001 + '"}',
    ],
    ids=lambda text: text[:60] or "nothing",
)
def test_anything_else_is_malformed(event: HookEvent, text: str) -> None:
    """No lenient reading: what stands around or beside an answer may be a tool's that imitates one."""
    fault(text, event)


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f'{{"{SECRET}": 1}}',
        f'{{"ok": "{SECRET}"}}',
        f'{{"ok": true, "{SECRET}": 1}}',
        f'{{"ok": true}} {SECRET}',
        f'{{"decision": "{SECRET}"}}',
        f'{{"decision": "allow", "hookSpecificOutput": "{SECRET}"}}',
        f'{{"decision": "allow", "hookSpecificOutput": {{"alert": "{SECRET}"}}}}',
        f'{{"{SECRET}": 1, "{SECRET}": 2}}',
    ],
)
def test_a_fault_repeats_nothing_of_the_answer(text: str) -> None:
    """It says what is wrong all the same."""
    failed = fault(text)

    assert SECRET not in failed.detail
    assert failed.detail.endswith(".")


@pytest.mark.parametrize("slug", ["a", "blocked_call", "page_2", "_", "a" * 40])
def test_an_alert_is_a_short_name(slug: str) -> None:
    """Up to 40 lower-case letters, digits and underscores."""
    answer = json.dumps({"decision": "allow", "hookSpecificOutput": {"alert": slug}})

    assert read_answer(answer, STOP).alert == slug


def test_long_words_are_cut() -> None:
    """8,000 characters stay, and a mark says that there were more."""
    answer = {"decision": "block", "reason": "r" * 8_001, "hookSpecificOutput": {"additionalContext": "c" * 9_000}}

    said = read_answer(json.dumps(answer), POST)

    assert said.reason == "r" * 8_000 + CUT
    assert said.context == "c" * 8_000 + CUT


@pytest.mark.parametrize("length", [TEXT_LIMIT - 1, TEXT_LIMIT])
def test_what_fits_stays(length: int) -> None:
    """White space around it does not count."""
    assert cut(f"  {'a' * length}\n") == "a" * length


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["ok", "decision", "reason", "hookSpecificOutput", "additionalContext", "updatedInput", "alert"])
NEAR = st.recursive(
    st.sampled_from([True, False, None, "allow", "block", "ask", "a", 1]),
    lambda inner: st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)


@given(JSON | NEAR, st.sampled_from(HookEvent))
def test_any_json_is_an_answer_or_a_fault(value: Any, event: HookEvent) -> None:
    """Nothing else is raised, and what passes says so itself."""
    said = read_or_none(json.dumps(value), event)

    assert said is None or (said.say is Say.ALLOW) is (value.get("ok") is True or value.get("decision") == "allow")


@given(st.text())
def test_any_text_is_an_answer_or_a_fault(text: str) -> None:
    """Nothing else is raised."""
    read_or_none(text, PRE)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_an_edit_arrives_as_it_was_written(arguments: dict[str, Any]) -> None:
    """Numbers, texts and nested values."""
    answer = {"decision": "allow", "hookSpecificOutput": {"updatedInput": arguments}}

    assert read_answer(json.dumps(answer), PRE).arguments == arguments
