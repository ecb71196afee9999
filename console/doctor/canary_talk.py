"""Ask the deployed agent a question that holds a word of its own, and look for the word in the agent's log group."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

import boto3

from agent_image.contract import Kind, Span
from console.aws import told
from console.deployed_agent import agent_of
from console.doctor.account import Failed, Found, Heard
from console.doctor.arrival import STREAM
from console.doctor.canary import forms, question
from console.doctor.declared import Declared
from console.doctor.question import Client, every
from console.environment import Environment
from console.errors import ConsoleError
from console.progress import Progress
from console.reply import Invoke, events

WAIT_SECONDS: Final = 180
"""How long spans are waited for."""
PAUSE_SECONDS: Final = 10
"""How long to wait before the group is searched again."""
_SYLLABLES: Final = 10
_EARLIER: Final = timedelta(minutes=1)
"""Clocks differ: events count from a little before the question."""


def new_word() -> str:
    """Draw a word that nobody says: letters alone, so that nothing masks or redacts it as a number."""
    return "".join(secrets.choice("bdfgklmnprstvz") + secrets.choice("aeiou") for _ in range(_SYLLABLES))


def speak(
    environment: Environment,
    declared: Declared,
    word: str,
    *,
    clock: Callable[[], datetime],
    pause: Callable[[float], object],
    progress: Progress,
) -> Heard:
    """Ask, wait until the invocation's span has come, and search the group for every form of the word.

    Raises:
        ConsoleError: no client can be made.
    """
    session_id, begun = str(uuid4()), clock()
    progress("asking the agent the canary's question")
    failed = _asked(agent_of(environment), word, session_id)
    if failed is not None:
        return Heard(word, session_id, failed=failed)
    with told("searching the log group failed"):
        logs = boto3.Session().client("logs", region_name=declared.region)
    with closing(logs):
        search = Search(logs, declared.log_group, begun - _EARLIER)
        return _listen(search, declared, Heard(word, session_id), pause=pause, progress=progress)


class Search:
    """Search a log group from one moment on."""

    def __init__(self, logs: Client, group: str, since: datetime) -> None:
        """Take the client, the group and the moment."""
        self._logs, self._group, self._since = logs, group, int(since.timestamp() * 1000)

    def holding(self, *texts: str) -> tuple[Found, ...] | Failed:
        """Find the events that hold one of several texts: letters, digits and hyphens alone."""
        found = every(
            "logs:FilterLogEvents",
            self._logs.filter_log_events,
            "events",
            logGroupName=self._group,
            startTime=self._since,
            filterPattern=f"%{'|'.join(texts)}%",
        )
        if isinstance(found, Failed):
            return found
        return tuple(event for event in found if any(text in str(event.get("message")) for text in texts))


def _asked(invoke: Invoke, word: str, session_id: str) -> str | None:
    """Ask; give why there was no answer. What the answer says does not matter, nor that it is a refusal."""
    try:
        with invoke(json.dumps({Kind.PROMPT: question(word)}).encode(), session_id) as reply:
            for _ in events(reply):
                pass
    except ConsoleError as error:
        return str(error)
    return None


def _listen(
    search: Search, declared: Declared, asked: Heard, *, pause: Callable[[float], object], progress: Progress
) -> Heard:
    waited, arrived = 0, False
    while not arrived and waited < WAIT_SECONDS:
        pause(PAUSE_SECONDS)
        waited += PAUSE_SECONDS
        progress(f"waiting for the spans of the canary's session: {waited} s of at most {WAIT_SECONDS}")
        found = search.holding(asked.session_id)
        if isinstance(found, Failed):
            return replace(asked, waited_seconds=waited, search=found)
        arrived = any(_closes(declared, event) for event in found)
    # What left in the same batch as the invocation's span may be stored a little after it.
    pause(PAUSE_SECONDS)
    hits = search.holding(*forms(asked.word))
    if isinstance(hits, Failed):
        return replace(asked, arrived=arrived, waited_seconds=waited, search=hits)
    streams = tuple(str(event.get("logStreamName")) for event in hits)
    return replace(asked, arrived=arrived, waited_seconds=waited, hits=streams)


def _closes(declared: Declared, event: Found) -> bool:
    """Tell whether an event is the invocation's span, which is written last; elsewhere any line of the session."""
    if not declared.to_cloudwatch:
        return True
    return event.get("logStreamName") == STREAM and Span.OUTCOME in str(event.get("message"))
