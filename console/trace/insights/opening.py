"""Open the trail of an environment: find its log group, and the clients that ask for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

import boto3
from botocore import exceptions as aws
from botocore.config import Config

from agent_image.contract import Discovery
from console.aws import told
from console.environment import Environment, find
from console.progress import Progress
from console.trace.insights.calling import Pace
from console.trace.insights.estimate import Scans
from console.trace.insights.insights_trail import Ground, InsightsTrail
from console.trace.insights.running import Runner
from console.trace.plan import Confirm

# We try again ourselves, and say so meanwhile.
_ONCE: Final = Config(connect_timeout=10, read_timeout=60, retries={"total_max_attempts": 1})
_REAL: Final = Pace()


def insights_trail(
    environment: str,
    *,
    since: datetime | None,
    confirm: Confirm,
    progress: Progress,
    clock: Callable[[], datetime],
    pace: Pace = _REAL,
) -> InsightsTrail:
    """Open the trail of an environment, by its name.

    Raises:
        BadInputError: no environment can have this name.
        ConsoleError: it is not found, or there are no credentials.
    """
    found = find(environment)
    region = found.text(Discovery.REGION)
    with told(f"reading the trail of {environment!r} failed"):
        session = boto3.Session()
        logs = session.client("logs", region_name=region, config=_ONCE)
        metrics = session.client("cloudwatch", region_name=region, config=_ONCE)
    return InsightsTrail(
        ground_of(found),
        Runner(logs, pace, progress),
        Scans(metrics, pace, found.text(Discovery.LOG_GROUP), region),
        fetch=lambda pointer: whole_line(logs, pace, pointer),
        confirm=confirm,
        clock=clock,
        since=since,
    )


def ground_of(environment: Environment) -> Ground:
    """Read what the discovery document says of the trail; what it does not say is not known.

    Raises:
        ConsoleError: it names no log group.
    """
    days = environment.document.get(Discovery.RETENTION_DAYS)
    fields = environment.document.get(Discovery.INDEXED_FIELDS)
    return Ground(
        environment.text(Discovery.LOG_GROUP),
        timedelta(days=days) if isinstance(days, int) and days > 0 else None,
        frozenset(map(str, fields)) if isinstance(fields, list) else frozenset(),
    )


def whole_line(client: Any, pace: Pace, pointer: str) -> str | None:  # noqa: ANN401 - a boto3 client has no type
    """Fetch one line by its pointer; None where that is not allowed, or it is not there."""
    try:
        record = pace.patiently(lambda: client.get_log_record(logRecordPointer=pointer))["logRecord"]
    except (aws.ClientError, aws.BotoCoreError):
        return None
    message = record.get("@message")
    return message if isinstance(message, str) else None
