"""Run an agent as a process, ask it, end it, and measure what it took."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import psutil

from agent_image.contract import SESSION_HEADER, SETTINGS_VARIABLE, TELEMETRY_SWITCHES, Regime
from benchmarks.process import ROOT
from tests.loopback.agent_process import PATIENCE_SECONDS, free_port, wait_for_ping
from tests.loopback.table import REGION

_PRICE: Final = {"input": 1, "output": 5, "source": "made up", "date": "2026-01-31"}
INSTRUMENT: Final = str(Path(sys.executable).with_name("opentelemetry-instrument"))


@dataclass
class Running:
    """Hold an agent that runs."""

    process: subprocess.Popen[bytes]
    port: int
    start_seconds: float

    def ask(self, prompt: str, session: str) -> None:
        """Ask one question; the answer must come."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/invocations",
            data=json.dumps({"prompt": prompt}).encode(),
            headers={SESSION_HEADER: session, "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
            document = json.load(answer)
        if not document.get("answer"):
            message = f"the agent answered {document}"
            raise RuntimeError(message)

    @property
    def cpu_seconds(self) -> float:
        """Give the processor time used so far."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    @property
    def resident_mib(self) -> float:
        """Give the memory in use."""
        return float(psutil.Process(self.process.pid).memory_info().rss / 2**20)


def ours(regime: Regime, bedrock: str, archive: Path) -> tuple[list[str], dict[str, str]]:
    """Say how our agent starts."""
    settings = {
        "environment": "bench",
        "region": "us-east-1",
        "models": ["bedrock://anthropic.claude"],
        "knowledge_base": "bedrock://KB12345678",
        "archive": f"file:{archive}",
        # Ten turns of one session are more steps than people are used to let pass.
        "guard": {"budget_steps": 1_000, "prices": {"anthropic.claude": _PRICE}},
    }
    variables = {**TELEMETRY_SWITCHES[regime], SETTINGS_VARIABLE: json.dumps(settings)}
    return ["-m", "agent_image"], variables | _aws(bedrock)


def with_records(variables: Mapping[str, str], name: str, aws: str, table: str) -> dict[str, str]:
    """Let our agent keep its records in a table and its audit in a bucket of that name, each on loopback."""
    settings = json.loads(variables[SETTINGS_VARIABLE])
    places = {"store": f"dynamodb://{name}", "audit": f"s3://{name}/", "region": REGION}
    return {
        **variables,
        SETTINGS_VARIABLE: json.dumps({**settings, **places}),
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL_S3": aws,
        "AWS_ENDPOINT_URL_DYNAMODB": table,
    }


def peer(bedrock: str) -> tuple[list[str], dict[str, str]]:
    """Say how the peer starts: with the variables that AgentCore sets, and no other."""
    return ["-m", "benchmarks.agent.peer"], {"AWS_GENAI_CONTENT_EXTRACTION_OPT_OUT": "true", **_aws(bedrock)}


def _aws(bedrock: str) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": "benchmark",
        "AWS_SECRET_ACCESS_KEY": "benchmark",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": bedrock,
        "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": bedrock,
        "AWS_ENDPOINT_URL_BEDROCK_AGENT": bedrock,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@contextmanager
def running(
    arguments: list[str], variables: Mapping[str, str], sink: str, output: int | BinaryIO = subprocess.DEVNULL
) -> Iterator[Running]:
    """Start an agent under ADOT as AgentCore does, wait for /ping, and end it by SIGTERM."""
    port = free_port()
    environment = {
        **{key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ},
        "AGENT_OBSERVABILITY_ENABLED": "true",
        "OTEL_PYTHON_DISTRO": "aws_distro",
        "OTEL_PYTHON_CONFIGURATOR": "aws_configurator",
        # The attributes that AgentCore gives a runtime's spans.
        "OTEL_RESOURCE_ATTRIBUTES": (
            "service.name=handbook_prod.live,aws.log.group.names=/aws/bedrock-agentcore/runtimes/handbook_prod-a1B2c3D4e5-live,"
            "cloud.resource_id=arn:aws:bedrock-agentcore:us-east-1:111122223333:runtime/handbook_prod-a1B2c3D4e5"
            "/runtime-endpoint/live:live,cloud.platform=aws_bedrock_agentcore,cloud.provider=aws,cloud.region=us-east-1,"
            "aws.service.type=gen_ai_agent"
        ),
        "OTEL_EXPORTER_OTLP_ENDPOINT": sink,
        "PORT": str(port),
        **variables,
    }
    started = time.perf_counter()
    process = subprocess.Popen(
        [INSTRUMENT, sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=output,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_ping(process, port)
        yield Running(process, port, time.perf_counter() - started)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_SECONDS)
