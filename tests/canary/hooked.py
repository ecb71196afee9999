"""Say what hooks say, programs and a model, and write the file that declares them: none of it leaves.

Two tools are theirs, and every answer; what a hook does to a call follows from what it is called with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.canary.markers import Marker, Words
from tests.loopback.bedrock import Answer, Step, ToolCall

JOT: Final = "jot"
"""The tool that programs judge."""
WEIGH: Final = "weigh"
"""The tool that a model judges."""
ALERT: Final = "canary_jotted"

COMMENT: Final = Marker("comment of a hook file")
CODE: Final = Marker("comment of a hook's script")
RESULT: Final = Words("result of a tool that hooks judge")
ALLOWED: Final = Words("argument that hooks let pass")
FORBIDDEN: Final = Words("argument that a program refuses")
STOPPED: Final = Words("argument that a program refuses by its exit status")
CHANGED: Final = Words("argument that a program changes")
WEIGHED: Final = Words("argument that a model refuses")
DENIAL: Final = Words("reason that a program gives")
ADVICE: Final = Words("context that a program gives before a tool")
COMPLAINT: Final = Words("standard error of a program that refuses")
WRECKAGE: Final = Words("standard error of a program that fails")
INPUT: Final = Words("input that a program puts in the place of another")
AFTERWARDS: Final = Words("context that a program gives after a tool")
PROMPT: Final = Words("prompt of a hook")
LOOKED_FOR: Final = Words("what a hook's model looks for")
OPINION: Final = Words("reason that a hook's model gives")
UNCHECKED: Final = Words("answer that a program sends back")
OBJECTION: Final = Words("why a program sends an answer back")

_JUDGES_JOT: Final = f"""\
#!/usr/bin/env python3
# {CODE}
import json
import sys

note = json.load(sys.stdin)["tool_input"]["note"]
if {str(FORBIDDEN.marker)!r} in note:
    more = {{"additionalContext": {str(ADVICE)!r}, "alert": {ALERT!r}}}
    print(json.dumps({{"decision": "block", "reason": {str(DENIAL)!r}, "hookSpecificOutput": more}}))
if {str(STOPPED.marker)!r} in note:
    sys.exit(print({str(COMPLAINT)!r}, file=sys.stderr) or 2)
if {str(CHANGED.marker)!r} in note:
    more = {{"updatedInput": {{"note": {str(INPUT)!r}}}}}
    print(json.dumps({{"decision": "allow", "hookSpecificOutput": more}}))
"""
_ADDS: Final = json.dumps(
    {"decision": "allow", "hookSpecificOutput": {"additionalContext": str(AFTERWARDS)}}, ensure_ascii=False
)
_SENDS_BACK: Final = f"! grep -qF {UNCHECKED.marker.halves[0]} || {{ echo '{OBJECTION}' >&2; exit 2; }}"
HOOKS: Final[Mapping[str, Any]] = {
    "PreToolUse": [
        {"type": "command", "matcher": JOT, "script": _JUDGES_JOT},
        {"type": "prompt", "matcher": WEIGH, "prompt": f"{PROMPT}\n$ARGUMENTS"},
    ],
    "PostToolUse": [
        {"type": "command", "matcher": JOT, "command": f"echo '{_ADDS}'"},
        {"type": "command", "matcher": JOT, "command": f"echo '{WRECKAGE}' >&2; exit 1"},
    ],
    "Stop": [{"type": "command", "command": _SENDS_BACK}],
}


def write_hooks(path: Path) -> Path:
    """Write the hook file: JSON, which is YAML too, below a comment."""
    path.write_text(f"# {COMMENT}\n{json.dumps({'hooks': HOOKS}, ensure_ascii=False)}\n", encoding="utf-8")
    return path


def opinion(request: Mapping[str, Any]) -> tuple[Step, ...]:
    """Say what the model of the prompt hook does: it reads the conversation, looks for something, and refuses."""
    found = re.search(r'\\"execution_summary\\":\\"(?P<path>[^"\\]+)', json.dumps(request["messages"]))
    path = found["path"] if found else ""
    refusal = {"ok": False, "reason": str(OPINION)}
    return (
        ToolCall("ReadFile", {"path": path}),
        ToolCall("GrepSearch", {"path": path, "text": str(LOOKED_FOR)}),
        Answer(f"{json.dumps(refusal, ensure_ascii=False)}\n"),
    )
