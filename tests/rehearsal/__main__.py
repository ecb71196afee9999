"""Rehearse a deployment: `cdktf deploy`, a second plan without changes, `destroy`; `make rehearse` runs it.

With `RASTRO_PLUGIN_DIR` the real provider of that folder works against moto's server; without, the pretend provider of
this package works against its pretend cloud, and that is said. Exit status 0: rehearsed; 1: the rehearsal failed;
3: it could not run, and why.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.conftest import ROOT
from tests.rehearsal import plugins
from tests.rehearsal.provider import install
from tests.rehearsal.stage import ACCOUNT, PROBLEM, Stage
from tests.rehearsal.trimming import UNKNOWN_TO_MOTO
from tests.terraform_schema.schema import load_schema

FAILED, CANNOT_RUN = 1, 3
ENVIRONMENT: Final = "dev"
STACKS: Final = ("account-sandbox", f"agent-{ENVIRONMENT}")
_CDKTF: Final = ROOT / "node_modules" / ".bin" / "cdktf"
_QUIET: Final = {
    "CI": "1",
    "CHECKPOINT_DISABLE": "1",
    "DISABLE_VERSION_CHECK": "1",
    "CDKTF_SKIP_PROVIDER_LOCK": "true",
    # What is rehearsed with does not end up among the providers of real deployments.
    "CDKTF_DISABLE_PLUGIN_CACHE_ENV": "1",
}


class RehearsalError(Exception):
    """Say which step failed, in the words of whoever refused."""


@dataclass(frozen=True, slots=True)
class Cast:
    """Say who plays the provider and AWS: in words, as variables, and what the synthesis must know of it."""

    words: str
    variables: Mapping[str, str]
    asked: Mapping[str, Any]


def say(text: str) -> None:
    """Tell whoever watches."""
    print(text, flush=True)  # noqa: T201 - it is a command


def main() -> int:
    """Rehearse, and give the exit status."""
    problem = PROBLEM or (None if _CDKTF.is_file() else "the framework CLI is not installed: run `make setup`")
    if problem is not None:
        say(f"cannot rehearse: {problem}")
        return CANNOT_RUN
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _cast(Path(folder), os.environ.get("RASTRO_PLUGIN_DIR")) as cast:
                say(cast.words)
                _rehearse(Path(folder), cast)
        except plugins.MissingError as error:
            say(f"cannot rehearse: {error}. Without RASTRO_PLUGIN_DIR a pretend provider is rehearsed with.")
            return CANNOT_RUN
        except RehearsalError as error:
            say(f"the rehearsal failed: {error}")
            return FAILED
    say("rehearsed: deployed, planned again without changes, destroyed")
    return 0


@contextmanager
def _cast(folder: Path, plugin_folder: str | None) -> Iterator[Cast]:
    if not plugin_folder:
        yield Cast(
            "PRETENDED: RASTRO_PLUGIN_DIR names no folder with a provider, so a pretend provider works on a pretend "
            "cloud: this rehearses order, names and protection, not whether AWS takes a value",
            {**install(folder / "provider", load_schema().version), "PRETEND_ACCOUNT_ID": ACCOUNT},
            {},
        )
        return
    plugin = plugins.find(Path(plugin_folder))
    # moto takes the account from there, when it is imported.
    os.environ["MOTO_ACCOUNT_ID"] = ACCOUNT
    from tests.loopback.aws import moto  # noqa: PLC0415 - see above

    with moto() as url:
        variables = {
            "TF_CLI_CONFIG_FILE": str(plugin.write_settings(folder)),
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "example",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        known = _known(folder, plugin, variables)
        lacking = {kind for kind in load_schema().resources if kind not in known}
        unknown = {**dict.fromkeys(lacking, f"provider {plugin.version} does not know it"), **UNKNOWN_TO_MOTO}
        words = f"hashicorp/aws {plugin.version} of {plugin.folder} works on a pretend AWS (moto) at {url}"
        yield Cast(words, variables, {"version": plugin.version, "unknown": unknown})


def _known(folder: Path, plugin: plugins.Plugin, variables: Mapping[str, str]) -> set[str]:
    """Ask a provider for the types of resource that it knows."""
    place = folder / "schema"
    place.mkdir()
    required = {"aws": {"source": "hashicorp/aws", "version": plugin.version}}
    (place / "main.tf.json").write_text(json.dumps({"terraform": {"required_providers": required}}))
    _run("init", ["terraform", "init", "-input=false"], place, variables)
    answer = _run("schema", ["terraform", "providers", "schema", "-json"], place, variables)
    (found,) = json.loads(answer)["provider_schemas"].values()
    return set(found["resource_schemas"])


def _rehearse(folder: Path, cast: Cast) -> None:
    stage = Stage.shipped(folder / "stage", cast.variables)
    out = stage.folder / "out"
    variables = {
        **cast.variables,
        **_QUIET,
        "REHEARSAL": json.dumps({"settings": str(stage.settings), **cast.asked}),
        "PRETEND_CLOUD": str(stage.cloud.folder),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    cdktf = [str(_CDKTF), "--app", f"{sys.executable} -m tests.rehearsal.app", "--output", str(out)]
    say(f"cdktf deploy {' '.join(STACKS)}")
    _run("cdktf deploy", [cdktf[0], "deploy", *STACKS, "--auto-approve", *cdktf[1:]], ROOT, variables)
    _list_left_out(out)
    for stack in STACKS:
        say(f"terraform plan -detailed-exitcode, {stack}")
        command = ["terraform", "plan", "-detailed-exitcode", "-input=false", "-no-color"]
        _run("the second plan is not empty", command, out / "stacks" / stack, variables)
    prepared = [sys.executable, "-m", "stacks", "prepare-destroy", ENVIRONMENT, "--yes"]
    folders = ["--settings", str(stage.settings), "--out", str(out)]
    _run("prepare-destroy", [*prepared, *folders], ROOT, variables)
    say(f"cdktf destroy {STACKS[1]}")
    _run("cdktf destroy", [cdktf[0], "destroy", STACKS[1], "--auto-approve", *cdktf[1:]], ROOT, variables)
    held = _run("show", ["terraform", "show", "-json"], out / "stacks" / STACKS[1], variables)
    if json.loads(held).get("values", {}).get("root_module", {}).get("resources"):
        message = "destroy left resources in the state"
        raise RehearsalError(message)


def _list_left_out(out: Path) -> None:
    path = out / "left-out.json"
    for stack, dropped in (json.loads(path.read_text()) if path.is_file() else {}).items():
        if stack in STACKS:
            for address, why in dropped.items():
                say(f"  left out  {stack}  {address}: {why}")


def _run(step: str, command: list[str], folder: Path, variables: Mapping[str, str]) -> str:
    answer = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        message = f"{step} (status {answer.returncode})\n{answer.stdout}{answer.stderr}"
        raise RehearsalError(message)
    return answer.stdout


if __name__ == "__main__":
    sys.exit(main())
