"""Command hooks answer with JSON or by how they end, and see nothing of the agent but their context."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_image.guard.verdict import Say
from agent_image.hooks.answer import CUT, TEXT_LIMIT
from agent_image.hooks.exchange import ERR_LIMIT, OUT_LIMIT
from agent_image.hooks.hook import HookEvent, HookFault, Said
from tests.agent_image.hooks.running import Ground, ground_in, hook
from tests.conftest import ROOT


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    with ground_in(tmp_path) as ground:
        yield ground


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("true", Said()),
        ("printf ' \\n\\t '", Said()),
        ("echo noise >&2", Said()),
        ("""echo '{"ok": true}'""", Said()),
        ("""echo '{"ok": false, "reason": "No."}'""", Said(say=Say.DENY, reason="No.")),
        ("""echo '{"ok": true}'; echo noise >&2""", Said()),
        (
            """echo '{"decision": "allow", "hookSpecificOutput": {"additionalContext": "Mind.", "alert": "a"}}'""",
            Said(context="Mind.", alert="a"),
        ),
        ("exit 2", Said(say=Say.DENY)),
        ("echo ' Not now. ' >&2; exit 2", Said(say=Say.DENY, reason="Not now.")),
        ("""echo '{"ok": true}'; echo No. >&2; exit 2""", Said(say=Say.DENY, reason="No.")),
        (
            "printf '\\033[31mNo\\033[0m\\a, n\\303\\243o\\r\\n\\377' >&2; exit 2",
            Said(say=Say.DENY, reason="No, não\n\ufffd"),
        ),
    ],
)
def test_what_a_hook_says(ground: Ground, command: str, said: Said) -> None:
    """Status 0 with nothing allows, with JSON says that; status 2 refuses, and standard error is why."""
    assert ground.said(hook(command=command)) == said


@pytest.mark.parametrize(
    "options",
    [
        {"command": "true\r\nexit 0\r\n"},
        {"script": "#!/bin/bash\r\nexit 0\r\n"},
        {"script": "#!/usr/bin/env python3\r\nraise SystemExit(0)\r\n"},
    ],
)
def test_lines_may_end_as_windows_ends_them(ground: Ground, options: dict[str, Any]) -> None:
    """Bash would take the carriage return for a part of the status, end with 2, and so refuse what was allowed."""
    assert ground.said(hook(**options)) == Said()


@pytest.mark.parametrize("event", list(HookEvent))
def test_status_2_refuses_at_every_event(ground: Ground, event: HookEvent) -> None:
    """A call, a result, an answer."""
    assert ground.said(hook(command="echo No. >&2; exit 2", event=event)) == Said(say=Say.DENY, reason="No.")


def test_what_an_event_does_not_know_is_malformed(ground: Ground) -> None:
    """An answer is read for the event that the hook fired at."""
    ask = """echo '{"decision": "ask"}'"""

    assert ground.said(hook(command=ask, event=HookEvent.PRE_TOOL_USE)) == Said(say=Say.ASK)
    assert ground.fault(hook(command=ask, event=HookEvent.STOP)) is HookFault.MALFORMED


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("exit 1", HookFault.EXIT),
        ("exit 3", HookFault.EXIT),
        ("exit 255", HookFault.EXIT),
        ("""echo '{"ok": true}'; exit 1""", HookFault.EXIT),
        ("kill -9 $$", HookFault.SIGNAL),
        ("kill -SEGV $$", HookFault.SIGNAL),
        ("sleep 60", HookFault.TIMEOUT),
        ("trap '' TERM INT HUP; while :; do sleep 60; done", HookFault.TIMEOUT),
        ("kill -STOP $$", HookFault.TIMEOUT),
        ("no-such-program-anywhere", HookFault.MISSING),
        ("/no/such/script", HookFault.MISSING),
        ("bash /no/such/script", HookFault.MISSING),
        ("sh -e no-such-script.sh", HookFault.MISSING),
        ("A=1 /usr/bin/python3 -u no_such_script.py; true", HookFault.MISSING),
        ("/etc/passwd", HookFault.NOT_EXECUTABLE),
        ("/etc", HookFault.NOT_EXECUTABLE),
        ("echo no JSON", HookFault.MALFORMED),
        ("""echo '{"ok": true'""", HookFault.MALFORMED),
        ("""echo '{"ok": "yes"}'""", HookFault.MALFORMED),
        ("""echo Looking.; echo '{"ok": true}'""", HookFault.MALFORMED),
        ("""echo '{"ok": true}'; echo Done.""", HookFault.MALFORMED),
        ('printf \'{"ok": false, "reason": "\\377"}\'', HookFault.MALFORMED),
        ("head -c 50000000 /dev/zero", HookFault.OUTPUT),
        ("yes", HookFault.OUTPUT),
    ],
)
def test_how_a_hook_fails(ground: Ground, command: str, fault: HookFault) -> None:
    """What says neither yes nor no is a fault with a name; the next hook works as ever."""
    timeout = 1 if fault is HookFault.TIMEOUT else 60

    assert ground.fault(hook(command=command, timeout=timeout)) is fault
    assert ground.said(hook(command="true")) == Said()


@pytest.mark.parametrize("line", ["#!/bin/sh", "#!/usr/bin/env ruby", "#!"])
def test_a_script_for_another_interpreter_is_not_run(ground: Ground, line: str) -> None:
    """Its file is refused where it is read; here, too."""
    assert ground.fault(hook(script=f"{line}\nexit 2\n")) is HookFault.MISSING


def test_a_script_that_cannot_be_read_is_not_run(ground: Ground) -> None:
    """Python would end with status 2, which would be a refusal."""
    if os.geteuid() == 0:
        pytest.skip("the superuser reads everything")
    script = ground.root / "script.py"
    script.touch(mode=0o200)

    assert ground.fault(hook(command=f"python3 {script}")) is HookFault.NOT_EXECUTABLE


def test_what_a_failed_hook_wrote_is_in_the_detail(ground: Ground) -> None:
    """Its end, without what a terminal would act on: for those who look for the fault."""
    failed = ground.failed(hook(command="yes x | head -1000 >&2; printf 'b\\033[1mad\\n' >&2; exit 7"))

    assert failed.detail.startswith("The hook ended with status 7. ")
    assert failed.detail.endswith("x\nbad")
    assert len(failed.detail) < 600


@pytest.mark.parametrize(
    ("line", "program"),
    [("", "bash"), ("#!/bin/bash\n", "bash"), ("#!/usr/bin/env bash\n", "bash"), ("#!/bin/bash -e\nfalse\n", None)],
)
def test_a_script_for_bash(ground: Ground, line: str, program: str | None) -> None:
    """With the options that its first line gives, in the folder, with mode 700."""
    folder = ground.folder()
    one = hook(script=f"{line}echo $(basename $BASH) $(stat -c %a $0) $(dirname $0) >&2; exit 2\n")

    if program is None:
        assert ground.failed(one, folder=folder).fault is HookFault.EXIT
    else:
        assert ground.said(one, folder=folder).reason == f"{program} 700 {folder}"


def test_a_script_for_python_finds_the_packages_of_the_image(ground: Ground) -> None:
    """And its code; what lies beside the script, or in its home, hides none of them."""
    folder = ground.folder()
    (folder / "json.py").write_text("raise SystemExit(9)\n")
    script = (
        "#!/usr/bin/env python3\nimport json, sys, tree_sitter, tree_sitter_bash, agent_image.hooks.shell as shell\n"
        "reason = [sys.executable, len(shell.dangers('rm -fr x')), json.load(sys.stdin)['tool_name']]\n"
        "print(json.dumps({'ok': False, 'reason': json.dumps(reason)}))\n"
    )

    said = ground.said(hook(script=script), {"tool_name": "look"}, folder=folder)

    assert json.loads(said.reason) == [sys.executable, 1, "look"]


def test_a_command_finds_the_python_of_the_image(ground: Ground) -> None:
    """By its name alone."""
    said = ground.said(hook(command="python3 -c 'import sys; sys.exit(sys.prefix)' 2>&1 | tee /dev/stderr; exit 2"))

    assert said.reason == sys.prefix


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"tool_input": {"a": [1, 2.5, None, True]}, "text": "não … 日本 \u2028"},
        {"half": "\ud800"},
        {"long": "x" * 300_000},
    ],
    ids=["empty", "text", "half character", "long"],
)
def test_a_hook_reads_its_context(ground: Ground, context: dict[str, Any]) -> None:
    """As one line of JSON in UTF-8."""
    folder = ground.folder()

    ground.said(hook(command="cat > read"), context, folder=folder)

    text = (folder / "read").read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert json.loads(text) == context


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), b""], ids=["nan", "inf", "object", "bytes"])
def test_a_context_that_is_no_json_starts_nothing(ground: Ground, value: object) -> None:
    """The hook fails before it begins."""
    folder = ground.folder()

    assert ground.failed(hook(command="touch begun"), {"value": value}, folder=folder).fault is HookFault.BROKEN
    assert not (folder / "begun").exists()


@pytest.mark.parametrize(
    "command", ["true", "exec <&-; sleep 0.2", "head -c 10 >/dev/null", "exec <&- >&- 2>&-; sleep 0.2"]
)
def test_a_context_that_is_not_read_is_no_fault(ground: Ground, command: str) -> None:
    """However long it is."""
    assert ground.said(hook(command=command), {"tool_result": "x" * 10_000_000}) == Said()


def test_standard_output_has_a_limit(ground: Ground) -> None:
    """To the byte."""
    spaces = f"head -c {OUT_LIMIT} /dev/zero | tr '\\0' ' '"

    assert ground.said(hook(command=spaces)) == Said()
    assert ground.fault(hook(command=f"{spaces}; printf ' '")) is HookFault.OUTPUT


def test_standard_error_is_cut(ground: Ground) -> None:
    """What is over its limit is read and forgotten; a reason is as long as the model may read."""
    assert ERR_LIMIT > TEXT_LIMIT

    said = ground.said(hook(command="head -c 50000000 /dev/zero | tr '\\0' x >&2; exit 2"))

    assert said == Said(say=Say.DENY, reason="x" * TEXT_LIMIT + CUT)


def test_the_environment_is_minimal(ground: Ground) -> None:
    """Five variables, and none of the agent's, whose secrets are not in the processes above the hook either."""
    agent = (
        "import sys; from pathlib import Path; from tests.agent_image.hooks.running import ground_in, hook\n"
        "with ground_in(Path(sys.argv[1])) as ground:\n"
        "    print(ground.said(hook(command='env -0 >&2; exit 2')).reason)\n"
        "    print(ground.said(hook(command='cat /proc/$PPID/environ >&2; exit 2')).reason)\n"
        "    above = 'cat /proc/$(cut -d\" \" -f4 /proc/$PPID/stat)/environ >&2; exit 2'\n"
        "    print(ground.said(hook(command=above)).reason)\n"
    )
    secrets = {"AWS_SECRET_ACCESS_KEY": "MARKER", "HTTPS_PROXY": "http://MARKER", "PYTHONPATH": f"/MARKER:{ROOT}"}
    secrets |= {"PYTHONSTARTUP": "/MARKER", "BASH_ENV": "/MARKER", "ENV": "/MARKER", "LD_LIBRARY_PATH": "/MARKER"}

    answer = subprocess.run(
        [sys.executable, "-c", agent, str(ground.folder())],
        env={**os.environ, **secrets},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "MARKER" not in answer
    own = ground.root / "0" / "0"
    # What bash sets by itself stands in no environment that it was given.
    names = set(json.loads(ground.said(hook(script=_NAMES)).reason))
    assert names == {"PATH", "PYTHONPATH", "HOME", "TMPDIR", "LANG"}
    assert f"HOME={own}" in answer
    assert f"TMPDIR={own}" in answer


_NAMES = (
    "#!/usr/bin/env python3\nimport json, os\n"
    "print(json.dumps({'ok': False, 'reason': json.dumps(list(os.environ))}))\n"
)


def test_what_a_hook_is_born_with(ground: Ground) -> None:
    """Its folder, three descriptors, a session of its own, plain signals, no core files, no way to another user."""
    folder = ground.folder()
    script = """#!/usr/bin/env python3
import json, os, resource, signal, sys
with open("/proc/self/status") as file:
    status = dict(line.rstrip("\\n").split(":\\t", 1) for line in file)
found = {
    "folder": os.getcwd(),
    "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1],
    "leads its session": os.getsid(0) == os.getpgrp() == os.getpid(),
    "blocked": int(status["SigBlk"], 16),
    "ignored": [number for number in sorted(signal.valid_signals()) if int(status["SigIgn"], 16) >> number - 1 & 1],
    "core": resource.getrlimit(resource.RLIMIT_CORE),
    "no new privileges": status["NoNewPrivs"],
    "umask": status["Umask"],
}
print(json.dumps({"ok": False, "reason": json.dumps(found)}))
"""

    assert json.loads(ground.said(hook(script=script), folder=folder).reason) == {
        "folder": str(folder),
        "descriptors": [0, 1, 2],
        "leads its session": True,
        "blocked": 0,
        # Python's own doing, when it starts.
        "ignored": [signal.SIGPIPE, signal.SIGXFSZ],
        "core": [0, 0],
        "no new privileges": "1",
        "umask": "0077",
    }


def test_a_hook_may_be_broken_by_a_pipe(ground: Ground) -> None:
    """Python ignores that signal; the programs of a pipeline must not."""
    command = "yes | head -1 >/dev/null; exit ${PIPESTATUS[0]}"

    assert ground.failed(hook(command=command)).detail == "The hook ended with status 141."


@pytest.mark.parametrize("runs", ["command", "script"])
def test_a_folder_that_is_not_there_is_a_fault(ground: Ground, runs: str) -> None:
    """Of ours: the hook itself may be there."""
    assert (
        ground.failed(
            hook(command="true") if runs == "command" else hook(script="true"), folder=ground.root / "none"
        ).fault
        is HookFault.BROKEN
    )
