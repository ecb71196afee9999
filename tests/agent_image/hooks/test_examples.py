"""The examples do what they say, run as the image runs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_image.guard.verdict import Say
from agent_image.hooks import examples
from agent_image.hooks.file import read_hooks
from agent_image.hooks.hook import Hook, HookLevel, Said
from agent_image.hooks.matcher import matches
from tests.agent_image.hooks.running import Ground, ground_in

FOLDER = Path(str(examples.__file__)).parent


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    with ground_in(tmp_path) as made:
        yield made


def example(name: str) -> Hook:
    path = FOLDER / f"{name}.yaml"
    (hook,) = read_hooks(path.read_bytes(), name=path.name, level=HookLevel.DEPLOYMENT, agent="shop")
    return hook


def called(**more: Any) -> dict[str, Any]:
    return {
        "current_turn": 2,
        "max_turns": 8,
        "tool_name": "look_up",
        "tool_input": {"order": "41"},
        "tool_result": "It is on its way.",
        "tool_succeeded": True,
        "tool_decision": "allowed",
        **more,
    }


def test_every_example_is_tested_here() -> None:
    """None is shipped that nobody ran."""
    assert {path.stem for path in FOLDER.glob("*.yaml")} == {
        "audit-tool-use", "completion-marker", "dangerous-commands", "page-on-refusal", "private-results",
    }  # fmt: skip


@pytest.mark.parametrize(("succeeded", "outcome"), [(True, "succeeded"), (False, "failed")])
def test_every_call_is_audited(ground: Ground, succeeded: bool, outcome: str) -> None:  # noqa: FBT001 - a row
    """Whatever became of it; the result stays as it is."""
    said = ground.said(example("audit-tool-use"), called(tool_succeeded=succeeded))

    assert said == Said(context=f"Audited: step 2 of 8, look_up, allowed, {outcome}.")


@pytest.mark.parametrize("answer", ["It is done.\nDONE", "LEFT TO DO: ask the shop", "a\n\nDONE\n"])
def test_an_answer_with_its_marker_passes(ground: Ground, answer: str) -> None:
    """Its last line says whether anything is missing."""
    assert ground.said(example("completion-marker"), {"final_output": answer}) == Said()


@pytest.mark.parametrize("answer", ["", "It is done.", "DONE\nor not", "LEFT TO DO:", "not DONE"])
def test_an_answer_without_it_is_sent_back(ground: Ground, answer: str) -> None:
    """Three times at most."""
    hook = example("completion-marker")
    said = ground.said(hook, {"final_output": answer})

    assert (said.say, hook.max_rejections) == (Say.DENY, 3)
    assert "says DONE" in said.reason


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"command": "ls; rm -fr x"}, "deletes folders"),
        ({"cmd": "sh -c 'sudo ls'"}, "runs as somebody else"),
        ({"code": "import shutil\nshutil.rmtree('x')"}, "deletes folders"),
        ({"code": "rm -rf x", "language": "bash"}, "deletes folders"),
        ({"command": "ls", "script": "$X"}, "cannot be told"),
        ({"command": ["rm", "-rf", "x"]}, "Nobody can tell"),
        ({"something": "rm -rf x"}, "Nobody can tell"),
    ],
)
def test_a_dangerous_command_does_not_run(ground: Ground, given: Mapping[str, Any], why: str) -> None:
    """In a shell's words, in Python's, or in a place that nobody knows."""
    said = ground.said(example("dangerous-commands"), called(tool_input=given))

    assert said.say is Say.DENY
    assert why in said.reason


@pytest.mark.parametrize(
    "given", [{"command": "echo 'rm -rf'"}, {"code": "print('rm -rf')"}, {"code": "ls -l", "language": "sh"}]
)
def test_any_other_command_runs(ground: Ground, given: Mapping[str, Any]) -> None:
    """One that speaks of a danger does none."""
    assert ground.said(example("dangerous-commands"), called(tool_input=given)) == Said()


@pytest.mark.parametrize(
    ("tool", "is_meant"),
    [("shell", True), ("run_bash", True), ("execute_command", True), ("code_interpreter", True), ("look_up", False)],
)
def test_tools_that_run_commands_are_meant(tool: str, is_meant: bool) -> None:  # noqa: FBT001 - a row
    """Others are no affair of that hook."""
    assert matches(example("dangerous-commands"), tool) is is_meant


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ("Write to anna@example.com.", "EMAIL"),
        ("card 4111 1111 1111 1111", "CARD"),
        ("key AKIAIOSFODNN7EXAMPLE", "KEY"),
    ],
)
def test_a_private_result_is_withheld(ground: Ground, result: str, kind: str) -> None:
    """The reason names what it holds, and holds nothing of it."""
    said = ground.said(example("private-results"), called(tool_result=result))

    assert said.say is Say.DENY
    assert kind in said.reason
    assert result.rsplit(maxsplit=1)[-1].strip(".") not in said.reason


def test_any_other_result_is_read(ground: Ground) -> None:
    """Nothing is said of it."""
    assert ground.said(example("private-results"), called()) == Said()


@pytest.mark.parametrize("decision", ["blocked", "rejected"])
def test_people_hear_of_a_call_that_was_refused(ground: Ground, decision: str) -> None:
    """As an alert of the guard's."""
    said = ground.said(example("page-on-refusal"), called(tool_succeeded=False, tool_decision=decision))

    assert said == Said(alert="call_refused")


@pytest.mark.parametrize(("succeeded", "decision"), [(True, "allowed"), (False, "allowed"), (True, "approved")])
def test_nobody_is_woken_for_another(ground: Ground, succeeded: bool, decision: str) -> None:  # noqa: FBT001 - a row
    """A call that ran, or that failed by itself."""
    assert ground.said(example("page-on-refusal"), called(tool_succeeded=succeeded, tool_decision=decision)) == Said()
