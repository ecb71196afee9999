"""Put telemetry in place when the process starts, before anything can be said."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import ProxyTracerProvider

from agent_image.contract import SCOPE
from agent_image.digest import Digest
from agent_image.digest_key import digest_at
from agent_image.errors import TelemetryError
from agent_image.notice import notice
from agent_image.settings import Settings
from agent_image.telemetry import destination, propagation, seal
from agent_image.telemetry.destination import Secrets
from agent_image.telemetry.doors import Doors
from agent_image.telemetry.exporter import Lost, TrailExporter
from agent_image.telemetry.prune import Pruner
from agent_image.telemetry.sampling import SessionSampler
from agent_image.telemetry.strip import Strip

NONCE_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Hold what telemetry the process started with."""

    digest: Digest
    provider: TracerProvider
    doors: Doors
    sampler: SessionSampler
    lost: Lost
    sealed: seal.Seal

    def verify(self) -> None:
        """Prove once more that nothing exports past the trail: libraries may have added processors since.

        Raises:
            TelemetryError: something does; the process must not serve.
        """
        self.sealed.verify()

    def flush(self, seconds: float) -> bool:
        """Send what waits, for so long at most; say whether all of it left."""
        lost, flushed = self.lost.spans, list[bool]()
        # The SDK's own timeout is not kept where a backend does not answer.
        flush = threading.Thread(target=lambda: flushed.append(self.provider.force_flush()), daemon=True)
        flush.start()
        flush.join(seconds)
        return flushed == [True] and self.lost.spans == lost

    def stop(self) -> None:
        """Send what waits, stop exporting, and open the doors."""
        self.provider.shutdown()
        self.doors.open()


def start(
    settings: Settings, provider: TracerProvider | None = None, variables: Mapping[str, str] = os.environ
) -> Telemetry:
    """Close every door but the trail's. `provider` is the global one unless given.

    Raises:
        TelemetryError: something cannot be held to its rules; the process must not serve.
    """
    digest = digest_at(settings.store, settings.region)
    doors = Doors(digest, secrets.token_hex(NONCE_BYTES)).close()
    seal.refuse_opening(variables)
    provider = provider or _provider()
    pruner = Pruner(event_loop=settings.prune_event_loop)
    sampler = SessionSampler(settings.kept_sessions)
    lost = Lost()

    def behind_ours(inner: SpanExporter) -> TrailExporter:
        return TrailExporter(inner, Strip(settings.capture), pruner, sampler, lost)

    provider.add_span_processor(pruner)
    propagation.stamp_sessions(provider)
    sealed = seal.seal(provider, behind_ours, destination.exporter(settings, partial(_secrets, settings.region)))
    if not sealed.exporters:
        notice("trail_not_exported", destination=settings.destination)
    seal.silence_logs_and_metrics()
    propagation.propagate()
    return Telemetry(digest, provider, doors, sampler, lost, sealed)


def _secrets(region: str | None) -> Secrets:
    import boto3  # noqa: PLC0415 - only where the settings name a secret

    client: Secrets = boto3.client("secretsmanager", region_name=region)
    return client


def _provider() -> TracerProvider:
    """Give the global provider; make one where nobody did."""
    current = trace.get_tracer_provider()
    if isinstance(current, ProxyTracerProvider):
        current = TracerProvider(sampler=ALWAYS_ON, resource=Resource.create({SERVICE_NAME: SCOPE}))
        trace.set_tracer_provider(current)
    if not isinstance(current, TracerProvider):
        code = "tracer_provider_unknown"
        raise TelemetryError(code, f"The tracer provider is a {type(current).__name__}, and cannot be sealed.")
    return current
