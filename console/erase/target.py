"""Read which passage is to be erased, and in which sessions it is to be looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_image.contract import SESSION_ID_LENGTH
from agent_image.retrieval.fingerprint import CHARACTERS, Fingerprint, parse
from agent_image.retrieval.passage import parse_address
from console.errors import BadInputError
from console.terminal import shown_line


@dataclass(frozen=True, slots=True)
class Target:
    """Name a passage by its fingerprint's text form; `length` is None where nobody said how long its words are."""

    fingerprint: str
    length: int | None = None


def target_of(named: str) -> Target:
    """Read a fingerprint, with or without its length, or a whole address.

    Raises:
        BadInputError: it is none.
    """
    text = named.strip()
    try:
        if len(text) == CHARACTERS:
            return Target(parse(f"{text}.0").text)
        found: Fingerprint = parse_address(text).fingerprint if "#" in text else parse(text)
    except ValueError:
        message = (
            f"'{shown_line(named)}' names no passage; allowed: a fingerprint of {CHARACTERS} characters, with or "
            "without its length, or an address such as s3://bucket/file.md#<fingerprint>.<length>"
        )
        raise BadInputError(message) from None
    return Target(found.text, found.length)


def sessions_of(named: Sequence[str]) -> tuple[str, ...]:
    """Read ids of sessions, each once.

    Raises:
        BadInputError: one is none.
    """
    most = SESSION_ID_LENGTH[1]
    found = tuple(dict.fromkeys(one.strip() for one in named))
    if wrong := [one for one in found if not (0 < len(one) <= most and one.isprintable())]:
        faults = (f"--session is '{shown_line(one)}'; allowed: 1 to {most} visible characters" for one in wrong)
        raise BadInputError("\n".join(faults))
    return found
