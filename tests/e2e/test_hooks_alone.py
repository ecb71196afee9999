"""The image's own contents run its hooks, and refuse to start with hooks that are at fault."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from agent_image.contract import Field
from agent_image.guard.audit_lines import read_file
from tests.e2e.image import Image, local

QUESTION = "Within how many days can unused items be returned?"
DENIED = "Search is closed today, says the deployment."
DEPLOYMENT = f"""\
hooks:
  PreToolUse:
    - type: command
      matcher: search_knowledge
      script: |
        #!/usr/bin/env python3
        import json, sys
        # What the image holds can be imported, wherever it was deployed.
        from agent_image.hooks.shell import dangers
        assert dangers("rm -fr x")
        print(json.dumps({{"ok": json.load(sys.stdin)["tool_name"] != "search_knowledge", "reason": "{DENIED}"}}))
    - type: command
      matcher: search_knowlege
      command: exit 0
"""
AGENT = """\
kind: ExtendedAgent
metadata:
  name: rastro
spec:
  hooks:
    Stop:
      - type: command
        command: touch "$TMPDIR/mine" && exit 0
"""
BROKEN = """\
hooks:
  PreToolUse:
    - type: command
      matcher: ""
      command: exit 0
      timeout: 0
  Stop:
    - type: command
"""
UNKNOWN_MODEL = """\
hooks:
  Stop:
    - prompt: Is it so?
      model: ReasoningFast
"""


def put(image: Image, text: str) -> str:
    """Put a hook file into the image's folder, as a build would, and give the path that settings name it by."""
    name = f"hooks/{uuid4().hex}.yaml"
    (image.workdir / "agent_image" / name).write_text(text)
    return name


def test_hooks_of_both_levels_run(image: Image, tmp_path: Path) -> None:
    """A program of the deployment's refuses the search, one of the agent's lets the answer pass; the audit has both."""
    hooks = {"deployment": put(image, DEPLOYMENT), "agent": put(image, AGENT)}

    with image.running(local(image, tmp_path, hooks=hooks)) as agent:
        answer = agent.post({"prompt": QUESTION}).json()
        agent.end()

    assert answer["status"] == "completed"
    assert answer["citations"] == []
    events = [line.record or {} for line in read_file(tmp_path / "audit.jsonl")]
    said = [(one[Field.HOOK], one[Field.DECISION]) for one in events if one[Field.EVENT] == "hook"]
    assert said == [("deployment/PreToolUse/1", "blocked"), ("agent/Stop/1", "allowed")]
    assert DENIED in (tmp_path / "audit.jsonl").read_text()
    assert DENIED not in agent.printed["stdout"] + agent.printed["stderr"] + (tmp_path / "spans.jsonl").read_text()
    notices = [json.loads(line) for line in agent.printed["stderr"].splitlines() if line.startswith('{"notice"')]
    assert {"notice": "hook_matches_nothing", "hook": "deployment/PreToolUse/2"} in notices


def test_hooks_leave_nothing_behind(image: Image, tmp_path: Path) -> None:
    """They write into folders of their own, which go with them; the image's files stay as they were, rights too."""
    hooks = {"deployment": put(image, DEPLOYMENT), "agent": put(image, AGENT)}
    (temporary := tmp_path / "temporary").mkdir()
    before = contents(image)

    with image.running(local(image, tmp_path, hooks=hooks), {"TMPDIR": str(temporary)}) as agent:
        assert agent.post({"prompt": QUESTION}).json()["status"] == "completed"
        assert [path for path in temporary.iterdir() if path.name.startswith("rastro-hook-")] == []
        children = psutil.Process(agent.process.pid).children(recursive=True)
        agent.end()

    # What ran hooks ends with the agent.
    _, left = psutil.wait_procs(children, timeout=30)
    assert left == []
    assert contents(image) == before


def contents(image: Image) -> dict[str, int]:
    """List the image's files with their rights."""
    return {str(path): path.stat().st_mode for path in image.workdir.rglob("*")}


@pytest.mark.parametrize(
    ("hooks", "faults"),
    [
        (
            {"deployment": BROKEN, "agent": UNKNOWN_MODEL},
            (
                "hooks.PreToolUse[0].matcher",
                "hooks.PreToolUse[0].timeout is 0",
                "hooks.Stop[0]",
                "Stop[0].model is",
            ),
        ),
        ({"deployment": "hooks: {"}, (".yaml: ",)),
        ({"deployment": None}, ("hooks/forgotten.yaml: is not there",)),
    ],
    ids=["both files", "no YAML", "no file"],
)
def test_hooks_at_fault_keep_it_from_starting(
    image: Image, tmp_path: Path, hooks: Mapping[str, str | None], faults: tuple[str, ...]
) -> None:
    """Status 2 with every fault of both files: an agent must not run without the checks that somebody counts on."""
    named = {level: "hooks/forgotten.yaml" if text is None else put(image, text) for level, text in hooks.items()}
    with (
        pytest.raises(AssertionError, match="its status is 2") as failed,
        image.running(local(image, tmp_path, hooks=named)),
    ):
        pass

    said = str(failed.value)
    assert said.count("settings: ") == len(faults)
    assert all(fault in said for fault in faults)
    assert "Traceback" not in said
