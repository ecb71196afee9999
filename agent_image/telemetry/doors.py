"""Guard the doors by which text leaves beside spans: log records, what is printed, exceptions, warnings.

Of any text its length and keyed digest leave; of a log record also level, logger, place and the exception's type. All
of it goes out as notices. What else a library's formatter adds does not.
"""

from __future__ import annotations

import io
import logging
import re
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import PurePath
from types import TracebackType
from typing import Any, Final, Self, TextIO

from agent_image.digest import Digest
from agent_image.notice import notice

Tell = Callable[..., None]
ExceptionInfo = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]

LINE_LIMIT: Final = 2**16
"""Characters that wait for the end of their line."""
FIELDS: Final = ("level", "logger", "at", "exception", "bytes", "digest")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.:/<>-]")
NONE: Final = "-"


class Marks:
    """Mark what a log record may say, so that the guard of the streams finds it whatever was formatted around it."""

    def __init__(self, nonce: str) -> None:
        """Take a text that nobody else knows: who knows it can pass text."""
        self._mark = f"<{nonce}>"
        self._marked = re.compile(re.escape(self._mark) + r"([^ \n]*(?: [^ \n]*){5})" + re.escape(self._mark))

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
        self._before: dict[str, Any] = {}

    def close(self) -> Self:
        """Let no text out from here on."""
        self._before = {
            "factory": logging.getLogRecordFactory(),
            "sys": {name: getattr(sys, name) for name in ("stdout", "stderr", "__stdout__", "__stderr__")},
            "excepthook": sys.excepthook,
            "unraisablehook": sys.unraisablehook,
            "threading": threading.excepthook,
            "showwarning": warnings.showwarning,
        }
        logging.setLogRecordFactory(self._factory(self._before["factory"]))
        for name, stream in self._before["sys"].items():
            setattr(sys, name, GuardedStream(stream, name.strip("_"), self._printed))
        sys.excepthook = lambda *error: self._raised("uncaught", error)
        sys.unraisablehook = lambda args: self._raised(
            "unraisable", (args.exc_type, args.exc_value, args.exc_traceback)
        )
        threading.excepthook = self._in_thread
        warnings.showwarning = self._warned
        return self

    def open(self) -> None:
        """Put everything back as it was."""
        logging.setLogRecordFactory(self._before["factory"])
        for name, stream in self._before["sys"].items():
            getattr(sys, name).flush()
            setattr(sys, name, stream)
        sys.excepthook = self._before["excepthook"]
        sys.unraisablehook = self._before["unraisablehook"]
        threading.excepthook = self._before["threading"]
        warnings.showwarning = self._before["showwarning"]

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
        _, value, trace = error
        self._tell(code, exception=_type_of(error), at=_place(trace), **self._measure(_text(value)))

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


class GuardedStream(io.TextIOBase):
    """Stand in for a text stream: whole lines go to the guard, and none to the stream."""

    def __init__(self, stream: TextIO, name: str, printed: Callable[[str, str], None]) -> None:
        """Take the stream that answers what it is, its name, and what is told of each text."""
        self._stream = stream
        self._name = name
        self._printed = printed
        self._lock = threading.RLock()
        self._waiting = ""
        self.buffer = GuardedBytes(self)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Name the stream's encoding."""
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        """Say what happens to characters that the encoding does not know."""
        return "replace"

    @property
    def name(self) -> str:
        """Name the stream, as the one it stands for does."""
        return f"<{self._name}>"

    def writable(self) -> bool:
        """Say that it takes text."""
        return True

    def isatty(self) -> bool:
        """Say whether a terminal stands behind it."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Give the file behind it."""
        return self._stream.fileno()

    def reconfigure(self, **_: object) -> None:
        """Change nothing: what leaves is ASCII."""

    def write(self, text: str) -> int:
        """Take text; whole lines of one call are one text."""
        with self._lock:
            whole, end, rest = (self._waiting + text).rpartition("\n")
            self._waiting = rest
            if end:
                self._printed(self._name, whole)
            if len(self._waiting) > LINE_LIMIT:
                self.flush()
        return len(text)

    def flush(self) -> None:
        """Tell of a line that has not ended yet."""
        with self._lock:
            waiting, self._waiting = self._waiting, ""
            if waiting:
                self._printed(self._name, waiting)

    def close(self) -> None:
        """Tell of what waits; the stream itself stays as it is."""
        self.flush()


class GuardedBytes(io.RawIOBase):
    """Stand in for the bytes below a text stream."""

    def __init__(self, text: GuardedStream) -> None:
        """Take the text stream that guards them."""
        self._text = text

    def writable(self) -> bool:
        """Say that it takes bytes."""
        return True

    def fileno(self) -> int:
        """Give the file behind it."""
        return self._text.fileno()

    def write(self, data: Any) -> int:  # noqa: ANN401 - anything that has bytes
        """Take bytes, as text."""
        taken = bytes(data)
        self._text.write(taken.decode("utf-8", "replace"))
        return len(taken)

    def flush(self) -> None:
        """Tell of a line that has not ended yet."""
        self._text.flush()

    def close(self) -> None:
        """Stay open: the text stream is."""


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


def _place(trace: TracebackType | None) -> str:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return NONE if trace is None else f"{PurePath(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - an exception's own text may raise
        return ""
