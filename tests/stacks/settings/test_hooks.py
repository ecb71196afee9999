"""The `[hooks]` table names files that the image holds, and models that its role may call."""

from __future__ import annotations

import json
import tomllib
import zipfile
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_image.contract import HOOK_FILE_BYTES, HookSetting, Setting
from agent_image.settings import parse
from stacks.artifact.bundle import pack
from stacks.policies.execution_role import permissions, reach_of
from stacks.runtime.environment import settings_body, settings_document
from stacks.settings.hook_rules import IMAGE
from stacks.settings.hooks import Hooks
from stacks.settings.load import EnvironmentSettings
from stacks.settings.types import is_hook_file
from tests.conftest import ROOT
from tests.stacks.settings.case import DEV, SANDBOX, Case
from tests.stacks.settings.folder import SHIPPED, SHIPPED_FILES, Folder
from tests.stacks.settings.values import Value, values, written

BEFORE = "# What the cost model is told."
PROFILE = "arn:aws:bedrock:us-east-1:111122223333:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0"
ANOTHER = "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0"
FORM = "allowed: a path in agent_image/ such as hooks/deployment.yaml; no part begins with a dot"
THERE = f"allowed: a file in agent_image/ of at most {HOOK_FILE_BYTES:,} bytes"


def declared(name: str, text: str, says: str) -> Case:
    return Case(name, DEV, BEFORE, f"[hooks]\n{text}\n\n{BEFORE}", says)


def path_case(path: str) -> Case:
    said = f'hooks.agent = "{path}": is not the path of a hook file; {FORM}'
    return declared(f"a file at {path}", f'agent = "{path}"', said)


@pytest.fixture
def image(folder: Folder) -> Path:
    """Make the image's folder, with a hook file, one that is too large, and a link to one outside."""
    hooks = folder.image / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "deployment.yaml").write_text("hooks: {}\n")
    (hooks / "large.yaml").write_bytes(b"#" * (HOOK_FILE_BYTES + 1))
    (hooks / "just.yml").write_bytes(b"#" * HOOK_FILE_BYTES)
    (hooks / "folder.yaml").mkdir()
    (folder.path.parent / "outside.yaml").write_text("hooks: {}\n")
    (hooks / "link.yaml").symlink_to(folder.path.parent / "outside.yaml")
    (folder.image / "linked").symlink_to(hooks)
    return folder.image


REFUSED = (
    *map(path_case, ("/etc/hooks.yaml", "../hooks.yaml", "hooks/../../x.yaml", "hooks/.hidden.yaml", ".git/a.yaml")),
    *map(
        path_case, ("hooks/agent.json", "hooks/agent.yaml/", "hooks//agent.yaml", "__pycache__/agent.yaml", "ação.yaml")
    ),
    declared("no text", "agent = 1", "hooks.agent = 1: is of another type; allowed: text, in quotes"),
    declared(
        "a file that is not there",
        'deployment = "hooks/missing.yaml"',
        f'hooks.deployment = "hooks/missing.yaml": there is no such file; {THERE}',
    ),
    declared(
        "a name that no file system takes",
        f'deployment = "{"x" * 300}.yaml"',
        f'hooks.deployment = "{"x" * 79}…: cannot be read (OSError); {THERE}',
    ),
    declared(
        "a folder",
        'deployment = "hooks/folder.yaml"',
        f'hooks.deployment = "hooks/folder.yaml": there is no such file; {THERE}',
    ),
    declared(
        "a file that is too large",
        'agent = "hooks/large.yaml"',
        f'hooks.agent = "hooks/large.yaml": has {HOOK_FILE_BYTES + 1:,} bytes; {THERE}',
    ),
    declared(
        "a link", 'agent = "hooks/link.yaml"', f'hooks.agent = "hooks/link.yaml": is a link, or behind one; {THERE}'
    ),
    declared(
        "a file behind a link",
        'agent = "linked/deployment.yaml"',
        f'hooks.agent = "linked/deployment.yaml": is a link, or behind one; {THERE}',
    ),
    declared(
        "one file for both levels",
        'deployment = "hooks/deployment.yaml"\nagent = "hooks/deployment.yaml"',
        'hooks.agent = "hooks/deployment.yaml": is deployment\'s file too: each of its hooks would run twice; '
        "keep one of the two",
    ),
    declared(
        "a model that the role may not call",
        f'models = {{ ReasoningFast = "{ANOTHER}" }}',
        f'hooks.models.ReasoningFast = "{ANOTHER}": is none of agent.models: the agent\'s role may call no other; '
        "add it there, or name one",
    ),
    declared(
        "a model that is no ARN",
        'models = { ReasoningFast = "gpt" }',
        'hooks.models.ReasoningFast = "gpt": is not the ARN of a model or an inference profile; allowed: arn:aws',
    ),
    declared(
        "a model under the name of an ARN",
        f'models = {{ "arn:aws" = "{PROFILE}" }}',
        'hooks.models.arn:aws = "arn:aws": is not a name for a model of hooks; allowed: 1 to 64 of a-z A-Z 0-9 _ . -',
    ),
    declared("an unknown key", 'agents = "hooks/a.yaml"', 'hooks.agents = "hooks/a.yaml": is an unknown key; did you'),
)


@pytest.mark.usefixtures("image")
@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name[:60])
def test_what_the_image_could_not_read_or_its_role_not_call_is_refused(case: Case, folder: Folder) -> None:
    """Each gives one fault: key path, value, what is wrong and what is allowed."""
    case.check(folder)


@pytest.fixture
def alone(folder: Folder) -> Folder:
    """Leave one environment and its account in the folder: each example loads them anew."""
    for file in SHIPPED_FILES:
        if file not in {DEV, SANDBOX}:
            (folder.path / file).unlink()
    return folder


def _dev(folder: Folder, hooks: str) -> EnvironmentSettings:
    folder.replace(DEV, BEFORE, f"{hooks}\n\n{BEFORE}")
    return next(environment for environment in folder.load().environments if environment.name == "dev")


@pytest.mark.usefixtures("image")
def test_what_is_declared_reaches_the_image_as_it_stands(folder: Folder) -> None:
    """Both files and the models by name, under the contract's keys."""
    hooks = (
        f'[hooks]\ndeployment = "hooks/deployment.yaml"\nagent = "hooks/just.yml"\nmodels = {{ fast = "{PROFILE}" }}'
    )

    document = settings_document(_dev(folder, hooks))

    assert document[Setting.HOOKS] == {
        HookSetting.DEPLOYMENT: "hooks/deployment.yaml",
        HookSetting.AGENT: "hooks/just.yml",
        HookSetting.MODELS: {"fast": PROFILE},
    }


@pytest.mark.parametrize("hooks", ["", "[hooks]", "[hooks]\nmodels = {}"])
def test_an_environment_without_hooks_tells_the_image_of_none(folder: Folder, hooks: str) -> None:
    """The document is what it was before there were hooks."""
    assert Setting.HOOKS not in settings_document(_dev(folder, hooks))


def test_every_key_of_the_contract_is_a_setting() -> None:
    """In the contract's order, and no other: the image refuses what it does not know."""
    assert list(Hooks.model_json_schema()["properties"]) == list(HookSetting)


@pytest.mark.usefixtures("image")
def test_hooks_give_the_role_no_right_that_it_did_not_have(tmp_path: Path, folder: Folder) -> None:
    """A command runs in the agent's own machine; a prompt goes to a model that the agent may call anyway."""
    (plain := tmp_path / "plain").mkdir()
    without = _dev(Folder.shipped(plain), "")
    hooks = f'[hooks]\ndeployment = "hooks/deployment.yaml"\nmodels = {{ fast = "{PROFILE}" }}'

    rights = permissions(reach_of(_dev(folder, hooks)))

    assert rights == permissions(reach_of(without))
    (called,) = [one.resources for one in rights if "bedrock:InvokeModel" in one.actions]
    assert PROFILE in called


def test_the_image_and_the_bundle_take_every_file_that_hooks_may_name(image: Path, tmp_path: Path) -> None:
    """Whatever path the settings let through, packing does not leave it out."""
    (packages := tmp_path / "packages" / "bin").mkdir(parents=True)
    (packages / "opentelemetry-instrument").write_text("#!/usr/bin/python\n")

    pack(packages=packages.parent, code=image, out=tmp_path / "agent.zip")

    with zipfile.ZipFile(tmp_path / "agent.zip") as packed:
        assert {"agent_image/hooks/deployment.yaml", "agent_image/hooks/just.yml"} <= set(packed.namelist())


NAMES = st.from_regex(r"[a-zA-Z0-9_.-]{1,8}", fullmatch=True)
UNHURRIED = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@UNHURRIED
@given(parts=st.lists(NAMES | st.just("__pycache__"), min_size=1, max_size=3), suffix=st.sampled_from(["yaml", "yml"]))
def test_no_path_that_is_taken_is_left_out_of_image_or_bundle(parts: list[str], suffix: str) -> None:
    """Both leave out what is hidden, compiled or outside; the pattern of a hook file takes none of it."""
    path = f"{'/'.join(parts)}.{suffix}"
    dropped = any(part.startswith(".") for part in path.split("/")) or "__pycache__" in path.split("/")[:-1]

    assert is_hook_file(path) is not dropped


@UNHURRIED
@given(hooks=values(st.sampled_from([*map(str, HookSetting), "fast"])))
def test_whatever_the_table_holds_it_is_refused_here_or_taken_there(alone: Folder, hooks: Value) -> None:
    """A deployment that starts with a refusal of the image would be found out only when it runs."""
    table = tomllib.loads((SHIPPED / DEV).read_text(encoding="utf-8"), parse_float=Decimal)
    alone.write(DEV, "\n".join(f"{written(key)} = {written(held)}" for key, held in {**table, "hooks": hooks}.items()))
    if alone.faults():
        return
    (dev,) = alone.load().environments
    document = json.loads(settings_body(dev), parse_float=Decimal)

    assert parse(document, "address").hooks == document.get(Setting.HOOKS, {})


def test_hook_files_are_looked_for_where_the_image_is_built_from() -> None:
    """`make image` and `make bundle` take this repository's folder."""
    assert ROOT / "agent_image" == IMAGE
