"""Run the canary as a process, as in production, between servers that keep every byte that leaves it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from agent_image.contract import LAUNCH, OTLP_ENDPOINT, SESSION_HEADER, SETTINGS_VARIABLE, TELEMETRY_SWITCHES, Regime
from tests.agent_image.retrieval.trail_store import REGION, TrailStore, trail_store
from tests.agent_image.telemetry.sink import Sink, listening
from tests.canary import script
from tests.canary.agent import ELSEWHERE, OFF
from tests.canary.locks import Lock
from tests.loopback import proxy
from tests.loopback.agent_process import free_port, wait_for_ping
from tests.loopback.bedrock import Bedrock, speaking
from tests.loopback.proxy import Proxy
from tests.loopback.server import QuietHandler, serving

ROOT: Final = Path(__file__).parents[2]
INSTRUMENT: Final = str(Path(sys.executable).with_name("opentelemetry-instrument"))
SESSION: Final = "canary-" + "0" * 32
SPLIT_SWITCH: Final = "AWS_GENAI_CONTENT_EXTRACTION_OPT_OUT"
PASSED_ON: Final = {("headers", script.TRACE_STATE.place), ("headers", script.BAGGAGE.place)}
"""What a caller hands on through us by W3C's rules: with calls to others, as it came."""
_PATIENCE: Final = 60


@dataclass(frozen=True)
class Places:
    """Hold where what leaves may go."""

    folder: Path
    proxy: Proxy
    sink: Sink
    bedrock: Bedrock
    store: TrailStore
    elsewhere: str
    headers: list[str]

    @property
    def lines(self) -> Path:
        """Name the file of the laptop's spans."""
        return self.folder / "spans.jsonl"


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
        settings = {
            "environment": "canary",
            "region": REGION,
            "models": ["bedrock://anthropic.claude"],
            "knowledge_base": "bedrock://KB12345678",
            "archive": f"s3://{places.store.place.bucket}/{places.store.place.prefix}",
            "store": f"dynamodb://{places.store.place.table}",
            "destination": self.delivery.destination(places),
        }
        variables = {
            **{key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ},
            **LAUNCH,
            **TELEMETRY_SWITCHES[Regime.CONTENT if Lock.REGIME in self.off else self.regime],
            SETTINGS_VARIABLE: json.dumps(settings),
            **_aws(places),
            **self.delivery.variables(places),
            ELSEWHERE: places.elsewhere,
            OFF: " ".join(sorted(self.off)),
        }
        del variables["DOCKER_CONTAINER"]  # stay on loopback
        for name in self.delivery.without | (self.off - {Lock.REGIME}):
            variables.pop(name, None)
        return variables | dict(self.variables)


def _aws(places: Places) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": "canary",
        "AWS_SECRET_ACCESS_KEY": "canary",
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": places.bedrock.url,
        "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": places.bedrock.url,
        "AWS_ENDPOINT_URL_BEDROCK_AGENT": places.bedrock.url,
        "AWS_ENDPOINT_URL_S3": places.store.url,
        "AWS_ENDPOINT_URL_DYNAMODB": places.store.url,
        "OTEL_EXPORTER_OTLP_LOGS_HEADERS": "x-aws-log-group=g,x-aws-log-stream=s,x-aws-metric-namespace=n",
        **places.proxy.variables(),
    }


@dataclass
class Haul:
    """Hold every byte that left, by the door that it left by, and beside them the texts in the archive."""

    doors: dict[str, bytes] = field(default_factory=dict)
    archived: set[str] = field(default_factory=set)

    def add(self, door: str, data: bytes) -> None:
        """Add what left."""
        self.doors[door] = self.doors.get(door, b"") + data + b"\n"

    def found(self) -> Counter[tuple[str, str]]:
        """Count the markers by door and place."""
        counts = {
            (door, marker.place): marker.count(data) for door, data in self.doors.items() for marker in script.ALL
        }
        return Counter({key: count for key, count in counts.items() if count and key not in PASSED_ON})


def haul(run: Run, folder: Path, aws: str) -> Haul:
    """Run the canary, talk to it, end it, and collect what left it; its bucket and table lie at `aws`."""
    with _standing(folder, aws) as places:
        out, error = folder / "stdout", folder / "stderr"
        with out.open("wb") as stdout, error.open("wb") as stderr:
            _perform(run, places, stdout, stderr)
        found = Haul()
        found.add("stdout", out.read_bytes())
        found.add("stderr", error.read_bytes())
        found.add("headers", "\n".join(places.headers).encode("latin-1"))
        for sent in places.proxy.sent:
            found.add(_door(sent.path, sent.headers), sent.body)
            found.add("headers", str(sent.headers).encode())
        for request in places.sink.requests:
            found.add(_door(request.path, request.headers), request.body)
            found.add("headers", str(request.headers).encode())
        if places.lines.exists():
            found.add("traces", places.lines.read_bytes())
        found.archived = {data.decode() for data in places.store.objects().values()}
    return found


def _door(path: str, headers: Mapping[str, str]) -> str:
    if headers.get("X-Amz-Target", "").startswith("Logs_"):
        return "metrics"
    return path.rpartition("/")[2]


@contextmanager
def _standing(folder: Path, aws: str) -> Iterator[Places]:
    headers: list[str] = []

    class Elsewhere(QuietHandler):
        def do_GET(self) -> None:
            headers.append(str(self.headers))
            self.answer(b"{}")

    with ExitStack() as stack:
        yield Places(
            folder,
            stack.enter_context(proxy.standing(folder)),
            stack.enter_context(listening()),
            stack.enter_context(speaking(script.bedrock())),
            trail_store(aws),
            stack.enter_context(serving(Elsewhere)),
            headers,
        )


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
        _converse(port)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(_PATIENCE)


def _converse(port: int) -> None:
    whole, streamed = script.TURNS
    answer = _ask(port, json.dumps({"prompt": f"{script.question(whole)}?"}))
    assert str(script.answer(whole)) in json.loads(answer)["answer"]
    answer = _ask(port, json.dumps({"prompt": f"{script.question(streamed)}?"}), accept="text/event-stream")
    assert "event: completed" in answer
    assert str(script.answer(streamed)) in answer
    answer = _ask(port, json.dumps({"prompt": f"{script.FAILED_QUESTION}?"}))
    assert json.loads(answer)["error"]["code"] == "model_refused"
    note = {"session_id": SESSION, "verdict": "bad", "note": str(script.NOTE)}
    assert '"completed"' in _ask(port, json.dumps({"feedback": note}))
    assert '"invalid_json"' in _ask(port, f"{{{script.NO_JSON}")
    assert '"unknown_kind"' in _ask(port, json.dumps({str(script.NO_KIND): str(script.NO_KIND)}))


def _ask(port: int, body: str, accept: str = "application/json") -> str:
    headers = {
        SESSION_HEADER: SESSION,
        "Content-Type": "application/json",
        "Accept": accept,
        "User-Agent": quote(str(script.USER_AGENT)),
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "tracestate": f"canary={quote(str(script.TRACE_STATE))}",
        "baggage": f"canary={quote(str(script.BAGGAGE))}",
    }
    with closing(HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)) as connection:
        connection.request("POST", f"/invocations?q={quote(str(script.QUERY_STRING))}", body.encode(), headers)
        return connection.getresponse().read().decode()
