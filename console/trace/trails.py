"""Open the trail of an agent: the state folder of this machine's, or CloudWatch Logs of a deployed one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from console.moments import now
from console.progress import Progress, no_progress
from console.trace.folder_trail import FolderTrail
from console.trace.plan import Confirm
from console.trace.trail import Trail
from console.where import Where


def trail_at(
    where: Where,
    *,
    since: datetime | None,
    confirm: Confirm,
    progress: Progress = no_progress,
    clock: Callable[[], datetime] = now,
) -> Trail:
    """Open a trail.

    Args:
        where: whose trail it is.
        since: how far to look back; None begins with a narrow window and widens it.
        confirm: is asked before a query that no index answers.
        progress: is told what takes its time.
        clock: tells the time, in UTC.

    Raises:
        BadInputError: no environment can have this name.
        ConsoleError: the environment is not found.
    """
    if where.environment is None:
        return FolderTrail(where.state, since=since, progress=progress)
    # boto3 takes longer to import than a local trail takes to read.
    from console.trace.insights.opening import insights_trail  # noqa: PLC0415

    return insights_trail(where.environment, since=since, confirm=confirm, progress=progress, clock=clock)
