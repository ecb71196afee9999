"""The hooks that the settings name are read at the start, whole, and their models are found by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any
from urllib.parse import quote

import pytest
from strands.models import Model

from agent_image.contract import HOOK_FILE_BYTES, HookSetting
from agent_image.errors import SettingsError
from agent_image.hooks.hook import Hook, HookEvent, HookLevel, HookType
from agent_image.hooks.settings import IMAGE, declared_hooks, parse_hooks
from agent_image.hooks_of import HookModels, hooks_of, matching_nothing, tell_dead_hooks
from agent_image.models.offline import OfflineModel
from agent_image.settings import Settings, parse

AGENT = "support"
FIRST, SECOND = "bedrock://first", "bedrock://second"
COMMANDS = """\
hooks:
  PreToolUse:
    - type: command
      matcher: refund_order
      command: exit 0
  Stop:
    - type: command
      command: exit 0
"""
PROMPTS = """\
hooks:
  PostToolUse:
    - type: prompt
      matcher: "*"
      model: {first}
      prompt: Is it so?
    - type: prompt
      matcher: search_knowledge
      model: {second}
      prompt: Is it so?
"""


def settings_with(hooks: Any, models: list[str] | None = None) -> Settings:
    return parse({"environment": "e", "models": models or [FIRST, SECOND], "hooks": hooks}, "address")


def url(path: Path) -> str:
    return f"file:{quote(str(path))}"


def faults(hooks: Any) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        hooks_of(settings_with(hooks), AGENT)
    return list(refused.value.faults)


@pytest.fixture
def prompts(tmp_path: Path) -> Callable[..., Path]:
    def written(first: str, second: str) -> Path:
        path = tmp_path / "prompts of 50%.yaml"
        path.write_text(PROMPTS.format(first=first, second=second))
        return path

    return written


def test_an_environment_without_hooks_has_none() -> None:
    """No file is looked for."""
    assert hooks_of(settings_with({}), AGENT) == ()


def test_files_are_named_relative_to_the_image_s_folder(tmp_path: Path) -> None:
    """Of both levels; those of the deployment come first, whatever the order of the settings."""
    for name in ("deployment", "agent"):
        (tmp_path / f"{name}.yaml").write_text(COMMANDS)
    (tmp_path / "hooks").mkdir()
    (tmp_path / "deployment.yaml").rename(tmp_path / "hooks" / "deployment.yaml")
    declared = parse_hooks(settings_with({"agent": "agent.yaml", "deployment": "hooks/deployment.yaml"}))

    hooks = declared_hooks(declared, AGENT, tmp_path)

    assert [(hook.level, hook.event) for hook in hooks] == [
        (level, event) for level in HookLevel for event in (HookEvent.PRE_TOOL_USE, HookEvent.STOP)
    ]


def test_the_image_s_folder_is_the_package_s() -> None:
    """Where the image's Dockerfile puts it, and where a bundle is unpacked."""
    assert (IMAGE / "hooks" / "hook.py").is_file()


def test_an_absolute_path_is_taken_as_a_url(prompts: Callable[..., Path]) -> None:
    """A laptop's files may be anywhere, under any name."""
    path = prompts(FIRST, SECOND)

    first, second = hooks_of(settings_with({"agent": url(path)}), AGENT)

    assert (first.model, second.model) == (FIRST, SECOND)
    assert {first.type, second.type} == {HookType.PROMPT}


@pytest.mark.parametrize(
    ("hooks", "fault"),
    [
        ({"deployment": ""}, "hooks.deployment is ''; allowed: a path in the image's folder, or file: and an absolute"),
        ({"deployment": 3}, "hooks.deployment is 3"),
        ({"agent": "/etc/hooks.yaml"}, "hooks.agent is '/etc/hooks.yaml'"),
        ({"agent": "../hooks.yaml"}, "hooks.agent is '../hooks.yaml'"),
        ({"agent": "hooks/../../hooks.yaml"}, "hooks.agent is 'hooks/../../hooks.yaml'"),
        ({"agent": "file:hooks.yaml"}, "hooks.agent is 'file:hooks.yaml'"),
        ({"agents": "hooks.yaml"}, "hooks.agents is no setting; allowed: deployment, agent, models"),
        ({"models": ["fast"]}, "hooks.models is ['fast']; allowed: an object"),
        ({"models": {"fast": 1}}, f"hooks.models.fast is 1; allowed: one of models: {FIRST}, {SECOND}"),
        ({"models": {"fast": None}}, "hooks.models.fast is missing"),
        ({"models": {"fast": "bedrock://third"}}, "hooks.models.fast is 'bedrock://third'; allowed: one of models"),
        ({"agent": "hooks/no-such.yaml"}, "hooks/no-such.yaml: is not there; allowed: a file of at most 1,000,000"),
        ({"agent": "hooks"}, "hooks: is not there"),
        ({"agent": "file:/dev/zero"}, "/dev/zero: is not there"),
        ({"agent": f"{'x' * 300}.yaml"}, "cannot be read (OSError)"),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value)[:50],
)
def test_what_leads_nowhere_is_refused(hooks: Any, fault: str) -> None:
    """The fault names the key, or the file, and what is allowed."""
    (found,) = faults(hooks)

    assert fault in found


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    """Its size is said."""
    (large := tmp_path / "large.yaml").write_bytes(b"#" * (HOOK_FILE_BYTES + 1))

    assert faults({"agent": url(large)}) == [
        f"{large}: has 1,000,001 bytes; allowed: a file of at most 1,000,000 bytes"
    ]


def test_every_fault_of_the_table_is_said_at_once() -> None:
    """Whoever mends it mends it once."""
    assert len(faults({"deployment": 1, "agent": "..", "models": {"a": "b"}, "colour": "red"})) == 4


def test_every_fault_of_both_files_is_said_at_once(tmp_path: Path, prompts: Callable[..., Path]) -> None:
    """A file that is not there, what another has wrong, and a model that nobody declared."""
    (broken := tmp_path / "broken.yaml").write_text("hooks:\n  Stop:\n  - {type: command, command: a, timeout: 0}\n")

    both = faults({"deployment": url(broken), "agent": url(prompts("slow", FIRST)), "models": {"fast": FIRST}})
    missing = faults({"deployment": "no.yaml", "agent": url(broken)})

    assert [fault.partition(": ")[0] for fault in missing] == ["no.yaml", str(broken)]
    assert both[0].startswith(f"{broken}: hooks.Stop[0].timeout is 0")
    assert both[1].endswith(f"prompts of 50%.yaml: PostToolUse[0].model is 'slow'; allowed: fast, {FIRST}, {SECOND}")


class Built:
    """Remembers which models were built."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []

    def __call__(self, reference: str, region: str | None) -> Model:
        self.asked.append((reference, region))
        return OfflineModel()


@pytest.mark.parametrize(
    ("name", "reference"),
    [("fast", SECOND), (SECOND, SECOND), (FIRST, FIRST), (None, FIRST)],
)
def test_a_model_is_found_by_its_name_or_by_its_reference(name: str | None, reference: str) -> None:
    """A hook that names none is judged by the model that the agent calls, which comes first in the settings."""
    built = Built()
    models = HookModels(settings_with({"models": {"fast": SECOND}}), built)

    assert models(name) is models(reference)
    assert built.asked == [(reference, None)]


def test_a_name_goes_before_a_reference() -> None:
    """What the settings call something is what it is."""
    built = Built()
    models = HookModels(settings_with({"models": {SECOND: FIRST}}), built)

    models(SECOND)

    assert built.asked == [(FIRST, None)]


def test_a_model_without_a_region_of_its_own_is_called_in_the_settings_one() -> None:
    """As the agent's own is."""
    built = Built()
    settings = parse({"environment": "e", "models": [FIRST], "region": "us-east-1"}, "address")

    HookModels(settings, built)(None)

    assert built.asked == [(FIRST, "us-east-1")]


def test_a_name_that_nobody_declared_has_no_model() -> None:
    """The start refuses it; should somebody ask all the same, another model is not taken for it."""
    models = HookModels(settings_with({}))

    with pytest.raises(SettingsError, match="slow"):
        models("slow")


def test_a_model_is_built_when_it_is_asked_for_and_once() -> None:
    """However many hooks ask for it at the same time."""
    built: list[Model] = []
    gate = Barrier(8, timeout=30)

    def build(*_: object) -> Model:
        built.append(OfflineModel())
        return built[-1]

    models = HookModels(settings_with({"models": {"fast": SECOND}}), build)
    assert built == []

    def ask(_: int) -> Model:
        gate.wait()
        return models("fast")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))

    assert len(built) == 1
    assert set(map(id, found)) == {id(built[0])}


def of(event: HookEvent, matcher: str | None) -> Hook:
    return Hook(level=HookLevel.AGENT, event=event, number=3, type=HookType.COMMAND, matcher=matcher, command="a")


@pytest.mark.parametrize(
    ("matcher", "tools", "dead"),
    [
        ("refund_order", ["refund_order"], False),
        ("refund", ["refund_order"], True),
        ("refund.*|x", ["search", "refund_order"], False),
        ("Refund_order", ["refund_order"], True),
        ("*", ["refund_order"], False),
        ("*", [], False),
        ("refund_order", [], True),
        (None, ["refund_order"], False),
    ],
)
def test_a_hook_that_no_tool_will_ever_fire_is_found(matcher: str | None, tools: list[str], *, dead: bool) -> None:
    """Its matcher is another case, or a part of the name; a Stop hook has none."""
    hook = of(HookEvent.STOP if matcher is None else HookEvent.PRE_TOOL_USE, matcher)

    assert list(matching_nothing([hook], tools)) == ([hook] if dead else [])


def test_it_leaves_a_notice_with_its_id(capfd: pytest.CaptureFixture[str]) -> None:
    """A code and an id: no word of the file."""
    tell_dead_hooks([of(HookEvent.PRE_TOOL_USE, "refund"), of(HookEvent.STOP, None)], ["refund_order"])

    assert [json.loads(line) for line in capfd.readouterr().err.splitlines()] == [
        {"notice": "hook_matches_nothing", "hook": "agent/PreToolUse/3"}
    ]


def test_the_keys_of_the_contract_are_read() -> None:
    """All three; one that nobody reads would be declared in vain."""
    declared = parse_hooks(settings_with({key: "a.yaml" for key in HookSetting if key != "models"} | {"models": {}}))

    assert dict(declared.files) == {HookLevel.DEPLOYMENT: "a.yaml", HookLevel.AGENT: "a.yaml"}
