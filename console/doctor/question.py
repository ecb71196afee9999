"""Ask AWS one question, and keep that it had no answer: no question keeps the others from being asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from console.doctor.account import Failed, Found

Answer = TypeVar("Answer")
Client = Any
"""A client of boto3."""

_PAGES: Final = 100


class UnfinishedError(Exception):
    """Say that a list has more pages than are asked for."""


def answered(action: str, question: Callable[[], Answer]) -> Answer | Failed:
    """Ask, and give the answer, or the right that it takes and why there is none."""
    try:
        return question()
    except ClientError as error:
        return Failed(action, str(error.response.get("Error", {}).get("Code") or "no code"))
    except UnfinishedError:
        return Failed(action, f"it has more than {_PAGES} pages")
    except (BotoCoreError, HTTPError, ResponseParserError) as error:
        return Failed(action, type(error).__name__)


def one(action: str, call: Callable[..., Mapping[str, Any]], **asked: object) -> Found | Failed:
    """Ask for one thing."""
    return answered(action, lambda: call(**asked))


def every(
    action: str, call: Callable[..., Mapping[str, Any]], key: str, *, following: str = "nextToken", **asked: object
) -> tuple[Found, ...] | Failed:
    """Ask for a list, page by page; `following` is the name of what leads to the next page."""
    return answered(action, lambda: tuple(pages(call, key, following=following, **asked)))


def pages(
    call: Callable[..., Mapping[str, Any]], key: str, *, following: str = "nextToken", **asked: object
) -> Iterator[Found]:
    """Give the things of a list, asking for each page when the one before is used up.

    Raises:
        UnfinishedError: there are more than 100 pages; part of a list is not taken for the whole.
    """
    at: dict[str, object] = {}
    for _ in range(_PAGES):
        page = call(**asked, **at)
        yield from page.get(key) or ()
        mark = page.get(following)
        # A mark that comes again leads nowhere.
        if not mark or mark == at.get(following):
            return
        at = {following: mark}
    raise UnfinishedError
