"""Guard the doors by which text leaves beside spans: log records, what is printed, exceptions, warnings.

Of any text its length and keyed digest leave; of a log record also level, logger, place and the exception's type. All
of it goes out as notices. What else a library's formatter adds does not.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import PurePath
from types import TracebackType
from typing import Any, Final, Self, TextIO

from opentelemetry import trace
from opentelemetry.trace import format_trace_id

from agent_image.digest import Digest
from agent_image.errors import AgentError
from agent_image.notice import notice
from agent_image.telemetry.guarded_stream import GuardedStream

Tell = Callable[..., None]
ExceptionInfo = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]

STREAMS: Final = ("stdout", "stderr", "__stdout__", "__stderr__")
FIELDS: Final = ("level", "logger", "at", "exception", "trace_id", "bytes", "digest")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.:/<>-]")
NONE: Final = "-"


class Marks:
    """Mark what a log record may say, so that the guard of the streams finds it whatever was formatted around it."""

    def __init__(self, nonce: str) -> None:
        """Take a text that nobody else knows: who knows it can pass text."""
        self._mark = f"<{nonce}>"
        self._marked = re.compile(re.escape(self._mark) + r"([^ \n]*(?: [^ \n]*){6})" + re.escape(self._mark))

    def message(self, *fields: str) -> str:
        """Give a record's message."""
        return self._mark + " ".join(_UNSAFE.sub("_", field) or NONE for field in fields) + self._mark

    def records(self, text: str) -> list[dict[str, str | int]]:
        """Find the marked messages in a text."""
        return [self._record(found.group(1).split(" ")) for found in self._marked.finditer(text)]

    def _record(self, fields: list[str]) -> dict[str, str | int]:
        record: dict[str, str | int] = {key: value for key, value in zip(FIELDS, fields, strict=True) if value != NONE}
        return record | {"bytes": int(record["bytes"])}


class Doors:
    """Close the doors of this process, and open them again."""

    def __init__(self, digest: Digest, nonce: str, tell: Tell = notice) -> None:
        """Take the digest for texts, a secret of this process, and the way to tell an operator."""
        self._digest = digest
        self._marks = Marks(nonce)
        self._tell = tell
        self._reopen = ExitStack()

    def close(self) -> Self:
        """Let no text out from here on."""
        # Without its text, what is no warning says nothing, and every line is paid for.
        self._reopen.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.INFO)
        before = logging.getLogRecordFactory()
        logging.setLogRecordFactory(self._factory(before))
        self._reopen.callback(logging.setLogRecordFactory, before)
        for name in STREAMS:
            self._guard(name)
        self._replace(sys, "excepthook", lambda *error: self._raised("uncaught", error))
        self._replace(sys, "unraisablehook", self._unraisable)
        self._replace(threading, "excepthook", self._in_thread)
        self._replace(warnings, "showwarning", self._warned)
        return self

    def open(self) -> None:
        """Put everything back as it was."""
        self._reopen.close()

    def _replace(self, owner: object, name: str, value: object) -> None:
        self._reopen.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)

    def _guard(self, name: str) -> None:
        """Guard a stream, for whoever asks for it and for the log handlers that asked before us."""
        stream = getattr(sys, name)
        guarded = GuardedStream(stream, name.strip("_"), self._printed)
        self._replace(sys, name, guarded)
        self._reopen.callback(guarded.flush)
        for handler in stream_handlers():
            if handler.stream is stream:
                handler.setStream(guarded)
                self._reopen.callback(handler.setStream, stream)

    def __enter__(self) -> Self:
        """Close the doors."""
        return self.close()

    def __exit__(self, *_: object) -> None:
        """Open the doors."""
        self.open()

    def _factory(self, before: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
        def record(*args: Any, **named: Any) -> logging.LogRecord:
            made = before(*args, **named)
            said = _said(made)
            made.msg = self._marks.message(
                made.levelname,
                made.name,
                f"{PurePath(made.pathname).name}:{made.lineno}",
                _type_of(made.exc_info),
                _trace(),
                str(len(said.encode("utf-8", "replace"))),
                self._digest.of(said),
            )
            made.args, made.exc_info, made.exc_text, made.stack_info = (), None, None, None
            return made

        return record

    def _printed(self, stream: str, text: str) -> None:
        for record in (records := self._marks.records(text)):
            self._tell("log", **record)
        if not records and text.strip():
            self._tell("printed", stream=stream, **self._measure(text.strip()))

    def _raised(self, code: str, error: ExceptionInfo) -> None:
        _, value, frames = error
        ours = {"code": value.code} if isinstance(value, AgentError) else {}
        self._tell(code, exception=_type_of(error), at=_place(frames), **ours, **self._measure(_text(value)))

    def _unraisable(self, args: Any) -> None:  # noqa: ANN401 - the hook's own signature
        self._raised("unraisable", (args.exc_type, args.exc_value, args.exc_traceback))

    def _in_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_type is not SystemExit:
            self._raised("uncaught", (args.exc_type, args.exc_value, args.exc_traceback))

    def _warned(  # noqa: PLR0917 - the hook's own signature
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,  # noqa: ARG002
        line: str | None = None,  # noqa: ARG002
    ) -> None:
        at = f"{PurePath(filename).name}:{lineno}"
        self._tell("warning", exception=category.__name__, at=at, **self._measure(_text(message)))

    def _measure(self, text: str) -> dict[str, str | int]:
        return {"bytes": len(text.encode("utf-8", "replace")), "digest": self._digest.of(text)}


def stream_handlers() -> list[logging.StreamHandler[Any]]:
    """Give the handlers of all loggers that write to a stream."""
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    handlers = [handler for logger in loggers if isinstance(logger, logging.Logger) for handler in logger.handlers]
    return [handler for handler in handlers if isinstance(handler, logging.StreamHandler)]


def _said(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - whatever a record's arguments raise, a log line raises nothing
        return str(record.msg)


def _type_of(error: object) -> str:
    match error:
        case (type() as kind, *_):
            return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        case _:
            return NONE


def _trace() -> str:
    context = trace.get_current_span().get_span_context()
    return format_trace_id(context.trace_id) if context.is_valid else NONE


def _place(frames: TracebackType | None) -> str:
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    return NONE if frames is None else f"{PurePath(frames.tb_frame.f_code.co_filename).name}:{frames.tb_lineno}"


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - an exception's own text may raise
        return ""
