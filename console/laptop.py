"""Say what the agent on this machine runs on: its state folder, and the variables of its process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import agent_image
from agent_image.contract import (
    CONTAINER_VARIABLE,
    LAUNCH,
    OTLP_ENDPOINT,
    SETTINGS_VARIABLE,
    TELEMETRY_SWITCHES,
    Regime,
    Setting,
)
from agent_image.retrieval.chunks import OVERLAP_DEFAULT, WINDOW_DEFAULT, Cut
from console.errors import BadInputError
from console.laptop_hooks import NO_HOOKS, LaptopHooks

STATE: Final = Path(".rastro")
"""The state folder, where no other is named."""
SAMPLE_KNOWLEDGE: Final = Path(agent_image.__file__).parent / "knowledge"
"""The documents that come with the image."""
ENVIRONMENT: Final = "local"
"""What the agent calls the environment that it runs in."""
NOWHERE: Final = "http://127.0.0.1:9"
"""An OTLP endpoint on loopback where nothing listens: spans go to a file."""
PORT_VARIABLE: Final = "PORT"
SERVICE_VARIABLE: Final = "OTEL_SERVICE_NAME"
SERVICE: Final = f"rastro.{ENVIRONMENT}"
"""What spans name the agent: on AgentCore it is `<runtime>.<endpoint>`."""
_TELEMETRY_PREFIX: Final = "OTEL_"


LAPTOP_FILE: Final = "laptop.json"
"""The file of the state folder that says what its agent was started with last."""


def store_file(state: Path) -> Path:
    """Name the file that the guard keeps its records in."""
    return state.absolute() / "guard.db"


def store_url(state: Path) -> str:
    """Name the store of a state folder."""
    return f"sqlite:///{quote(str(store_file(state)))}"


def audit_file(state: Path) -> Path:
    """Name the file of the audit."""
    return state.absolute() / "audit.jsonl"


def spans_file(state: Path) -> Path:
    """Name the file of spans, one JSON object a line, as CloudWatch stores them."""
    return state.absolute() / "spans.jsonl"


def events_file(state: Path) -> Path:
    """Name the file of the agent's standard output: its events, one JSON object a line."""
    return state.absolute() / "events.jsonl"


def archive_folder(state: Path) -> Path:
    """Name the folder of archived passages."""
    return state / "archive"


@dataclass(frozen=True, slots=True)
class Laptop:
    """Hold what a person chose; the paths are absolute.

    Attributes:
        state: the folder for all that the agent writes.
        knowledge: the folder of documents that it answers from.
        cut: how they are cut into passages.
        model: the model's URL.
        capture: the regime.
        hooks: who has a say before a tool runs, after it, and before an answer.
    """

    state: Path
    knowledge: Path
    cut: Cut
    model: str
    capture: Regime
    hooks: LaptopHooks = NO_HOOKS

    @property
    def spans(self) -> Path:
        """Give the file of spans."""
        return spans_file(self.state)

    @property
    def archive(self) -> Path:
        """Give the folder of archived passages."""
        return archive_folder(self.state)

    @property
    def ledger(self) -> Path:
        """Give the file of the effects that the sample's tools had."""
        return self.state / "ledger.jsonl"

    @property
    def events(self) -> Path:
        """Give the file of the agent's standard output: its events."""
        return events_file(self.state)

    def started_with(self) -> dict[str, object]:
        """Give what `remembered` reads back."""
        return {
            "knowledge": str(self.knowledge),
            "window": self.cut.window,
            "overlap": self.cut.overlap,
            "model": self.model,
            "capture": self.capture.value,
        }

    def settings(self) -> dict[str, object]:
        """Write the settings document of the agent's process."""
        hooks = self.hooks.settings(self.model)
        return {
            **({Setting.HOOKS: hooks} if hooks else {}),
            Setting.ENVIRONMENT: ENVIRONMENT,
            Setting.MODELS: [self.model],
            Setting.KNOWLEDGE_BASE: (
                f"folder:{quote(str(self.knowledge))}?window={self.cut.window}&overlap={self.cut.overlap}"
            ),
            Setting.STORE: store_url(self.state),
            Setting.ARCHIVE: f"file:{quote(str(self.archive))}",
            Setting.AUDIT: f"file:{quote(str(audit_file(self.state)))}",
            Setting.LEDGER: f"file:{quote(str(self.ledger))}",
            Setting.DESTINATION: f"file:{self.spans}",
        }

    def variables(self, inherited: Mapping[str, str], port: int) -> dict[str, str]:
        """Give the agent's process its variables, over those that it inherits.

        Telemetry is set up as in the container, whatever the shell says; ADOT finds no endpoint of AWS's to name.
        """
        variables = {
            **{name: value for name, value in inherited.items() if not name.startswith(_TELEMETRY_PREFIX)},
            **LAUNCH,
            **TELEMETRY_SWITCHES[self.capture],
            OTLP_ENDPOINT: NOWHERE,
            SERVICE_VARIABLE: SERVICE,
            SETTINGS_VARIABLE: json.dumps(self.settings()),
            PORT_VARIABLE: str(port),
        }
        del variables[CONTAINER_VARIABLE]
        return variables


def laptop(
    state: Path | None,
    knowledge: Path | None,
    *,
    window: int | None,
    overlap: int | None,
    model: str,
    capture: Regime,
    hooks: LaptopHooks = NO_HOOKS,
) -> Laptop:
    """Check what a person chose; None stands for what is usual.

    Raises:
        BadInputError: the folder of documents is none, or the sizes lead nowhere.
    """
    documents = knowledge or SAMPLE_KNOWLEDGE
    if not documents.is_dir():
        message = f"--knowledge is {str(documents)!r}; allowed: a folder of Markdown and text"
        raise BadInputError(message)
    width = WINDOW_DEFAULT if window is None else window
    try:
        cut = Cut(width, min(OVERLAP_DEFAULT, width // 2) if overlap is None else overlap)
    except ValueError as error:
        message = "\n".join(f"--{fault}" for fault in str(error).splitlines())
        raise BadInputError(message) from None
    return Laptop((state or STATE).absolute(), documents.absolute(), cut, model, capture, hooks)


def remembered(state: Path) -> Laptop | None:
    """Read what the agent of a state folder was started with last; None where nothing tells, or nothing legible."""
    try:
        found = json.loads((state / LAPTOP_FILE).read_text())
        cut = Cut(found["window"], found["overlap"])
        return Laptop(state.absolute(), Path(found["knowledge"]), cut, found["model"], Regime(found["capture"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
