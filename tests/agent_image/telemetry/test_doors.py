"""Text that is logged, printed, raised or warned of stays in the process; its length and digest leave."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry import trace

from agent_image.digest import Digest
from agent_image.errors import KnowledgeBaseError
from agent_image.notice import line
from agent_image.telemetry.doors import Doors, Marks
from agent_image.telemetry.guarded_stream import LINE_LIMIT, GuardedStream
from tests.agent_image.telemetry.spans import provider

TEXT = "what a person said, só aqui"
DIGEST = Digest(b"k" * 32)
MEASURE = {"bytes": len(TEXT.encode()), "digest": DIGEST.of(TEXT)}
NONCE = "0123456789abcdef"


class Told(list[tuple[str, dict[str, Any]]]):
    def __call__(self, code: str, /, **facts: Any) -> None:
        self.append((code, facts))


@pytest.fixture
def told() -> Iterator[Told]:
    """Close the doors for one test, and listen at what is told."""
    heard = Told()
    with Doors(DIGEST, NONCE, heard):
        yield heard


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    """A library's logger, which writes where the process writes."""
    made = logging.getLogger("library.part")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(secret)s - %(message)s", defaults={"secret": TEXT}))
    made.addHandler(handler)
    made.propagate = False
    yield made
    made.removeHandler(handler)
    made.propagate = True


def test_a_log_record_says_where_and_how_much(told: Told, logger: logging.Logger) -> None:
    """Level, logger, place; whatever else its formatter adds stays here."""
    logger.warning("said: %s", TEXT, extra={"secret": TEXT})

    ((code, facts),) = told
    place = facts.pop("at")
    said = f"said: {TEXT}"
    assert (code, facts) == (
        "log",
        {"level": "WARNING", "logger": "library.part", "bytes": len(said.encode()), "digest": DIGEST.of(said)},
    )
    assert place.startswith("test_doors.py:")


def test_a_logged_exception_says_its_type_and_its_trace(told: Told, logger: logging.Logger) -> None:
    """Never its text, and never the lines that led there."""
    with provider().get_tracer("x").start_as_current_span("work") as span:
        try:
            fail(LookupError(TEXT))
        except LookupError:
            logger.exception(TEXT, stack_info=True)

    ((_, facts),) = told
    assert facts["exception"] == "LookupError"
    assert facts["trace_id"] == trace.format_trace_id(span.get_span_context().trace_id)
    assert facts["digest"] == DIGEST.of(TEXT)
    assert TEXT not in str(told)


def test_a_record_that_cannot_be_rendered_is_told_all_the_same(told: Told, logger: logging.Logger) -> None:
    """A library's own mistake does not print the record."""
    logger.warning("%d", TEXT)

    ((code, facts),) = told
    assert (code, facts["digest"]) == ("log", DIGEST.of("%d"))


def test_what_is_no_warning_is_not_told(told: Told, logger: logging.Logger) -> None:
    """Without its text it says nothing, and each line is paid for."""
    logger.setLevel(logging.DEBUG)
    logger.info(TEXT)
    logger.debug(TEXT)

    assert told == []


def test_no_handler_sees_a_text(told: Told) -> None:
    """Not even one that reads the record itself."""
    seen: list[logging.LogRecord] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record)

    logging.getLogger("library").addHandler(handler := Handler())
    try:
        fail(ValueError(TEXT))
    except ValueError:
        logging.getLogger("library").exception("%s", TEXT, stack_info=True)
    finally:
        logging.getLogger("library").removeHandler(handler)

    (record,) = seen
    assert TEXT not in str({**vars(record), "message": record.getMessage()})
    assert (record.exc_info, record.stack_info, record.args) == (None, None, ())
    assert all(code == "log" for code, _ in told)


def test_handlers_that_were_there_before_write_to_the_guard() -> None:
    """The distribution sets logging up before our code runs."""
    stream = sys.stderr
    logging.getLogger("early").addHandler(handler := logging.StreamHandler(stream))
    heard = Told()
    try:
        with Doors(DIGEST, NONCE, heard):
            logging.getLogger("early").warning(TEXT)
        assert handler.stream is stream
    finally:
        logging.getLogger("early").removeHandler(handler)

    assert [code for code, _ in heard] == ["log"]


@pytest.mark.parametrize("name", ["stdout", "stderr", "__stdout__", "__stderr__"])
def test_what_is_printed_says_how_much(name: str) -> None:
    """One line, one text; the interpreter's own streams are no way around."""
    with Doors(DIGEST, NONCE, told := Told()):
        stream = getattr(sys, name)
        print(TEXT, file=stream)
        stream.write("\n  \n")
        stream.write(TEXT)
        stream.flush()
        stream.buffer.write(TEXT.encode() + b"\n")
        stream.buffer.flush()
        stream.writelines([TEXT, "\n"])

    assert told == [("printed", {"stream": name.strip("_"), **MEASURE})] * 4


def test_what_a_line_without_end_holds_is_told_when_the_doors_open() -> None:
    """Nothing waits for ever."""
    with Doors(DIGEST, NONCE, told := Told()):
        sys.stdout.write(TEXT)
        assert told == []

    assert told == [("printed", {"stream": "stdout", **MEASURE})]


def test_a_line_without_end_is_told_in_parts() -> None:
    """A progress bar never ends its line, and must not fill the memory."""
    with Doors(DIGEST, NONCE, told := Told()):
        for _ in range(100):
            sys.stdout.write("x" * 1_000)

        assert told
        assert told[0][1]["bytes"] > LINE_LIMIT


def test_the_streams_answer_what_they_are() -> None:
    """Libraries ask before they colour, buffer or fork."""
    with Path(os.devnull).open("w", encoding="utf-8") as stream:
        guarded = GuardedStream(stream, "stdout", lambda *_: None)
        assert (guarded.isatty(), guarded.fileno()) == (stream.isatty(), stream.fileno())
        assert guarded.buffer.fileno() == stream.fileno()

    assert (guarded.writable(), guarded.readable(), guarded.seekable()) == (True, False, False)
    assert (guarded.encoding, guarded.errors, guarded.name) == ("utf-8", "replace", "<stdout>")
    assert (guarded.mode, guarded.line_buffering) == ("w", True)


def test_what_wraps_or_closes_a_stream_does_not_end_it() -> None:
    """The stream belongs to the process."""
    told: list[tuple[str, str]] = []
    with Path(os.devnull).open("w", encoding="utf-8") as stream:
        guarded = GuardedStream(stream, "stdout", lambda name, text: told.append((name, text)))
        guarded.reconfigure(encoding="latin-1")
        with io.TextIOWrapper(guarded.buffer, encoding="utf-8") as wrapped:
            wrapped.write("a text\n")
        guarded.close()
        guarded.write("another\n")

        assert told == [("stdout", "a text"), ("stdout", "another")]
        assert not guarded.closed
        assert not stream.closed


def test_an_uncaught_exception_says_its_type_and_place(told: Told) -> None:
    """In the main thread and in others; SystemExit is no failure."""
    try:
        fail(ValueError(TEXT))
    except ValueError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    for raised in (ZeroDivisionError(TEXT), SystemExit(TEXT)):
        thread = threading.Thread(target=fail, args=(raised,))
        thread.start()
        thread.join()

    assert [(code, facts["exception"], facts["digest"]) for code, facts in told] == [
        ("uncaught", "ValueError", DIGEST.of(TEXT)),
        ("uncaught", "ZeroDivisionError", DIGEST.of(TEXT)),
    ]
    assert all(facts["at"].startswith("test_doors.py:") for _, facts in told)


def fail(error: BaseException) -> None:
    raise error


def test_an_error_of_ours_says_its_code(told: Told) -> None:
    """A code may leave; that is what it is for."""
    error = KnowledgeBaseError("throttled", "Busy.")
    sys.excepthook(type(error), error, None)

    ((_, facts),) = told
    assert (facts["code"], facts["exception"]) == ("throttled", "agent_image.errors.KnowledgeBaseError")


def test_what_nobody_can_raise_is_told_too(told: Told) -> None:
    """A finaliser that fails has no caller."""

    class Dying:
        def __del__(self) -> None:
            raise ValueError(TEXT)

    dying: Dying | None = Dying()
    assert dying
    dying = None

    assert [(code, facts["exception"]) for code, facts in told] == [("unraisable", "ValueError")]


def test_a_warning_says_its_category(told: Told) -> None:
    """Libraries quote their arguments in warnings."""
    warnings.showwarning(UserWarning(TEXT), UserWarning, "/x/library.py", 7)

    ((code, facts),) = told
    assert (code, facts) == ("warning", {"exception": "UserWarning", "at": "library.py:7", **MEASURE})


def test_open_doors_are_as_they_were() -> None:
    """Everything is put back, in whatever order it was taken."""
    before = state()

    with Doors(DIGEST, NONCE, Told()):
        assert all(now is not then for now, then in zip(state(), before, strict=True))

    assert all(now is then for now, then in zip(state(), before, strict=True))


def state() -> list[object]:
    return [
        sys.stdout,
        sys.stderr,
        sys.__stdout__,
        sys.__stderr__,
        sys.excepthook,
        sys.unraisablehook,
        threading.excepthook,
        warnings.showwarning,
        logging.getLogRecordFactory(),
        logging.root.manager.disable,
    ]


@example("\ud800", ["\ud800", "\n"])
@given(st.text(st.characters(codec=None)), st.lists(st.text(st.characters(codec=None)), min_size=2, max_size=2))
def test_no_text_passes_for_a_log_record(text: str, around: list[str]) -> None:
    """Who does not know the secret cannot mark; who is logged says tokens only, whatever is formatted around."""
    marks = Marks(NONCE)
    message = marks.message(text, text, text, text, text, "7", text)

    found = marks.records(around[0].replace(NONCE, "") + message + around[1].replace(NONCE, ""))

    assert marks.records(text.replace(NONCE, "")) == []
    assert len(found) == 1
    assert found[0]["bytes"] == 7
    assert str(found[0].get("level", "")).isascii()
    assert " " not in "".join(str(value) for value in found[0].values())


SCRIPT = """
import logging, os, sys, threading, warnings
from agent_image.digest import Digest
from agent_image.notice import notice
from agent_image.telemetry.doors import Doors

logging.basicConfig(level=logging.INFO)
Doors(Digest(b"k"), "0123456789abcdef").close()
text = os.environ["TEXT"]
notice("started", count=1)
logging.getLogger("library").error(text)
print(text)
print(text, file=sys.__stderr__)
warnings.warn(text)
thread = threading.Thread(target=lambda: [][text])
thread.start()
thread.join()
sys.stdout.write(text)
{last}
"""


@pytest.mark.parametrize(("last", "status"), [("raise ValueError(text)", 1), ("sys.exit(text)", 1), ("", 0)])
def test_a_process_with_closed_doors_lets_out_notices_only(last: str, status: int) -> None:
    """The real streams of a real process, to its very end."""
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(last=last)],
        env={**os.environ, "TEXT": TEXT, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=False,
    )

    assert result.returncode == status
    assert result.stdout == b""
    notices = [json.loads(one) for one in result.stderr.splitlines()]
    assert {"started", "log", "printed", "warning", "uncaught"} <= {one["notice"] for one in notices}
    assert TEXT.encode() not in result.stderr
    assert "só".encode() not in result.stderr
    assert line("started", {"count": 1}) in result.stderr
