"""Run command hooks: programs that read a context as JSON, and answer with JSON or by how they end.

A hook's environment holds nothing of the agent's, its folder is its own, and no process of it is left when it is over.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from agent_image.guard.verdict import Say
from agent_image.hooks.answer import cut, read_answer
from agent_image.hooks.exchange import Ended, Order, exchange
from agent_image.hooks.hook import Hook, HookEvent, HookFailed, HookFault, Said
from agent_image.hooks.interpreter import arguments_of, environment_of
from agent_image.hooks.output import readable
from agent_image.hooks.supervisors import Supervisors

REFUSED: Final = 2
"""The exit status that refuses; what the hook wrote to its standard error is why."""
_EXITS: Final[Mapping[int, HookFault]] = MappingProxyType({126: HookFault.NOT_EXECUTABLE, 127: HookFault.MISSING})
"""Exit statuses by which a shell says that it could not run something; all others are the hook's own."""
_ERRORS: Final[Mapping[str, HookFault]] = MappingProxyType(
    {"ENOENT": HookFault.MISSING, "EACCES": HookFault.NOT_EXECUTABLE, "ENOEXEC": HookFault.NOT_EXECUTABLE}
)
_DETAIL_LIMIT: Final = 500


class CommandHooks:
    """Run command hooks, any number at once, each in the thread that asks for it."""

    def __init__(self) -> None:
        """Start nothing before the first hook."""
        self._supervisors = Supervisors()

    def run(self, hook: Hook, context: Mapping[str, Any], folder: Path, gone: Callable[[], bool]) -> Said:
        """Run a hook to the end of all its processes, and give what it says.

        Args:
            hook: a command hook.
            context: what it reads.
            folder: the hook's own, in which it works; whoever calls makes and removes it.
            gone: tells whether nobody waits any more; asked ten times a second.

        Raises:
            HookFailed: it says nothing that counts. The detail may hold the end of what it wrote to its standard error.
        """
        text = _encoded(context)
        order = Order(arguments_of(hook, folder), environment_of(folder), folder)
        return said_of(exchange(self._supervisors, order, text, hook.timeout, gone), hook.event)

    def close(self) -> None:
        """End what runs, and every process of this; no hook runs afterwards."""
        self._supervisors.close()


def said_of(ended: Ended, event: HookEvent) -> Said:
    """Read how a hook ended.

    Raises:
        HookFailed: neither as one that allows, nor as one that refuses.
    """
    if ended.error:
        raise HookFailed(_ERRORS.get(ended.error, HookFault.BROKEN), f"The hook could not be started ({ended.error}).")
    if ended.status is None:
        raise HookFailed(HookFault.ABANDONED, "Hooks were closed while this one ran.")
    if os.WIFSIGNALED(ended.status):
        raise HookFailed(HookFault.SIGNAL, _with(f"The hook was ended by {_signal(ended.status)}.", ended.err))
    code = os.waitstatus_to_exitcode(ended.status)
    if code == REFUSED:
        return Said(say=Say.DENY, reason=cut(readable(ended.err)))
    if code:
        raise HookFailed(_EXITS.get(code, HookFault.EXIT), _with(f"The hook ended with status {code}.", ended.err))
    if not ended.out.strip():
        return Said()
    try:
        return read_answer(ended.out.decode(), event)
    except UnicodeDecodeError:
        raise HookFailed(HookFault.MALFORMED, "The answer is not UTF-8.") from None


def _encoded(context: Mapping[str, Any]) -> bytes:
    """Give a context as one line of JSON."""
    try:
        text = json.dumps(dict(context), ensure_ascii=False, allow_nan=False)
        try:
            return text.encode() + b"\n"
        except UnicodeEncodeError:
            # Half characters, which UTF-8 cannot write and JSON can.
            return json.dumps(dict(context), allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError):
        raise HookFailed(HookFault.BROKEN, "The context cannot be written as JSON.") from None


def _with(sentence: str, err: bytes) -> str:
    text = readable(err)
    return f"{sentence} {text[-_DETAIL_LIMIT:]}" if text else sentence


def _signal(status: int) -> str:
    number = os.WTERMSIG(status)
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
