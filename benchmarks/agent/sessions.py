"""Measure sessions of the agent image, in each regime, and of the peer."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Final

from agent_image.contract import Regime
from benchmarks.agent.exported import Exported, exported
from benchmarks.agent.process import Running, ours, peer, running
from benchmarks.agent.records import records
from benchmarks.agent.workload import QUESTION, bedrock
from tests.agent_image.telemetry.sink import listening
from tests.loopback.bedrock import speaking

TURNS: Final = 10
SESSIONS: Final = 20
STARTS: Final = 5
EXPORT_SECONDS: Final = 6.0
"""How long ADOT may hold spans before it sends them, and a little more."""

Agent = tuple[list[str], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Cost:
    """Hold what an agent takes: its fastest start, else medians over starts; processor time is of one session."""

    start_seconds: float
    idle_mib: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """Hold what one session leaves, by regime, what the peer leaves, and what ten turns of one session leave.

    Attributes:
        records: what one session takes of the table and the audit's bucket, by the keys of `[usage]`.
    """

    regimes: Mapping[Regime, Exported]
    peer: Exported
    ten_turns: Exported
    records: Mapping[str, Decimal] = field(default_factory=dict)


class Ground:
    """Hold the stand-in for Bedrock, and start agents that use it."""

    def __init__(self, bedrock_url: str, folder: Path) -> None:
        """Take where Bedrock is, and a folder for archives."""
        self._bedrock = bedrock_url
        self._folder = folder

    def ours(self, regime: Regime) -> Agent:
        """Start our agent in a regime, with an empty archive."""
        return ours(regime, self._bedrock, Path(tempfile.mkdtemp(dir=self._folder)))

    def peer(self) -> Agent:
        """Start the peer."""
        return peer(self._bedrock)


@contextmanager
def ground() -> Iterator[Ground]:
    """Let Bedrock speak until the block ends."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        yield Ground(stack.enter_context(speaking(bedrock())).url, Path(folder))


def sizes(on: Ground) -> Sizes:
    """Measure the bytes of sessions."""
    return Sizes(
        regimes={regime: _left_by(on.ours(regime), _one_session) for regime in Regime},
        peer=_left_by(on.peer(), _one_session, settle_seconds=EXPORT_SECONDS),
        ten_turns=_left_by(on.ours(Regime.ADDRESS), _ten_turns),
        records=records(on.ours(Regime.ADDRESS)),
    )


def costs(*agents: Callable[[], Agent]) -> list[Cost]:
    """Measure start-up, memory and processor time; the first session warms up and does not count.

    The agents start in turns: what else the machine does then is no advantage of one of them.
    """
    rounds = [[_cost_of(*agent()) for agent in agents] for _ in range(STARTS)]
    return [_of_rounds(found) for found in zip(*rounds, strict=True)]


def _of_rounds(found: Sequence[Cost]) -> Cost:
    return Cost(
        # What a start waits for beside itself is the machine's.
        min(one.start_seconds for one in found),
        statistics.median(one.idle_mib for one in found),
        statistics.median(one.cpu_seconds for one in found),
    )


def _cost_of(arguments: list[str], variables: Mapping[str, str]) -> Cost:
    with listening() as sink, running(arguments, variables, sink.url) as agent:
        idle = agent.resident_mib
        agent.ask(QUESTION, _session(0))
        before = agent.cpu_seconds
        for number in range(SESSIONS):
            agent.ask(QUESTION, _session(number + 1))
        return Cost(agent.start_seconds, idle, (agent.cpu_seconds - before) / SESSIONS)


def _left_by(agent: Agent, asking: Callable[[Running], None], settle_seconds: float = 0) -> Exported:
    with listening() as sink, tempfile.TemporaryFile() as output:
        arguments, variables = agent
        with running(arguments, variables, sink.url, output) as process:
            asking(process)
            # Ours sends what waits when it is told to end; the peer would lose it.
            time.sleep(settle_seconds)
        output.seek(0)
        return exported(sink.requests, output.read())


def _one_session(agent: Running) -> None:
    agent.ask(QUESTION, _session(1))


def _ten_turns(agent: Running) -> None:
    for _ in range(TURNS):
        agent.ask(QUESTION, _session(1))


def _session(number: int) -> str:
    return f"session-{number:032}"
