"""Run the canary as a process, as in production, between servers that keep every byte that leaves it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from agent_image.contract import LAUNCH, OTLP_ENDPOINT, SETTINGS_VARIABLE, TELEMETRY_SWITCHES, Regime
from tests.canary import script
from tests.canary.agent import ELSEWHERE, OFF
from tests.canary.hooked import write_hooks
from tests.canary.kept import Kept
from tests.canary.locks import Lock
from tests.canary.people import desk_of
from tests.canary.places import Places, standing
from tests.canary.scenes import BUDGET
from tests.canary.talk import PATIENCE, Caller
from tests.loopback.agent_process import free_port, wait_for_ping
from tests.loopback.table import REGION

ROOT: Final = Path(__file__).parents[2]
INSTRUMENT: Final = str(Path(sys.executable).with_name("opentelemetry-instrument"))
SPLIT_SWITCH: Final = "AWS_GENAI_CONTENT_EXTRACTION_OPT_OUT"
PASSED_ON: Final = {("headers", script.TRACE_STATE.place), ("headers", script.BAGGAGE.place)}
"""What a caller hands on through us by W3C's rules: with calls to others, as it came."""
AUDIT: Final = "audit"


@dataclass(frozen=True)
class Delivery:
    """Say how spans are sent: by which variables, without which, and by which destination of the settings."""

    name: str
    variables: Callable[[Places], Mapping[str, str]] = lambda _: {}
    without: frozenset[str] = frozenset()
    destination: Callable[[Places], str] = lambda _: "cloudwatch"


UNIFIED: Final = Delivery("unified")
SPLIT: Final = Delivery("split", without=frozenset({SPLIT_SWITCH}))
PLAIN: Final = Delivery("plain", variables=lambda places: {OTLP_ENDPOINT: places.sink.url})
ENDPOINT: Final = Delivery("endpoint", destination=lambda places: places.sink.url)
FILE: Final = Delivery("file", destination=lambda places: f"file:{places.lines}")


@dataclass(frozen=True)
class Run:
    """Say how the canary runs."""

    regime: Regime = Regime.ADDRESS
    delivery: Delivery = UNIFIED
    off: frozenset[Lock] = frozenset()
    variables: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Name the run."""
        off = "".join(f", without {lock.name}" for lock in sorted(self.off))
        return f"{self.regime}, {self.delivery.name}{off}{', hostile' if self.variables else ''}"

    def environment(self, places: Places) -> dict[str, str]:
        """Give the process's variables: those that the image and the stack set, and what stands in for AWS."""
        cloud = places.cloud
        settings = {
            "environment": "canary",
            "region": REGION,
            "models": ["bedrock://anthropic.claude"],
            "knowledge_base": "bedrock://KB12345678",
            "archive": f"s3://{cloud.name}",
            "store": f"dynamodb://{cloud.name}",
            "audit": f"s3://{cloud.audit.bucket}",
            "alerts": cloud.topic,
            "guard": guard(places),
            "hooks": {"deployment": f"file:{quote(str(write_hooks(places.folder / 'hooks.yaml')))}"},
            "destination": self.delivery.destination(places),
        }
        variables = {
            **{key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ},
            **LAUNCH,
            **TELEMETRY_SWITCHES[Regime.CONTENT if Lock.REGIME in self.off else self.regime],
            SETTINGS_VARIABLE: json.dumps(settings),
            **places.variables(),
            **self.delivery.variables(places),
            ELSEWHERE: places.elsewhere,
            OFF: ",".join(sorted(self.off)),
        }
        del variables["DOCKER_CONTAINER"]  # stay on loopback
        for name in self.delivery.without | (self.off - {Lock.REGIME}):
            variables.pop(name, None)
        return variables | dict(self.variables)


def guard(places: Places) -> dict[str, Any]:
    """Give the guard's settings: turns are long, and one purchase is over the budget."""
    price = {"input": 1, "output": 5, "source": "made up", "date": "2026-01-31"}
    return {
        "webhook": places.webhook,
        "budget_usd": int(BUDGET),
        "budget_tokens": 10_000_000,
        "budget_steps": 1_000,
        "prices": {"anthropic.claude": price},
    }


@dataclass
class Haul:
    """Hold every byte that left, by the door that it left by, and beside them what the environment keeps."""

    doors: dict[str, bytes] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept)

    def add(self, door: str, data: bytes) -> None:
        """Add what left."""
        self.doors[door] = self.doors.get(door, b"") + data + b"\n"

    def found(self) -> Counter[tuple[str, str]]:
        """Count the markers by door and place."""
        counts = {
            (door, marker.place): marker.count(data) for door, data in self.doors.items() for marker in script.ALL
        }
        return Counter({key: count for key, count in counts.items() if count and not may_stand(*key)})


def may_stand(door: str, place: str) -> bool:
    """Tell what is no find: what a caller hands on, and what the audit keeps of texts, redacted and cut."""
    return (door, place) in PASSED_ON or (door == AUDIT and place not in script.NEVER_AUDITED)


def haul(run: Run, folder: Path, aws: str) -> Haul:
    """Run the canary, talk to it, end it, and collect what left it; its buckets and table lie at `aws`."""
    with standing(folder, aws) as places:
        out, error = folder / "stdout", folder / "stderr"
        with out.open("wb") as stdout, error.open("wb") as stderr:
            _perform(run, places, stdout, stderr)
        found = Haul(kept=places.cloud.kept())
        found.add("stdout", out.read_bytes())
        found.add("stderr", error.read_bytes())
        found.add("headers", "\n".join([*places.headers, *places.topics.headers]).encode("latin-1"))
        for door, bodies in (("webhook", places.posted), ("topic", places.topics.bodies)):
            found.add(door, b"\n".join(bodies))
        for sent in places.proxy.sent:
            found.add(_door(sent.path, sent.headers), sent.body)
            found.add("headers", str(sent.headers).encode())
        for request in places.sink.requests:
            found.add(_door(request.path, request.headers), request.body)
            found.add("headers", str(request.headers).encode())
        if places.lines.exists():
            found.add("traces", places.lines.read_bytes())
        found.add("table", found.kept.others)
        found.add(AUDIT, b"\n".join(line.raw for line in found.kept.audit))
    return found


def _door(path: str, headers: Mapping[str, str]) -> str:
    if headers.get("X-Amz-Target", "").startswith("Logs_"):
        return "metrics"
    return path.rpartition("/")[2]


def _perform(run: Run, places: Places, stdout: Any, stderr: Any) -> None:
    port = free_port()
    process = subprocess.Popen(
        [INSTRUMENT, sys.executable, "-m", "tests.canary.agent"],
        cwd=ROOT,
        env={**run.environment(places), "PORT": str(port)},
        stdout=stdout,
        stderr=stderr,
    )
    try:
        wait_for_ping(process, port)
        Caller(port, desk_of(places.cloud)).all()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
