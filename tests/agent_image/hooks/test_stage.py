"""A hook stands in a stage: what it says, or fails to say, is a verdict, an event and a span."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent_image.contract import SCOPE, Span
from agent_image.guard.checkpoint import Call
from agent_image.guard.scene import Scene
from agent_image.guard.side_calls import SessionCalls
from agent_image.guard.verdict import ALLOWED, FAILED, UNSAID, Outcome, Say, Stages, Verdict, judge, judge_call
from agent_image.hooks.hook import FailMode, Hook, HookEvent, HookFailed, HookFault, HookLevel, HookType, Said
from agent_image.hooks.stage import stages_of

CALL = Call(session_id="s", message="m", tool_use_id="t", tool="look", arguments={"at": "here"})
ANSWERED = {"status": "success", "content": [{"text": "saw here"}]}


@dataclass
class Runs:
    """What runs hooks of both types, and remembers what it was shown."""

    says: Callable[[Hook], Said] = lambda _: Said()
    shown: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    read: list[str] = field(default_factory=list)

    def run(self, hook: Hook, context: Mapping[str, Any], folder: Path, _: Any) -> Said:
        self.shown.append((hook.id, context))
        self.folders.append(folder)
        self.read.append(Path(context["execution_summary"]).read_text())
        return self.says(hook)


def hook(event: HookEvent = HookEvent.PRE_TOOL_USE, number: int = 1, **facts: Any) -> Hook:
    given = {"level": HookLevel.DEPLOYMENT, "type": HookType.COMMAND, "command": "x", "matcher": "*", **facts}
    return Hook(event=event, number=number, **given)


@dataclass
class Staged:
    """Hooks in their stages, and what they left."""

    hooks: Sequence[Hook]
    runs: Runs
    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)

    @property
    def stages(self) -> Stages:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        seconds = itertools.count(0, 0.25)
        return stages_of(self.hooks, self.runs, self.runs, provider.get_tracer(SCOPE), lambda: next(seconds))

    @property
    def spans(self) -> list[Mapping[str, Any]]:
        return [dict(span.attributes or {}) for span in self.exporter.get_finished_spans()]


def scene(transcript: str = "all that was said", **facts: Any) -> Scene:
    given = {"session_id": "s", "agent": "rastro", "turn": 3, "max_turns": 100, "sent_back": 0, **facts}
    return Scene(transcript=lambda: transcript, calls=no_calls(), gone=lambda: False, **given)


def no_calls() -> Any:
    """Pay for nothing: no hook here calls a model."""
    return SessionCalls.__new__(SessionCalls)


def before(*hooks: Hook, says: Callable[[Hook], Said] = lambda _: Said()) -> tuple[Staged, Call, tuple[Verdict, ...]]:
    staged = Staged(hooks, Runs(says))
    call, verdicts = judge_call(staged.stages.before_tool, CALL, scene())
    return staged, call, verdicts


@pytest.mark.parametrize(
    ("said", "say", "code", "text"),
    [
        (Said(), Say.ALLOW, "", ""),
        (Said(reason="Seen."), Say.ALLOW, "", ""),
        (Said(say=Say.DENY, reason="No."), Say.DENY, "hook_blocked", "No."),
        (Said(say=Say.DENY), Say.DENY, "hook_blocked", UNSAID),
        (Said(say=Say.ASK), Say.ASK, "hook_asked", UNSAID),
        (Said(arguments={"at": "there"}), Say.ALLOW, "hook_edited", ""),
    ],
)
def test_what_a_hook_says_is_its_verdict(said: Said, say: Say, code: str, text: str) -> None:
    """With who said it, and how long it took, whatever it is: each firing is written down."""
    _, _, (verdict,) = before(hook(), says=lambda _: said)

    assert (verdict.say, verdict.code, verdict.text, verdict.told) == (say, code, text, True)
    assert (verdict.source, verdict.took_ms) == ("deployment/PreToolUse/1", 250)


def test_what_a_hook_leaves_in_its_folder_changes_nothing_of_what_it_said() -> None:
    """An archive that it unpacked may hold folders that nobody can clear away; the conversation does not stay there."""
    folders: list[Path] = []

    class Digs(Runs):
        def run(self, hook: Hook, context: Mapping[str, Any], folder: Path, _: Any) -> Said:
            folders.append(folder)
            here = os.open(folder, os.O_RDONLY)
            for _ in range(2_000):
                os.mkdir("d", dir_fd=here)
                below = os.open("d", os.O_RDONLY, dir_fd=here)
                os.close(here)
                here = below
            os.close(here)
            return Said(say=Say.DENY, reason="No.")

    staged = Staged([hook(fail_mode=FailMode.ALLOW)], Digs())
    _, (verdict,) = judge_call(staged.stages.before_tool, CALL, scene())

    assert (verdict.say, verdict.code) == (Say.DENY, "hook_blocked")
    assert not (folders[0] / "transcript.txt").exists()
    subprocess.run(["/bin/rm", "-rf", folders[0]], check=True)


@pytest.mark.parametrize("fault", HookFault)
@pytest.mark.parametrize("mode", FailMode)
def test_a_hook_that_fails_counts_as_its_fail_mode_says(fault: HookFault, mode: FailMode) -> None:
    """The model reads a sentence of ours; what the hook wrote is for the audit."""

    def fail(_: Hook) -> Said:
        raise HookFailed(fault, "Traceback: password hunter2")

    _, _, (verdict,) = before(hook(fail_mode=mode), says=fail)

    blocks = mode is FailMode.BLOCK
    assert (verdict.say, verdict.code) == (Say.DENY if blocks else Say.ALLOW, fault.value)
    assert verdict.text == (FAILED if blocks else "")
    assert verdict.detail == "Traceback: password hunter2"


@pytest.mark.parametrize("mode", FailMode)
def test_a_runner_that_breaks_is_a_hook_that_failed(mode: FailMode) -> None:
    """A full disk is no reason to let pass what the file would block."""

    def fail(_: Hook) -> Said:
        raise OSError(28, "No space left on device")

    _, _, (verdict,) = before(hook(fail_mode=mode), says=fail)

    assert (verdict.say is Say.DENY, verdict.code) == (mode is FailMode.BLOCK, "hook_failed")


def test_hooks_fire_in_their_order_and_each_sees_what_the_one_before_made() -> None:
    """Two edits, one after the other; a context of each."""

    def edit(one: Hook) -> Said:
        return Said(arguments={"at": f"there-{one.number}"}, context=f"context {one.number}")

    staged, call, verdicts = before(hook(), hook(number=2), says=edit)

    assert [context["tool_input"] for _, context in staged.runs.shown] == [{"at": "here"}, {"at": "there-1"}]
    assert call.arguments == {"at": "there-2"}
    assert [verdict.context for verdict in verdicts] == ["context 1", "context 2"]


def test_a_hook_that_does_not_match_is_not_run() -> None:
    """No process, no span, no event."""
    staged, _, verdicts = before(hook(matcher="Look"), hook(number=2, matcher="look|find"))

    assert [name for name, _ in staged.runs.shown] == ["deployment/PreToolUse/2"]
    assert len(verdicts) == len(staged.spans) == 1


def test_each_event_has_hooks_of_its_own() -> None:
    """A Stop hook judges answers, with no tool to match."""
    hooks = [hook(event, matcher=None if event is HookEvent.STOP else "*") for event in HookEvent]
    staged = Staged(hooks, Runs())
    stages = staged.stages

    judge_call(stages.before_tool, CALL, scene())
    judge(stages.after_tool, Outcome(CALL, ANSWERED, succeeded=True, ruling="allowed"), scene())
    judge(stages.stop, "An answer.", scene(sent_back=2))

    shown = dict(staged.runs.shown)
    assert [context["hook_event_name"] for context in shown.values()] == ["PreToolUse", "PostToolUse", "Stop"]
    assert shown["deployment/PostToolUse/1"]["tool_result"] == "saw here"
    stop = shown["deployment/Stop/1"]
    assert (stop["final_output"], stop["stop_hook_active"], stop["stop_rejection_count"]) == ("An answer.", True, 2)


def test_a_span_tells_which_hook_said_what_and_none_of_its_words() -> None:
    """Codes and ids alone."""
    said = Said(say=Say.DENY, reason="secret words", context="more of them", alert="slug")
    staged, _, _ = before(hook(), says=lambda _: said)

    assert staged.spans == [
        {
            Span.HOOK.value: "deployment/PreToolUse/1",
            Span.DECISION.value: "blocked",
            Span.TOOL.value: "look",
            Span.REASON.value: "hook_blocked",
        }
    ]


def test_a_hook_reads_the_transcript_in_a_folder_of_its_own_that_is_gone_afterwards() -> None:
    """With all that it wrote there."""

    def litter(_: Hook) -> Said:
        (staged.runs.folders[-1] / "litter").mkdir(mode=0o000)
        return Said()

    staged = Staged([hook(), hook(number=2)], Runs(litter))
    judge_call(staged.stages.before_tool, CALL, scene("all that was said"))

    assert staged.runs.read == ["all that was said"] * 2
    assert len(set(staged.runs.folders)) == 2
    assert not any(folder.exists() for folder in staged.runs.folders)


@pytest.mark.parametrize(("ceilings", "counts"), [((), 0), ((3,), 3), ((3, 25), 25), ((25, 1), 25)])
def test_of_several_stop_hooks_the_greatest_ceiling_counts(ceilings: tuple[int, ...], counts: int) -> None:
    """As the documented format has it."""
    hooks = [hook(HookEvent.STOP, matcher=None, max_rejections=ceiling) for ceiling in ceilings]

    assert Staged(hooks, Runs()).stages.stop_rejections == counts


def test_stages_of_the_code_are_asked_before_hooks() -> None:
    """The more patient of those that send answers back counts."""

    def mine(*_: Any) -> Verdict:
        return ALLOWED

    patient = Staged([hook(HookEvent.STOP, max_rejections=5)], Runs()).stages
    both = Stages(stop=[mine], stop_rejections=2).before(patient)

    assert both.stop[0] is mine
    assert (len(both.stop), both.stop_rejections) == (2, 5)
    assert Stages().before(Staged([hook(HookEvent.STOP, max_rejections=1)], Runs()).stages).stop_rejections == 1
