"""Take the text out of documents, one after the other, as a child process under limits.

On standard input: a line of JSON `{"kind","size","charset"}` and the document's bytes, again and again. On standard
output, for each: `{"sizes":[…]}` and that many bytes of normalised UTF-8 for each way to read it, or `{"why": code}`.
What the document's reader raises is an answer; what takes too long or too much ends the process.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import BinaryIO

from agent_image.retrieval.fingerprint import normalised
from console.trace.sources.media import Kind
from console.trace.sources.refusal import NoTextError
from console.trace.sources.source import Why

Take = Callable[[bytes, str], Iterable[str]]


def main(cpu_seconds: int, memory_bytes: int, text_bytes: int) -> None:
    """Answer until standard input ends."""
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    # Whatever a library prints must not stand among the answers.
    sys.stdout = sys.stderr
    while head := asked.readline():
        document = json.loads(head)
        _more_time(cpu_seconds)
        data = asked.read(document["size"])
        _answer(answers, _texts(Kind(document["kind"]), data, document["charset"], text_bytes))
        del data


def _texts(kind: Kind, data: bytes, charset: str, text_bytes: int) -> list[bytes] | Why:
    try:
        texts, left = list[bytes](), text_bytes
        for text in _taker(kind)(data, charset):
            if (found := normalised(text)) and found not in texts:
                texts.append(found)
                left -= len(found)
            if left < 0:
                return Why.TOO_COSTLY
    except NoTextError as error:
        return error.why
    except (MemoryError, RecursionError):
        return Why.TOO_COSTLY
    except Exception:  # noqa: BLE001 - a document may make its reader raise anything
        return Why.MALFORMED
    return texts or Why.NO_TEXT


def _taker(kind: Kind) -> Take:
    """Import what reads such documents, and nothing else: a child starts in no time."""
    match kind:
        case Kind.HTML:
            from console.trace.sources.html_text import texts  # noqa: PLC0415
        case Kind.PDF:
            from console.trace.sources.pdf_text import texts  # noqa: PLC0415
        case Kind.WORD:
            from console.trace.sources.word_text import texts  # noqa: PLC0415
        case _:
            raise NoTextError(Why.UNSUPPORTED)
    return texts


def _answer(answers: BinaryIO, texts: list[bytes] | Why) -> None:
    head = {"why": texts} if isinstance(texts, Why) else {"sizes": [len(text) for text in texts]}
    answers.write(json.dumps(head).encode() + b"\n")
    answers.writelines(() if isinstance(texts, Why) else texts)
    answers.flush()


def _limit(kind: int, most: int) -> None:
    # Not every platform limits everything.
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (most, most))


def _more_time(seconds: int) -> None:
    """Give the next document its own time: a process counts all that it ever used."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(usage.ru_utime + usage.ru_stime) + seconds + 1, hard))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
