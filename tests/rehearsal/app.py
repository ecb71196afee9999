"""Synthesise for a rehearsal: as `main.py` does, then fitted to the provider and the AWS that are at hand.

The framework CLI runs it; `REHEARSAL` holds a JSON object: the folder of the settings, and where a real provider is
rehearsed with, its version and the types to leave out, each with the reason. What was left out is written beside.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import main
from tests.rehearsal.trimming import trim


def run() -> int:
    """Synthesise, and fit what was written."""
    asked: dict[str, Any] = json.loads(os.environ["REHEARSAL"])
    if status := main.main([asked["settings"]]):
        return status
    if "version" in asked:
        out = Path(os.environ["CDKTF_OUTDIR"])
        left_out = {path.parent.name: _fit(path, asked) for path in sorted(out.glob("stacks/*/cdk.tf.json"))}
        (out / "left-out.json").write_text(json.dumps(left_out, indent=1))
    return 0


def _fit(path: Path, asked: dict[str, Any]) -> dict[str, str]:
    stack = json.loads(path.read_text())
    left_out = trim(stack, asked["unknown"])
    stack["terraform"]["required_providers"]["aws"]["version"] = asked["version"]
    for provider in stack["provider"]["aws"]:
        # It answers 500 for what it lacks, which a client would try 25 times.
        provider |= {"max_retries": 2, "s3_use_path_style": True, "skip_metadata_api_check": True}
    path.write_text(json.dumps(stack, indent=2))
    return left_out


if __name__ == "__main__":
    sys.exit(run())
