"""Read what a person wants traced: a session, or a passage, by one of the things that lead to it."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agent_image.contract import SESSION_ID_LENGTH
from agent_image.retrieval.fingerprint import CHARACTERS, Fingerprint, parse
from agent_image.retrieval.passage import parse_address
from agent_image.telemetry.invocation_span import ANSWER_FINGERPRINT_BYTES, answer_fingerprint
from console.errors import BadInputError
from console.terminal import shown_line
from console.trace.trail import Needle

STANDARD_INPUT: Final = "-"
"""What names standard input in the place of a file."""
ANSWER_LIMIT: Final = 10_000_000
"""Bytes that an answer has at most: more is no answer."""
_TRACE: Final = re.compile(r"[0-9a-f]{32}")
_XRAY: Final = re.compile(r"1-([0-9a-f]{8})-([0-9a-f]{24})")
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_FINGERPRINT: Final = re.compile(rf"[A-Za-z0-9_-]{{{CHARACTERS}}}")
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Hold what is asked for: one of these, or none for the last session.

    Attributes:
        session_id: a session.
        trace_id: the trace of one of its runs.
        answer: the fingerprint of what was answered.
        needle: what was read.
        usual: nothing was named, so it is the last session.
    """

    session_id: str = ""
    trace_id: str = ""
    answer: Fingerprint | None = None
    needle: Needle | None = None
    usual: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Hold how it is to be shown.

    Attributes:
        text: the words of the passages, with what stands around them.
        resolve: look every passage up now; else show the trail alone.
        html: the file for a page, in the place of the tree.
        strict: fail where a passage is not intact, or its words are lost.
    """

    text: bool = False
    resolve: bool = True
    html: Path | None = None
    as_json: bool = False
    strict: bool = False


@dataclass(slots=True)
class _Faults:
    found: list[str] = field(default_factory=list)

    def raise_them(self) -> None:
        if self.found:
            raise BadInputError("\n".join(self.found))


def asked_of(
    *,
    session: str | None,
    trace: str | None,
    last: bool,
    answer: str | None,
    chunk: str | None,
    in_aws: bool,
    shape: Shape,
) -> Asked:
    """Check what a command names, all of it at once; an answer is read out of its file.

    Raises:
        BadInputError: it names nothing that could be traced, or several things.
        ConsoleError: the file of an answer cannot be read.
    """
    faults = _Faults()
    named = [
        option
        for option, value in (
            ("--session", session),
            ("--trace", trace),
            ("--last", last or None),
            ("--answer", answer),
            ("--chunk", chunk),
        )
        if value is not None
    ]
    if len(named) > 1:
        faults.found.append(f"{', '.join(named)} name {len(named)} things; allowed: one of them")
    if not named and in_aws:
        faults.found.append(
            "nothing says what to trace; allowed: one of --session ID, --trace ID, --last, --answer FILE, --chunk ID"
        )
    faults.found.extend(_contradictions(shape, chunk))
    asked = Asked(
        session_id=_session(session, faults) if session is not None else "",
        trace_id=_trace(trace, faults) if trace is not None else "",
        needle=_needle(chunk, faults) if chunk is not None else None,
        usual=not named,
    )
    faults.raise_them()
    return asked if answer is None else Asked(answer=_answer(answer))


def _contradictions(shape: Shape, chunk: str | None) -> list[str]:
    found = []
    if not shape.resolve and shape.strict:
        found.append("--strict judges what --no-resolve does not look up; allowed: one of them")
    if chunk is not None:
        chosen = (("--text", shape.text), ("--html", shape.html is not None), ("--strict", shape.strict))
        found.extend(f"{option} shows passages of a session; --chunk lists sessions" for option, on in chosen if on)
    if shape.html is not None and shape.html.is_dir():
        found.append(f"--html is '{shown_line(str(shape.html))}', a folder; allowed: a file")
    return found


def _session(text: str, faults: _Faults) -> str:
    session_id = text.strip()
    most = SESSION_ID_LENGTH[1]
    # Other agents' sessions have ids of other lengths.
    if not (0 < len(session_id) <= most and session_id.isprintable()):
        faults.found.append(f"--session is '{_short(text)}'; allowed: 1 to {most} visible characters")
    return session_id


def _trace(text: str, faults: _Faults) -> str:
    trace_id = text.strip().lower()
    if (xray := _XRAY.fullmatch(trace_id)) is not None:
        trace_id = xray[1] + xray[2]
    if _TRACE.fullmatch(trace_id) is None:
        allowed = "32 hexadecimal digits, or an X-Ray id such as 1-5759e988-bd862e3fe1be46a994272793"
        faults.found.append(f"--trace is '{_short(text)}'; allowed: {allowed}")
    return trace_id


def _needle(text: str, faults: _Faults) -> Needle:
    named = text.strip()
    if _FINGERPRINT.fullmatch(named):
        return Needle(fingerprint=named)
    with suppress(ValueError):
        return Needle(fingerprint=(parse_address(named).fingerprint if "#" in named else parse(named)).text)
    if _URI.fullmatch(named) is None:
        allowed = f"a fingerprint of {CHARACTERS} characters, an address <uri>#<fingerprint>.<length>, or a whole URI"
        faults.found.append(f"--chunk is '{_short(text)}'; allowed: {allowed}")
    return Needle(uri=named)


def _answer(named: str) -> Fingerprint:
    text = _read(named)
    form = answer_fingerprint(text)
    if form is None:
        message = (
            f"the answer has fewer than {ANSWER_FINGERPRINT_BYTES} bytes, marks such as [1] aside: an answer so short "
            "leaves no fingerprint, for it could be guessed; --session or --trace leads to it"
        )
        raise BadInputError(message)
    return parse(form)


def _read(named: str) -> str:
    try:
        if named == STANDARD_INPUT:
            data = sys.stdin.buffer.read(ANSWER_LIMIT + 1)
        else:
            with Path(named).open("rb") as file:
                data = file.read(ANSWER_LIMIT + 1)
        # Some editors begin a file with a mark, which no answer has.
        text = data.decode("utf-8-sig")
    except OSError as error:
        message = f"--answer is '{_short(named)}', which cannot be read: {error.strerror or error}"
        raise BadInputError(message) from None
    except UnicodeDecodeError:
        message = f"--answer is '{_short(named)}', which is no text in UTF-8"
        raise BadInputError(message) from None
    if len(data) > ANSWER_LIMIT:
        message = f"--answer is '{_short(named)}', of more than {ANSWER_LIMIT:,} bytes; allowed: one answer"
        raise BadInputError(message)
    return text


def _short(text: str) -> str:
    line = shown_line(text)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
