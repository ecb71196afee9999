"""`rastro dev` runs the container's own application on this machine, and ends it in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent_image.retrieval.chunks import Cut
from console.laptop import SAMPLE_KNOWLEDGE, remembered

RASTRO = Path(sys.executable).with_name("rastro")
# No AWS account, and no way to one.
SHELL = {"PATH": os.environ["PATH"], "AWS_EC2_METADATA_DISABLED": "true"}


@dataclass
class Running:
    """Hold a running command, its state folder and what it printed."""

    process: subprocess.Popen[str]
    state: Path
    printed: list[str]

    @property
    def port(self) -> int:
        found: int = json.loads((self.state / "dev.json").read_text())["port"]
        return found

    def ask(self, question: str, *more: str) -> dict[str, Any]:
        answer = rastro("ask", question, "--state", str(self.state), "--json", *more)
        assert answer.returncode == 0, answer.stderr
        found: dict[str, Any] = json.loads(answer.stdout)
        return found

    def stop(self, number: signal.Signals) -> int:
        # As a key on a terminal does: to every process of the group.
        os.killpg(self.process.pid, number)
        return self.process.wait(timeout=60)

    def agent(self) -> psutil.Process:
        (child,) = psutil.Process(self.process.pid).children()
        return child


def rastro(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([RASTRO, *arguments], capture_output=True, text=True, check=False, env=SHELL, timeout=120)


@contextmanager
def running(state: Path, *options: str, folder: Path | None = None) -> Iterator[Running]:
    command = [str(RASTRO), "dev", "--state", str(state), "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=SHELL, start_new_session=True, cwd=folder
    ) as process:
        assert process.stdout
        printed: list[str] = []
        for line in process.stdout:
            printed.append(line)
            if line.startswith("stop it"):
                break
        try:
            yield Running(process, state, printed)
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("dev") / "a state", "--window", "300", "--overlap", "60") as found:
        yield found


def test_it_says_where_everything_is(agent: Running) -> None:
    """Address, documents, spans, archive, events, audit, and a question that can be pasted."""
    text = "".join(agent.printed)

    assert f"http://127.0.0.1:{agent.port}" in text
    assert "passages of 300 characters, 60 shared" in text
    assert all(str(agent.state / name) in text for name in ("spans.jsonl", "events.jsonl", "audit.jsonl"))
    assert f"rastro ask --state '{agent.state}' \"Within how many days" in text


def test_it_leaves_in_the_state_folder_what_it_was_started_with(agent: Running) -> None:
    """A trace compares the index that was read with the one that there is now."""
    found = remembered(agent.state)

    assert found is not None
    assert (found.knowledge, found.cut, found.model) == (SAMPLE_KNOWLEDGE, Cut(300, 60), "offline:")


def test_the_state_folder_is_its_owner_s_alone(agent: Running) -> None:
    """What the agent read and answered is nobody else's business."""
    assert agent.state.stat().st_mode & 0o777 == 0o700


def test_a_question_gets_an_answer_with_the_address_of_its_passage(agent: Running) -> None:
    """In both languages, from the sample of documents."""
    english = agent.ask("Within how many days can unused items be returned?")
    portuguese = agent.ask("Quanto valem cem pontos?")

    assert "Unused items can be returned within 30 days of delivery." in english["answer"]
    assert "/knowledge/returns.md#" in english["citations"][0]["address"]
    assert "Cem pontos valem 2 EUR de desconto." in portuguese["answer"]
    assert "/knowledge/pontos-de-fidelidade.md#" in portuguese["citations"][0]["address"]
    assert english["session_id"] != portuguese["session_id"]


def test_a_session_goes_on(agent: Running) -> None:
    """A second question counts the passages on from the first."""
    first = agent.ask("How much does express shipping cost?")
    second = agent.ask("How long is a gift card valid?", "--session", first["session_id"])

    assert second["session_id"] == first["session_id"]
    assert second["citations"][0]["n"] > first["citations"][0]["n"]
    assert "36 months" in second["answer"]


def test_a_state_folder_has_one_agent(agent: Running) -> None:
    """Two would write one trail; the first goes on."""
    second = rastro("dev", "--state", str(agent.state), "--port", "0")

    assert second.returncode == 2
    assert second.stderr == f"an agent runs on {agent.state} already; choose another folder with --state\n"
    assert agent.ask("How long is a gift card valid?")["status"] == "completed"


def test_a_port_in_use_is_said(agent: Running, tmp_path: Path) -> None:
    """With what to do."""
    taken = rastro("dev", "--state", str(tmp_path), "--port", str(agent.port))

    assert taken.returncode == 2
    assert f"--port is {agent.port}: Address already in use; choose another, or 0 for a free one" in taken.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_every_span_written(tmp_path: Path, number: signal.Signals) -> None:
    """Sent to the whole group, it reaches the agent once: the trail of the last answer is in the file at the end."""
    with running(tmp_path / "state") as agent:
        answer = agent.ask("How long is a gift card valid?")
        child = agent.agent()

        assert agent.stop(number) == 0

    spans = [json.loads(line) for line in (tmp_path / "state" / "spans.jsonl").read_text().splitlines()]
    names = {span["name"] for span in spans if span["traceId"] == answer["trace_id"]}
    assert "POST /invocations" in names
    assert any(name.startswith("retrieval ") for name in names)
    assert list((tmp_path / "state" / "archive").iterdir())
    assert not child.is_running()
    assert not (tmp_path / "state" / "dev.json").exists()


def test_an_agent_that_ends_by_itself_is_a_failure(tmp_path: Path) -> None:
    """The status says so, and nothing is left that looks like an agent."""
    with running(tmp_path / "state") as agent:
        agent.agent().kill()

        assert agent.process.wait(timeout=60) == 1

    missing = rastro("ask", "Prazo?", "--state", str(tmp_path / "state"))
    assert missing.returncode == 1
    assert "start one: rastro dev" in missing.stderr


def test_settings_that_the_agent_refuses_are_bad_input(tmp_path: Path) -> None:
    """The agent names the fault; the command adds its status."""
    refused = rastro("dev", "--state", str(tmp_path), "--port", "0", "--model", "nobody://x")

    assert refused.returncode == 2
    assert "models holds 'nobody://x'; allowed: arn:aws:bedrock:" in refused.stderr
    assert refused.stderr.endswith("the agent refused its settings\n")
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (("--port", "-1"), "--port is -1; allowed: 0 to 65535"),
        (("--port", "65536"), "--port is 65536"),
        (("--window", "1"), "--window is 1; allowed"),
        (("--knowledge", "no-such-folder"), "--knowledge is 'no-such-folder'"),
        (("--capture", "everything"), "metadata"),
    ],
)
def test_a_bad_option_starts_nothing(tmp_path: Path, options: tuple[str, ...], fault: str) -> None:
    """Status 2, and what is allowed."""
    refused = rastro("dev", "--state", str(tmp_path / "state"), *options)

    assert refused.returncode == 2
    assert fault in refused.stderr
    assert "Traceback" not in refused.stderr


def test_it_says_how_many_hooks_it_runs_under(tmp_path: Path) -> None:
    """Of both levels together."""
    (file := tmp_path / "hooks.yaml").write_text("hooks:\n  Stop:\n  - {type: command, command: exit 0}\n")

    with running(tmp_path / "state", "--hooks", str(file), "--agent-hooks", str(file)) as agent:
        assert "hooks      2\n" in agent.printed


def test_hook_files_that_are_at_fault_start_nothing(tmp_path: Path) -> None:
    """Status 2 with every fault of both files, and no state folder."""
    (broken := tmp_path / "broken.yaml").write_text("hooks:\n  Stop:\n  - {type: command}\n  Halt: []\n")

    refused = rastro(
        *("dev", "--state", str(tmp_path / "state"), "--hooks", str(broken)),
        *("--agent-hooks", str(tmp_path / "missing.yaml")),
    )

    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 3
    assert "missing.yaml: is not there" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "state").exists()


def test_a_state_that_is_no_folder_is_said(tmp_path: Path) -> None:
    """A file stands there."""
    (file := tmp_path / "file").write_text("")

    refused = rastro("dev", "--state", str(file))

    assert refused.returncode == 2
    assert refused.stderr.startswith(f"--state is '{file}': ")


def test_a_signal_before_it_is_ready_leaves_nothing_behind(tmp_path: Path) -> None:
    """Asked to stop while it starts, it stops, without a word of Python's."""
    command = [str(RASTRO), "dev", "--state", str(tmp_path / "state"), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=SHELL, start_new_session=True
    ) as process:
        found = psutil.Process(process.pid)
        while not (children := found.children()):
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        said, complained = process.communicate(timeout=60)

    assert (process.returncode, said) == (0, "")
    assert "Traceback" not in complained
    assert not any(child.is_running() for child in children)


def test_no_module_of_the_working_folder_is_run(tmp_path: Path) -> None:
    """A folder of somebody's documents may hold anything, under any name."""
    documents = tmp_path / "documents"
    documents.mkdir()
    for name in ("strands", "boto3", "json", "sitecustomize"):
        (documents / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n")

    with running(tmp_path / "state", folder=documents) as agent:
        assert agent.port

    assert not (tmp_path / "ran").exists()
