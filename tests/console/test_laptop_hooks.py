"""Hook files of a laptop are checked before anything starts, and the agent's process reads the very same ones."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path

import pytest

from agent_image.agent import NAME
from agent_image.contract import Regime, Setting
from agent_image.hooks.hook import HookLevel
from agent_image.hooks_of import HookModels, hooks_of
from agent_image.models.offline import OfflineModel
from agent_image.settings import parse
from console.errors import BadInputError
from console.laptop import laptop
from console.laptop_hooks import NO_HOOKS, laptop_hooks

HOOKS = """\
hooks:
  PreToolUse:
    - type: command
      matcher: refund_order
      command: exit 0
    - matcher: refund_order
      model: ReasoningFast
      prompt: Is it so?
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Write a file for each level, under names that need care."""
    deployment, agent = tmp_path / "of all 50%.yaml", tmp_path / "of agênt?.yaml"
    deployment.write_text(HOOKS)
    agent.write_text(HOOKS)
    return deployment, agent


def test_without_files_the_settings_are_what_they_were(tmp_path: Path) -> None:
    """No key stands for nothing."""
    machine = laptop(tmp_path, None, window=None, overlap=None, model="offline:", capture=Regime.ARCHIVE)

    assert laptop_hooks(None, None) == NO_HOOKS
    assert Setting.HOOKS not in machine.settings()


def test_the_image_reads_the_files_that_were_chosen(tmp_path: Path, files: tuple[Path, Path]) -> None:
    """Relative paths are those of whoever typed them, in whatever folder the agent runs; levels stay levels."""
    with chdir(tmp_path):
        hooks = laptop_hooks(Path(files[0].name), files[1])
    machine = laptop(tmp_path, None, window=None, overlap=None, model="offline:", capture=Regime.ARCHIVE, hooks=hooks)

    read = hooks_of(parse(json.loads(json.dumps(machine.settings())), Regime.ARCHIVE), NAME)

    assert hooks.count == len(read) == 4
    assert [hook.level for hook in read] == [*[HookLevel.DEPLOYMENT] * 2, *[HookLevel.AGENT] * 2]


def test_every_name_of_a_model_stands_for_the_laptop_s_one(tmp_path: Path, files: tuple[Path, Path]) -> None:
    """An environment's file runs as it is: what is called ReasoningFast there is the model that there is here."""
    hooks = laptop_hooks(files[0], None)
    machine = laptop(tmp_path, None, window=None, overlap=None, model="offline:", capture=Regime.ARCHIVE, hooks=hooks)

    models = HookModels(parse(json.loads(json.dumps(machine.settings())), Regime.ARCHIVE))

    assert isinstance(models("ReasoningFast"), OfflineModel)


def test_every_fault_of_both_files_is_said_at_once(tmp_path: Path) -> None:
    """One is not there, and the other has two."""
    (broken := tmp_path / "broken.yaml").write_text(
        "hooks:\n  Stop:\n  - {type: command, command: a, timeout: 0}\n  Halt: []\n"
    )

    with pytest.raises(BadInputError) as refused:
        laptop_hooks(tmp_path / "missing.yaml", broken)

    missing, *faults = str(refused.value).splitlines()
    assert missing.startswith(f"{tmp_path / 'missing.yaml'}: is not there; allowed: ")
    assert len(faults) == 2
    assert all(fault.startswith(f"{broken}: hooks.") for fault in faults)
