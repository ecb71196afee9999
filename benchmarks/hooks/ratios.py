"""State what hooks promise, and measure it: a command hook beside the bare spawn of the same script."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from agent_image.guard.verdict import Say
from agent_image.hooks.command import CommandHooks
from agent_image.hooks.hook import Hook, HookEvent, HookLevel, HookType
from agent_image.hooks.interpreter import arguments_of, environment_of
from benchmarks.hooks.none import none_ratio
from benchmarks.ratio import Ratio

SCRIPTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bash": "#!/bin/bash\nread -r context\necho '{\"ok\": true}'\n",
        "python3": "#!/usr/bin/env python3\nimport json, sys\njson.load(sys.stdin)\nprint('{\"ok\": true}')\n",
    }
)
_CONTEXT: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "hook_event_name": "PostToolUse",
        "agent_name": "sample",
        "tool_name": "search_knowledge",
        "tool_input": {"query": "What does a return cost?"},
        "tool_result": "A passage of some length. " * 40,
        "tool_succeeded": True,
    }
)
_RUNS: Final = 150


def hook_ratios() -> list[Ratio]:
    """Measure, and give the ratios."""
    return [none_ratio(), *(_command(name, script) for name, script in SCRIPTS.items())]


def _command(name: str, script: str) -> Ratio:
    """Compare the best run of each, in turns: both wait for the system, which has other things to do."""
    print(f"a command hook in {name}, beside the bare spawn of its script")
    hook = Hook(
        level=HookLevel.AGENT,
        event=HookEvent.POST_TOOL_USE,
        number=1,
        type=HookType.COMMAND,
        matcher="*",
        script=script,
    )
    with tempfile.TemporaryDirectory(prefix="rastro-bench-") as folder, closing(CommandHooks()) as commands:
        bare_folder = Path(folder)
        arguments, environment = arguments_of(hook, bare_folder), environment_of(bare_folder)

        def bare(_folder: Path) -> None:
            _spawned(arguments, environment, bare_folder)

        def hooked(own: Path) -> None:
            if commands.run(hook, _CONTEXT, own, lambda: False).say is not Say.ALLOW:
                raise ValueError(hook.id)

        runs = [(_seconds(bare, folder), _seconds(hooked, folder)) for _ in range(_RUNS)]
    spawn, run = min(one for one, _ in runs), min(other for _, other in runs)
    return Ratio(
        f"a command hook in {name} / the bare spawn of its script",
        run / spawn,
        1.5,
        f"{run * 1e3:.2f} ms / {spawn * 1e3:.2f} ms",
    )


def _spawned(arguments: Iterable[str], environment: Mapping[str, str], folder: Path) -> None:
    pipe = subprocess.PIPE
    process = subprocess.Popen(tuple(arguments), cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)
    out, _ = process.communicate(json.dumps(dict(_CONTEXT)).encode())
    if process.returncode or not json.loads(out)["ok"]:
        raise subprocess.CalledProcessError(process.returncode, process.args)


def _seconds(run: Callable[[Path], object], root: str) -> float:
    # A folder for each, made and removed by whoever runs hooks.
    own = Path(tempfile.mkdtemp(dir=root))
    started = time.perf_counter()
    run(own)
    return time.perf_counter() - started
