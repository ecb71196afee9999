"""Imports between our packages point one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Package -> what of ours it may import besides itself. `agent_image.contract` is the one module that everybody shares.
ALLOWED: dict[str, set[str]] = {
    "agent_image": set(),
    "stacks": {"agent_image.contract"},
    "cost_model": {"agent_image.contract"},
    "console": {"agent_image", "cost_model"},
    "main": {"stacks"},
}
OURS = set(ALLOWED)
FRAMEWORKS = {"cdktf", "cdktn", "cdktf_cdktf_provider_aws", "cdktn_provider_aws", "constructs", "jsii"}


def sources(package: str) -> list[Path]:
    return [ROOT / "main.py"] if package == "main" else sorted((ROOT / package).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Name every module that a file imports, with what it takes from it: a submodule may hide there."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (f"{module}.{name.name}" for name in names)
            case ast.ImportFrom(level=level) if level:
                yield f"relative import in line {node.lineno}"


def within(name: str, allowed: str) -> bool:
    return name == allowed or name.startswith(f"{allowed}.")


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_what_it_may(package: str) -> None:
    """Each offender reads "file imports name", so the failure is the fix."""
    files = sources(package)
    allowed = {package, *ALLOWED[package]}
    offenders = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in imports(path)
        if name.partition(".")[0] in OURS or name.startswith("relative")
        if not any(within(name, one) for one in allowed)
    ]

    assert files
    assert offenders == []


def test_one_module_names_the_framework() -> None:
    """Moving to another framework is a change of one file."""
    naming = {
        str(path.relative_to(ROOT))
        for package in OURS
        for path in sources(package)
        for name in imports(path)
        if name.partition(".")[0] in FRAMEWORKS
    }

    assert naming == {"stacks/framework.py"}


def test_the_contract_needs_nothing_but_the_standard_library() -> None:
    """The image, the stacks, the cost model and the console all read it."""
    roots = {name.partition(".")[0] for name in imports(ROOT / "agent_image" / "contract.py")}

    assert roots <= {"__future__", "collections", "dataclasses", "decimal", "enum", "types", "typing"}


IMPURE = {"boto3", "botocore", "subprocess", "socket", "urllib", "random", "secrets", "uuid", "time", "datetime"}
# What these hold is values: taking a URL apart, the types of errors and of moments.
PURE = ("urllib.parse.", "botocore.exceptions.", "datetime.date", "datetime.timedelta", "datetime.UTC")
ENTRY_POINTS = {
    "main.py",
    "stacks/__main__.py",
    "stacks/artifact/commands.py",
    "stacks/artifact/login.py",
    "stacks/artifact/promote.py",
    "stacks/artifact/registry.py",
    "stacks/remote_state/checking.py",
    "stacks/remote_state/moving.py",
    "stacks/terraform.py",
    "cost_model/cli.py",
    "cost_model/__main__.py",
    "console/cli.py",
    "agent_image/__main__.py",
    "agent_image/alerts/channels.py",
    "agent_image/alerts/sns.py",
    "agent_image/alerts/webhook.py",
    "agent_image/assemble.py",
    "agent_image/guard_of.py",
    "agent_image/places.py",
    "agent_image/stored_settings.py",
    "agent_image/digest.py",  # makes a key
    "agent_image/digest_key.py",
    "agent_image/guard/audit_place.py",
    "agent_image/hooking.py",
    "agent_image/hooks/exchange.py",  # a hook is a process: these start it, talk to it, wait for it and end it
    "agent_image/hooks/processes.py",
    "agent_image/hooks/prompt.py",  # waits for a model, and makes marks that nobody guesses
    "agent_image/hooks/streams.py",
    "agent_image/hooks/supervisor.py",
    "agent_image/hooks/supervisors.py",
    "agent_image/hooks/warden.py",
    "agent_image/models/by_url.py",
    "agent_image/retrieval/bedrock.py",
    "agent_image/retrieval/folder.py",
    "agent_image/retrieval/s3_store.py",
    "agent_image/stores/by_url.py",
    "agent_image/telemetry/setup.py",
}


@pytest.mark.parametrize("package", ["stacks", "agent_image"])
def test_only_entry_points_reach_the_outside(package: str) -> None:
    """Clock, randomness, processes and the network stay at the edge."""
    offenders = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(package)
        if str(path.relative_to(ROOT)) not in ENTRY_POINTS
        for name in imports(path)
        if name.partition(".")[0] in IMPURE and not name.startswith(PURE)
    ]

    assert offenders == []


@pytest.mark.parametrize("package", sorted(OURS - {"main"}))
def test_no_module_is_a_catch_all(package: str) -> None:
    """A function lives beside the noun it serves."""
    catch_all = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}

    assert not [path for path in sources(package) if path.stem in catch_all]


@pytest.mark.parametrize("package", sorted(OURS - {"main"}))
def test_no_module_imports_another_s_private_name(package: str) -> None:
    """What starts with an underscore may change without asking."""
    offenders = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(package)
        for name in imports(path)
        if name.partition(".")[0] in OURS and name.rpartition(".")[2].startswith("_")
    ]

    assert offenders == []
