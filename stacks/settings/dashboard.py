"""Define the table `[dashboard]`."""

from __future__ import annotations

from pydantic import Field

from stacks.settings.record import Record


class Dashboard(Record):
    """Whether the environment has a dashboard."""

    enabled: bool = Field(
        default=True,
        description="Declare a dashboard, and the metrics that only it reads; both are charged by the month.",
    )
