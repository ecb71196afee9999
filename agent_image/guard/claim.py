"""Carry the right to one effect from the gate to the tool: which call, under which key, of whose lease.

The gate sets a claim around the run of a tool that is not green. The claim reaches the tool's own thread, because
contexts are copied into threads and tasks; it lets one run of that tool start, with those arguments and no others.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, TypeVar

from agent_image.errors import NoEffect
from agent_image.guard.canonical import canonical, digest

T = TypeVar("T")


class Unclaimed(NoEffect):
    """Say that nothing lets this call take effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Hold the right to run one call.

    Attributes:
        key: the call's id, which is its idempotency key: the same call has the same key in every attempt.
        fence: the token of the lease under which it runs; a token that has been outdone must take no effect.
        session_id: the session that holds the lease.
        tool: the tool's name.
        digest: over the canonical arguments, see `arguments_digest`.
    """

    key: str
    fence: int
    session_id: str
    tool: str
    digest: str


def arguments_digest(arguments: Mapping[str, Any]) -> str:
    """Digest the arguments of a call: what was approved is what runs.

    Raises:
        NotCanonical: they are not JSON, or too large.
    """
    return digest(canonical(arguments))


@dataclass(slots=True)
class _Held:
    claim: Claim
    taken: bool = False
    lock: Lock = field(default_factory=Lock)

    def take(self) -> bool:
        with self.lock:
            first, self.taken = not self.taken, True
        return first


_HELD: Final[ContextVar[_Held | None]] = ContextVar("claim", default=None)


def current_claim() -> Claim | None:
    """Give the claim under which this code runs."""
    held = _HELD.get()
    return None if held is None else held.claim


def claim_of(tool: str) -> Claim:
    """Give the claim under which a tool runs.

    Raises:
        Unclaimed: there is none, or it is another tool's: one that called this tool on its own account.
    """
    claim = current_claim()
    if claim is None or claim.tool != tool:
        raise Unclaimed("unclaimed", "This tool has no effect unless the guard lets its call run.")
    return claim


def take_claim(tool: str, arguments_digest: str) -> Claim:
    """Start the one run that a claim is good for.

    Raises:
        Unclaimed: there is no claim, it is another call's, or it was taken before.
    """
    claim = claim_of(tool)
    if claim.digest != arguments_digest:
        raise Unclaimed("arguments_changed", "The arguments are not those that the guard let run.")
    held = _HELD.get()
    if held is None or not held.take():
        raise Unclaimed("claim_taken", "This call has run: what let it run lets nothing run again.")
    return claim


@contextmanager
def claimed(claim: Claim) -> Iterator[None]:
    """Run what stands inside under a claim."""
    with _holding(_Held(claim)):
        yield


async def carried(claim: Claim, events: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Run a stream under a claim, and nothing else: between its events the consumer's code holds none.

    A generator shares the context of whoever iterates it, so that `claimed` around a `yield` would leak.
    """
    held = _Held(claim)
    try:
        while True:
            with _holding(held):
                try:
                    event = await anext(events)
                except StopAsyncIteration:
                    return
            yield event
    finally:
        with _holding(held):
            await events.aclose()


@contextmanager
def _holding(held: _Held) -> Iterator[None]:
    token = _HELD.set(held)
    try:
        yield
    finally:
        _HELD.reset(token)
