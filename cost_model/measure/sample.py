"""Ask the trail itself: what spans and other lines are of a day, and how many sessions there were.

Both are Logs Insights queries that read every byte of their window: what that costs is said before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from agent_image.contract import SPAN_DATA_FORMAT
from cost_model.aws import told
from cost_model.errors import AwsError, MeasureError
from cost_model.faults import shown
from cost_model.measure.incoming import Window
from cost_model.measure.query_shape import OWN_MARK

SPLIT_QUERY: Final = (
    f"{OWN_MARK}\nstats count(*) as lines, sum(strlen(@message)) as characters, "
    "count_distinct(attributes.session.id) as sessions by @data_format"
)
SESSIONS_QUERY: Final = f"{OWN_MARK}\nstats count_distinct(attributes.session.id) as sessions"
_PAUSES: Final = (0.25, 0.5, 1.0, 2.0)
_LONGEST_SECONDS: Final = 900.0
_OPEN: Final = frozenset({"Scheduled", "Running"})
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Split:
    """Hold what a day's lines are.

    Attributes:
        window: the day.
        span_share: the part of the bytes that spans are; from 0 to 1.
        spans: their number.
        sessions: sessions that left spans; Logs Insights counts many of them approximately.
    """

    window: Window
    span_share: Decimal
    spans: Decimal
    sessions: Decimal

    @property
    def spans_per_session(self) -> Decimal | None:
        """Average spans over sessions; None where there was none."""
        return self.spans / self.sessions if self.sessions else None


@dataclass(frozen=True, slots=True)
class Sampler:
    """Run queries in a log group; `wait` takes seconds."""

    client: Any
    group: str
    wait: Callable[[float], None] = time.sleep

    def split(self, day: Window) -> Split:
        """Tell spans from other lines in one day.

        Raises:
            AwsError: the query fails.
            MeasureError: nothing is found.
        """
        rows = self._rows(SPLIT_QUERY, day)
        numbers = [
            (row.get("@data_format", ""), {key: _number(row, key) for key in ("lines", "characters", "sessions")})
            for row in rows
        ]
        whole = sum((number["characters"] for _, number in numbers), Decimal(0))
        spans = next((number for kind, number in numbers if kind == SPAN_DATA_FORMAT), None)
        if spans is None or not whole:
            message = (
                f"{self.group}: no span is of {day.first}: it cannot tell spans from other lines; leave out --split"
            )
            raise MeasureError(message)
        return Split(day, spans["characters"] / whole, spans["lines"], spans["sessions"])

    def sessions(self, window: Window) -> Decimal:
        """Count the sessions of a window.

        Raises:
            AwsError: the query fails.
            MeasureError: there were none.
        """
        rows = self._rows(SESSIONS_QUERY, window)
        counted = _number(rows[0], "sessions") if rows else Decimal(0)
        if not counted:
            message = f"{self.group}: no session from {window.first} to {window.last}: leave out --count-sessions"
            raise MeasureError(message)
        return counted

    def _rows(self, text: str, window: Window) -> list[Row]:
        start, end = window.moments
        with told("starting a query failed", "logs:StartQuery"):
            # The end is within the window: the next day's first second is not.
            answer = self.client.start_query(
                logGroupName=self.group,
                startTime=int(start.timestamp()),
                endTime=int(end.timestamp()) - 1,
                queryString=text,
            )
        query_id = str(answer["queryId"])
        done = False
        try:
            found = self._ended(query_id)
            done = True
        finally:
            if not done:
                self._stop(query_id)
        return [{cell.get("field", ""): cell.get("value", "") for cell in row} for row in found]

    def _ended(self, query_id: str) -> list[list[dict[str, str]]]:
        waited, polls = 0.0, 0
        while True:
            with told("reading a query's result failed", "logs:GetQueryResults"):
                answer = self.client.get_query_results(queryId=query_id)
            status = answer.get("status")
            if status == "Complete":
                results: list[list[dict[str, str]]] = answer.get("results", [])
                return results
            if status not in _OPEN or waited > _LONGEST_SECONDS:
                reason = f"ended as {status}" if status not in _OPEN else "runs too long, and was stopped"
                message = f"a query of {self.group} {reason}: measure fewer --days"
                raise AwsError(message)
            pause = _PAUSES[min(polls, len(_PAUSES) - 1)]
            self.wait(pause)
            waited, polls = waited + pause, polls + 1

    def _stop(self, query_id: str) -> None:
        """Leave no query behind that nobody waits for."""
        try:
            with told("stopping a query failed", "logs:StopQuery"):
                self.client.stop_query(queryId=query_id)
        except AwsError:
            return


def _number(row: Row, key: str) -> Decimal:
    try:
        number = Decimal(row.get(key) or "0")
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number < 0:
        message = f"Logs Insights answered {shown(row.get(key))} for {key}: that is no number of things"
        raise AwsError(message)
    return number
