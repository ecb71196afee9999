"""Call CloudWatch patiently: what passes by itself is tried again, later each time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from botocore import exceptions as aws

THROTTLED: Final = frozenset(
    {
        "LimitExceededException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "ServiceUnavailableException",
        "InternalServerError",
        "InternalFailure",
    }
)
"""Codes of AWS that say: later."""
ATTEMPTS: Final = 9
"""How often a call is made at most: with the waits between, for about two minutes."""
BROKEN_OFF_ATTEMPTS: Final = 3
"""How often a call is made whose connection broke."""
_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 30.0


def code_of(error: aws.ClientError) -> str:
    """Give the code of AWS's refusal."""
    return str(error.response.get("Error", {}).get("Code", ""))


@dataclass(frozen=True, slots=True)
class Pace:
    """Hold what waits, in seconds, what tells the time, in seconds, and what spreads waits: a number from 0 to 1."""

    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random

    def patiently(self, call: Callable[[], Any]) -> Any:  # noqa: ANN401 - what boto3 gives has no type
        """Make a call until it is answered.

        Raises:
            ClientError: AWS refuses it, or throttles it too often.
            BotoCoreError: AWS is not reached.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                return call()
            except aws.ClientError as error:
                if code_of(error) not in THROTTLED or attempt == ATTEMPTS:
                    raise
            except (aws.HTTPClientError, aws.ConnectionError):
                if attempt == BROKEN_OFF_ATTEMPTS:
                    raise
            longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1))
            self.wait(longest / 2 + longest / 2 * self.jitter())
